package cmd_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// klog is a command line of klog in a root of the test's own.
func (r testRoot) klog(args ...string) *exec.Cmd {
	c := program(r.t, "klog", args...)
	c.Env = append(os.Environ(), "KLOG_ROOT="+r.dir, "KLOG_SYNC=never")
	return c
}

// testRoot is a root of real processes.
type testRoot struct {
	t   *testing.T
	dir string
}

func newRoot(t *testing.T) testRoot { return testRoot{t, filepath.Join(t.TempDir(), "root")} }

// run runs a command that succeeds and returns its output.
func (r testRoot) run(args ...string) string {
	r.t.Helper()
	c := r.klog(args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		r.t.Fatalf("klog %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// cat is what the topic holds; nothing while there is none.
func (r testRoot) cat(topic string) string {
	out, _ := r.klog("cat", topic).Output()
	return string(out)
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestProduceCountsWhatWasReadBeforeASignal(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		r := newRoot(t)
		c := r.klog("produce", "t")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, "one\ntwo\nthr")
		until(t, "the lines are in", func() bool { return r.cat("t") == "one\ntwo\n" })
		c.Process.Signal(sig)
		if got := ended(t, c); got != want {
			t.Errorf("%v: status %d, want %d", sig, got, want)
		}
		if !strings.HasSuffix(stderr.String(), ": 3 records are safe\n") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: said %q", sig, &stderr)
		}
		if got := r.cat("t"); got != "one\ntwo\nthr\n" {
			t.Errorf("%v: the topic holds %q", sig, got)
		}
	}
}

// A writer that is stopped while it holds the lock holds others up with a message, and
// for no longer than they want to wait. Signals that mean nothing do no harm.
func TestG024G030ProduceWaitsForTheLock(t *testing.T) {
	r := newRoot(t)
	r.run("topic", "create", "t")
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("no flock(1)")
	}
	holder := exec.CommandContext(t.Context(), flock, filepath.Join(r.dir, "t-0", ".klog", "lock"), "sh", "-c", "echo held; read x")
	release, _ := holder.StdinPipe()
	held, _ := holder.StdoutPipe()
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	wantLine(t, held, "held\n")

	c := r.klog("produce", "t", "--lock-timeout", "50ms")
	c.Stdin = strings.NewReader("x\n")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 5 || !bytes.Contains(out, []byte("0 records are safe")) || !bytes.Contains(out, []byte("flock")) {
		t.Errorf("--lock-timeout: %v, said %q", err, out)
	}

	c = r.klog("produce", "t")
	c.Stdin = strings.NewReader("y\n")
	stderr, _ := c.StderrPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 20)
	told := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(stderr, said)
		told <- err
	}()
	for done := false; !done; {
		c.Process.Signal(syscall.SIGWINCH)
		c.Process.Signal(syscall.SIGURG)
		select {
		case err := <-told:
			if err != nil || !bytes.HasPrefix(said, []byte("klog: produce: ")) {
				t.Errorf("said %q, %v", said, err)
			}
			done = true
		case <-time.After(time.Millisecond):
		}
	}
	release.Close()
	if got := ended(t, c); got != 0 {
		t.Errorf("status %d", got)
	}
	if got := r.cat("t"); got != "y\n" {
		t.Errorf("the topic holds %q", got)
	}
}

// Ctrl-Z never stops a producer while it holds the lock.
func TestProduceIsSuspendedOutsideOfTheLock(t *testing.T) {
	r := newRoot(t)
	r.run("topic", "create", "t")
	yes := exec.CommandContext(t.Context(), "yes", strings.Repeat("y", 100))
	c := r.klog("produce", "t")
	c.Stdin, _ = yes.StdoutPipe()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // whose parent is in another one
	if err := yes.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "records are in", func() bool { return len(r.cat("t")) > 0 })
	lock, err := os.OpenFile(filepath.Join(r.dir, "t-0", ".klog", "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for i := range 30 {
		c.Process.Signal(syscall.SIGTSTP)
		until(t, fmt.Sprint("it is stopped ", i), func() bool { return processState(t, c.Process.Pid) == 'T' })
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			t.Fatalf("stopped for the %d. time: the lock is held: %v", i+1, err)
		}
		syscall.Flock(int(lock.Fd()), syscall.LOCK_UN)
		c.Process.Signal(syscall.SIGCONT)
		until(t, "it goes on", func() bool { return processState(t, c.Process.Pid) != 'T' })
	}
	yes.Process.Kill()
	if got := ended(t, c); got != 0 {
		t.Errorf("status %d", got)
	}
	yes.Wait()
}

// processState is the state letter of a process in /proc.
func processState(t *testing.T, pid int) byte {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("no /proc")
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[0]
}

func TestProduceEndsWhenItsTopicIsDeleted(t *testing.T) {
	r := newRoot(t)
	c := r.klog("produce", "t")
	in, _ := c.StdinPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "one\n")
	until(t, "the line is in", func() bool { return r.cat("t") == "one\n" })
	r.run("topic", "delete", "t", "-y")
	r.run("topic", "create", "t")
	io.WriteString(in, "two\n")
	if got := ended(t, c); got != 3 {
		t.Errorf("status %d, want 3", got)
	}
	if got := r.cat("t"); got != "" {
		t.Errorf("the new topic holds %q", got)
	}
}

func TestSecondFollowIsBusy(t *testing.T) {
	r := newRoot(t)
	log := filepath.Join(t.TempDir(), "app.log")
	os.WriteFile(log, []byte("one\n"), 0o600)
	first := r.klog("produce", "t", "--follow", log)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the line is in", func() bool { return r.cat("t") == "one\n" })
	second := r.klog("produce", "t", "--follow", log)
	out, _ := second.CombinedOutput()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprintf("klog: produce: %s: is being followed into t already, by pid %d (", log, first.Process.Pid)
	if second.ProcessState.ExitCode() != 5 || !strings.HasPrefix(string(out), said) || !strings.HasSuffix(string(out), ") on "+host+"\n") {
		t.Errorf("status %d, said %q, want %q and %s", second.ProcessState.ExitCode(), out, said, host)
	}
	first.Process.Signal(syscall.SIGTERM)
	if got := ended(t, first); got != 143 {
		t.Errorf("status %d, want 143", got)
	}
}

// TestFollowIsKilled kills a follow again and again while its file grows and is rotated.
func TestFollowIsKilled(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	r := newRoot(t)
	r.run("topic", "create", "t", "--config", "segment.bytes=64KiB")
	dir := t.TempDir()
	log := filepath.Join(dir, "app.log")
	var want bytes.Buffer
	lines := 0
	write := func(name string, n int) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range n {
			line := fmt.Sprintf("%d %s\n", lines, strings.Repeat("z", rand.IntN(120)))
			f.WriteString(line)
			want.WriteString(line)
			lines++
		}
	}
	follow := func() *exec.Cmd {
		c := r.klog("produce", "t", "--follow", log, "--batch-size", "2KiB")
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	caught := func() bool { return len(r.cat("t")) >= want.Len() }
	write(log, 100)
	c := follow()
	for round := range rounds {
		write(log, rand.IntN(400))
		time.Sleep(time.Duration(rand.IntN(15)) * time.Millisecond) // any moment will do
		c.Process.Kill()
		c.Wait()
		if round%4 == 3 {
			old := fmt.Sprint(log, ".", round)
			if err := os.Rename(log, old); err != nil {
				t.Fatal(err)
			}
			write(old, rand.IntN(10))
			write(log, 1+rand.IntN(300))
		}
		c = follow()
		if round%4 == 1 {
			until(t, "everything is in", caught)
		}
	}
	until(t, "everything is in", caught)
	if got := r.cat("t"); got != want.String() {
		t.Errorf("%d bytes are in the topic, %d were written", len(got), want.Len())
	}
	c.Process.Signal(syscall.SIGINT)
	if got := ended(t, c); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
	r.run("verify", "--deep", "t")
}

// The memory of a producer goes by the longest line that is kept, not by what is read.
func TestG086ProduceMemoryIsBounded(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name   string
		flags  []string
		line   int // bytes of the long line
		most   int64
		stored int // values that must be there in the end
	}{
		{"a line that is left out", []string{"--oversize", "skip"}, 200 * mib, 64 * mib, 2},
		{"a line that compresses", []string{"-z", "zstd"}, 40 * mib, (64 + 3*40) * mib, 3},
	} {
		r := newRoot(t)
		k := r.klog(append([]string{"produce", "t"}, c.flags...)...)
		in, err := k.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(in, "first\n")
		zeros := make([]byte, mib)
		for n := 0; n < c.line; n += len(zeros) {
			in.Write(zeros)
		}
		io.WriteString(in, "\nnext\n")
		until(t, "the last line is in", func() bool { return strings.HasPrefix(r.run("tail", "t", "-n", "1"), "next") })
		if got := peakMemory(t, k.Process.Pid); got > c.most {
			t.Errorf("%s: %d MiB at most, want %d", c.name, got/mib, c.most/mib)
		}
		in.Close()
		ended(t, k)
		if got := strings.Count(r.run("cat", "t", "-F", "%o\n"), "\n"); got != c.stored {
			t.Errorf("%s: %d records are stored, want %d", c.name, got, c.stored)
		}
	}
}

// peakMemory is the most memory that a process has had.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc")
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// Open files do not grow with the number of partitions.
func TestProduceKeepsFewFilesOpen(t *testing.T) {
	r := newRoot(t)
	r.run("topic", "create", "t", "--partitions", "40")
	c := r.klog("produce", "t", "-K", ":")
	in, _ := c.StdinPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		fmt.Fprintf(in, "key%d:value\n", i)
	}
	until(t, "the lines are in", func() bool { return strings.Count(r.cat("t"), "\n") == 2000 })
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Process.Pid))
	if err != nil {
		t.Skip("no /proc")
	}
	if len(fds) > 32 {
		t.Errorf("%d files are open", len(fds))
	}
	in.Close()
	if got := ended(t, c); got != 0 {
		t.Errorf("status %d", got)
	}
}
