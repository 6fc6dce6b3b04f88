package cmd_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// klogIn is klog with a root of its own.
func klogIn(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	c := program(t, "klog", append([]string{"-R", root}, args...)...)
	return c
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What killed writers and killed changes of topics leave does not pile up.
func TestG015LeftoversAreBounded(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	once := func(args ...string) {
		c := klogIn(t, root, args...)
		c.Stdin = strings.NewReader("x\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("klog %v: %v\n%s", args, err, out)
		}
	}
	once("produce", "t")
	once("topic", "create", "u")
	before := countFiles(t, root)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		args := []string{"produce", "t"}
		switch i % 3 {
		case 1:
			args = []string{"topic", "create", fmt.Sprint("new", i)}
		case 2:
			args = []string{"topic", "alter", "u", "--config", fmt.Sprintf("retention.ms=%dms", 1000+i)}
		}
		c := klogIn(t, root, args...)
		c.Stdin = strings.NewReader("x\n")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rnd.IntN(25))*time.Millisecond, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
	}
	names, err := klogIn(t, root, "topic", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(names)) {
		if strings.HasPrefix(name, "new") {
			once("topic", "delete", name, "--now", "-y")
		}
	}
	once("produce", "t")
	once("topic", "alter", "u", "--config", "retention.ms=1d")
	if after := countFiles(t, root); after > before+6 {
		out, _ := exec.Command("find", root, "-type", "f").Output()
		t.Errorf("%d files before, %d after:\n%s", before, after, out)
	}
}

// No descriptor of klog is inherited by what it might start: a lock would live on in it.
func TestG027EveryDescriptorIsCloseOnExec(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	root := filepath.Join(t.TempDir(), "root")
	for _, args := range [][]string{{"produce", "t"}, {"cat", "t"}, {"topic", "describe", "t"}, {"verify"}} {
		trace := filepath.Join(t.TempDir(), "trace")
		c := exec.Command("strace", append([]string{"-f", "-qq", "-o", trace, "-e", "trace=open,openat,creat", "klog", "-R", root}, args...)...)
		c.Stdin = strings.NewReader("x\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("klog %v: %v\n%s", args, err, out)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		opened := 0
		for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
			line := sc.Text()
			if !strings.Contains(line, root) || !strings.Contains(line, "openat(") {
				continue
			}
			opened++
			if !strings.Contains(line, "O_CLOEXEC") {
				t.Errorf("klog %v: %s", args, line)
			}
		}
		if opened == 0 {
			t.Errorf("klog %v opened nothing below %s:\n%s", args, root, b)
		}
	}
}

// When the kernel's queue of events overflows, a follower looks everywhere again.
func TestG080EventsLostByTheKernelCostNoRecord(t *testing.T) {
	const limit = "/proc/sys/fs/inotify/max_queued_events"
	was, err := os.ReadFile(limit)
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(limit, []byte("4"), 0); err != nil {
		t.Skipf("cannot make the queue small: %v", err)
	}
	t.Cleanup(func() { _ = os.WriteFile(limit, was, 0) })
	root := filepath.Join(t.TempDir(), "root")
	if out, err := klogIn(t, root, "topic", "create", "t", "--config", "segment.bytes=2000").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tail := klogIn(t, root, "tail", "t", "-f", "-o", "earliest")
	out, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	const records = 20_000
	var in bytes.Buffer
	for i := range records {
		fmt.Fprintln(&in, i)
	}
	if err := tail.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p := klogIn(t, root, "produce", "t", "--sync", "never")
	p.Stdin = &in
	if msg, err := p.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	if err := tail.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(30*time.Second, func() { _ = tail.Process.Kill() })
	defer timer.Stop()
	sc := bufio.NewScanner(out)
	for i := range records {
		if !sc.Scan() {
			t.Fatalf("the follower ended behind %d records", i)
		}
		if sc.Text() != fmt.Sprint(i) {
			t.Fatalf("record %d: got %q", i, sc.Text())
		}
	}
}
