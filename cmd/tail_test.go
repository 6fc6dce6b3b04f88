package cmd_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// root is a root for one test, which the environment of its processes names.
func root(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	t.Setenv("KLOG_ROOT", dir)
	return dir
}

// run runs klog with an input and returns its output; it must succeed.
func run(t *testing.T, input string, args ...string) string {
	t.Helper()
	c := program(t, "klog", args...)
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("klog %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// follower is a klog that prints lines as they come.
type follower struct {
	t    *testing.T
	cmd  *exec.Cmd
	more chan struct{} // a line has come, or the end

	mu     sync.Mutex
	lines  []string
	stderr bytes.Buffer
}

// follow starts klog.
func follow(t *testing.T, args ...string) *follower {
	t.Helper()
	return startFollower(t, program(t, "klog", args...))
}

func startFollower(t *testing.T, c *exec.Cmd) *follower {
	t.Helper()
	f := &follower{t: t, cmd: c, more: make(chan struct{}, 1)}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = &syncWriter{f: f}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			f.mu.Lock()
			f.lines = append(f.lines, s.Text())
			f.mu.Unlock()
			f.tell()
		}
	}()
	return f
}

func (f *follower) tell() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// syncWriter is the follower's standard error.
type syncWriter struct{ f *follower }

func (w *syncWriter) Write(p []byte) (int, error) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	w.f.stderr.Write(p)
	w.f.tell()
	return len(p), nil
}

// wait waits until ok holds of the lines and the standard error so far.
func (f *follower) wait(what string, ok func(lines []string, stderr string) bool) []string {
	f.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		f.mu.Lock()
		done := ok(f.lines, f.stderr.String())
		lines, said := f.lines, f.stderr.String()
		f.mu.Unlock()
		if done {
			return lines
		}
		select {
		case <-f.more:
		case <-deadline:
			f.t.Fatalf("%s: got %d lines, the last %q; standard error %q", what, len(lines), lines[max(0, len(lines)-3):], said)
		}
	}
}

// want waits for so many lines.
func (f *follower) want(n int) []string {
	f.t.Helper()
	return f.wait(fmt.Sprintf("waiting for %d lines", n), func(lines []string, _ string) bool { return len(lines) >= n })
}

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func TestTailFollowsOverRolls(t *testing.T) {
	root(t)
	run(t, "", "topic", "create", "t", "--config", "segment.bytes=2048")
	run(t, numbers(0, 30), "produce", "t")
	f := follow(t, "tail", "-f", "t", "-n", "3")
	f.want(3)
	for i := 30; i < 1030; i += 100 {
		run(t, numbers(i, i+100), "produce", "t", "--sync", "never")
	}
	if got, want := strings.Join(f.want(1003), "\n")+"\n", numbers(27, 1030); got != want {
		t.Errorf("got\n%.500s\nwant\n%.500s", got, want)
	}
	f.cmd.Process.Signal(syscall.SIGTERM)
	if got := ended(t, f.cmd); got != 143 {
		t.Errorf("status %d after SIGTERM, want 143", got)
	}
}

func TestG084NothingIsMissedAfterTheStart(t *testing.T) {
	root(t)
	run(t, "ready\n", "produce", "t")
	for i := range 10 {
		f := follow(t, "tail", "t", "-f", "-n", "1")
		f.want(1)
		run(t, fmt.Sprintln(i), "produce", "t", "--sync", "never")
		if got := f.want(2); got[1] != fmt.Sprint(i) {
			t.Errorf("start %d: got %q", i, got)
		}
		f.cmd.Process.Kill()
		f.cmd.Wait()
	}
}

func TestG085TailEndsWithItsTopic(t *testing.T) {
	root(t)
	for name, args := range map[string][]string{
		"deleted":  {"topic", "delete", "-y", "t"},
		"removed":  {"topic", "delete", "-y", "--now", "t"},
		"renamed":  {"topic", "rename", "-y", "t", "away"},
		"replaced": {"topic", "delete", "-y", "t"},
	} {
		t.Run(name, func(t *testing.T) {
			root(t)
			run(t, "x\n", "produce", "t")
			f := follow(t, "tail", "t", "-f")
			f.want(1)
			run(t, "", args...)
			if name == "replaced" {
				run(t, "new\n", "produce", "t")
			}
			if got := ended(t, f.cmd); got != 3 || !strings.Contains(f.stderr.String(), "t") {
				t.Errorf("status %d, %q; want 3 and a message", got, f.stderr.String())
			}
			if len(f.lines) != 1 {
				t.Errorf("got %q", f.lines)
			}
		})
	}
}

func TestG060TailShowsPartitionsAddedLater(t *testing.T) {
	root(t)
	run(t, "x\n", "produce", "t")
	f := follow(t, "tail", "t", "-f", "-F", "%p %v\\n")
	only := follow(t, "tail", "t", "-f", "-F", "%p %v\\n", "-p", "0")
	f.want(1)
	run(t, "", "topic", "alter", "t", "--partitions", "3")
	run(t, "in one\n", "produce", "t", "-p", "1")
	run(t, "in two\n", "produce", "t", "-p", "2")
	f.wait("both partitions", func(lines []string, _ string) bool {
		all := strings.Join(lines, "\n")
		return strings.Contains(all, "1 in one") && strings.Contains(all, "2 in two")
	})
	run(t, "in zero\n", "produce", "t", "-p", "0")
	if got := only.want(2); got[1] != "0 in zero" {
		t.Errorf("chosen partition: got %q", got)
	}
}

func TestTailRetryWaitsForTheTopic(t *testing.T) {
	root(t)
	f := follow(t, "tail", "t", "-f", "--retry")
	f.wait("the notice", func(_ []string, stderr string) bool { return strings.Contains(stderr, "waiting") })
	run(t, "first\nsecond\n", "produce", "t")
	if got := f.want(2); got[0] != "first" || got[1] != "second" {
		t.Errorf("got %q", got)
	}
	g := follow(t, "tail", "u", "--retry")
	g.wait("the notice", func(_ []string, stderr string) bool { return strings.Contains(stderr, "waiting") })
	run(t, "", "topic", "create", "u")
	if got := ended(t, g.cmd); got != 0 {
		t.Errorf("status %d, want 0", got)
	}
}

func TestTailLimitEndsIt(t *testing.T) {
	root(t)
	run(t, "a\nb\n", "produce", "t")
	f := follow(t, "tail", "t", "-f", "-o", "1", "-n", "3")
	f.want(1)
	run(t, "c\nd\ne\n", "produce", "t")
	if got := ended(t, f.cmd); got != 0 {
		t.Errorf("status %d, want 0", got)
	}
	if got := strings.Join(f.want(3), " "); got != "b c d" {
		t.Errorf("got %q, want b c d", got)
	}
}

// A reader beside a busy writer of large lines sees each of them whole, in order.
func TestG004TailBesideABusyWriter(t *testing.T) {
	root(t)
	run(t, "", "topic", "create", "t", "--config", "segment.bytes=200000")
	f := follow(t, "tail", "t", "-f", "-o", "earliest")
	var input strings.Builder
	const n = 3000
	for i := range n {
		fmt.Fprintf(&input, "%d %s\n", i, strings.Repeat("x", i%7*1000+i%13))
	}
	run(t, input.String(), "produce", "t", "--linger", "0s", "--sync", "never")
	if got := strings.Join(f.want(n), "\n") + "\n"; got != input.String() {
		t.Error("what tail printed is not what was produced")
	}
}

func TestG081TailPollsWithoutInotify(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace")
	}
	root(t)
	run(t, "x\n", "produce", "t")
	c := program(t, "klog", "tail", "t", "-f")
	strace, _ := exec.LookPath("strace")
	exe := c.Path
	c.Path = strace
	link := filepath.Join(t.TempDir(), "klog")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	c.Args = []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=inotify_add_watch", "-e", "inject=inotify_add_watch:error=ENOSPC", link, "tail", "t", "-f"}
	f := startFollower(t, c)
	f.want(1)
	f.wait("a warning", func(_ []string, stderr string) bool {
		return strings.Count(stderr, "inotify") >= 1 && !strings.Contains(stderr, "no space left")
	})
	run(t, "y\n", "produce", "t")
	f.want(2)
}

func TestG006G125FewDescriptors(t *testing.T) {
	dir := root(t)
	run(t, "", "topic", "create", "t", "--config", "segment.bytes=1024")
	for i := 0; i < 6000; i += 60 {
		run(t, numbers(i, i+60), "produce", "t", "--sync", "never")
	}
	logs, err := filepath.Glob(filepath.Join(dir, "t-0", "*.log"))
	if err != nil || len(logs) < 50 {
		t.Fatalf("%d segments, %v", len(logs), err)
	}
	c := program(t, "klog", "cat", "t")
	inBash(t, "ulimit -n 12", c)
	out, err := c.Output()
	if err != nil || string(out) != numbers(0, 6000) {
		t.Errorf("%d bytes with 12 descriptors, %v", len(out), err)
	}
	after, _ := filepath.Glob(filepath.Join(dir, "t-0", "*.log"))
	if len(after) != len(logs) {
		t.Errorf("%d segments afterwards, %d before", len(after), len(logs))
	}
}

func TestFollowerDiesWithItsReader(t *testing.T) {
	root(t)
	run(t, "x\n", "produce", "t")
	c := program(t, "klog", "tail", "t", "-f")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wantLine(t, out, "x\n")
	out.Close()
	if got := ended(t, c); got != 141 {
		t.Errorf("status %d, want 141", got)
	}
}

// Records beyond what segments and batches may hold now are read like others.
func TestG064G065LargeRecordsAreRead(t *testing.T) {
	root(t)
	run(t, "", "topic", "create", "t", "--config", "segment.bytes=1024", "--config", "max.message.bytes=10MB")
	large := strings.Repeat("0123456789", 500_000)
	input := "small\n" + large + "\nsmall again\n"
	run(t, input, "produce", "t")
	run(t, "", "topic", "alter", "t", "--config", "max.message.bytes=1000", "--config", "segment.bytes=2048")
	for _, args := range [][]string{{"cat", "t"}, {"tail", "t"}, {"cat", "t", "-o", "0", "-n", "3"}, {"cat", "t", "-F", "%v\\n"}} {
		if got := run(t, "", args...); got != input {
			t.Errorf("%v: %d bytes, want %d", args, len(got), len(input))
		}
	}
	if got := run(t, "", "cat", "t", "-o", "2"); got != "small again\n" {
		t.Errorf("behind it: %q", got)
	}
}
