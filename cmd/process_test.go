package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd"
)

// waitMain is a command reduced to waiting: it says "ready" and ends for a signal, or
// when its reader goes away. With the argument "deaf" it does not end for a signal.
func waitMain() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	done := ctx.Done()
	e.Out().WriteString("ready\n")
	e.Out().Flush()
	e.WatchReader()
	<-done
	e.Notice("asked to end")
	if len(os.Args) > 1 {
		select {}
	}
	e.Finish(ctx, ctx.Err())
	signals.Raise()
}

// writeMain is a command reduced to writing: so many numbered lines as its argument
// says, -1 for no end.
func writeMain() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	n, err := strconv.Atoi(os.Args[1])
	for i := 0; i != n && err == nil && ctx.Err() == nil; i++ {
		_, err = fmt.Fprintf(e.Out(), "%d\n", i)
	}
	code := e.Finish(ctx, err)
	signals.Raise()
	os.Exit(code)
}

// confirmMain is a command reduced to asking before it acts.
func confirmMain() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	err := e.Confirm(ctx, len(os.Args) > 1, "burn the house")
	if err == nil {
		_, err = e.Out().WriteString("burnt\n")
	}
	code := e.Finish(ctx, err)
	signals.Raise()
	os.Exit(code)
}

// progressMain is a command reduced to being half done until a byte or the end arrives
// on standard input.
func progressMain() {
	e := cmd.OSEnv()
	stop := e.StartProgress(1024, 512)
	e.Out().WriteString("ready\n")
	e.Out().Flush()
	e.Stdin.Read(make([]byte, 1))
	stop()
}

// program is this test binary, run under the name of one of its programs. It is killed
// when the test ends.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, args...)
	c.Args[0] = name
	return c
}

// shellStatus is the status of an ended process as a shell shows it.
func shellStatus(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// ended waits for a process and returns its status as a shell shows it.
func ended(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		c.Wait()
		close(done)
	}()
	select {
	case <-done:
		return shellStatus(c.ProcessState)
	case <-time.After(20 * time.Second):
		t.Fatal("the process does not end")
		return 0
	}
}

// waiting starts the waiting program and returns once it listens. Its output can be
// read on.
func waiting(t *testing.T, c *exec.Cmd) (stdout, stderr io.ReadCloser) {
	t.Helper()
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if stderr, err = c.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wantLine(t, stdout, "ready\n")
	return stdout, stderr
}

// wantLine reads as many bytes as want has.
func wantLine(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("got %q, %v, want %q", got, err, want)
	}
}

// inBash runs c behind some words of bash.
func inBash(t *testing.T, words string, c *exec.Cmd) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	c.Args = append([]string{"bash", "-c", words + `; exec -a "$0" "$@"`, c.Args[0], c.Path}, c.Args[1:]...)
	c.Path = bash
}

func TestSignalEndsInOrderAndKills(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGHUP: 129, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		c := program(t, "test-wait")
		_, stderr := waiting(t, c)
		c.Process.Signal(sig)
		wantLine(t, stderr, "klog: asked to end\n")
		if got := ended(t, c); got != want {
			t.Errorf("%v: status %d, want %d", sig, got, want)
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	c := program(t, "test-wait", "deaf")
	_, stderr := waiting(t, c)
	c.Process.Signal(syscall.SIGTERM)
	wantLine(t, stderr, "klog: asked to end\n")
	c.Process.Signal(syscall.SIGINT)
	if got := ended(t, c); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
}

func TestIgnoredSignalStaysIgnored(t *testing.T) {
	c := program(t, "test-wait")
	inBash(t, "trap '' HUP", c)
	waiting(t, c)
	c.Process.Signal(syscall.SIGHUP)
	c.Process.Signal(syscall.SIGTERM)
	if got := ended(t, c); got != 143 {
		t.Errorf("status %d, want 143: SIGHUP was to be ignored", got)
	}
}

func TestG094IdleFollowerDiesWithItsReader(t *testing.T) {
	for _, words := range []string{"", "trap '' PIPE"} {
		c := program(t, "test-wait")
		if words != "" {
			inBash(t, words, c)
		}
		stdout, stderr := waiting(t, c)
		stdout.Close()
		said, _ := io.ReadAll(stderr)
		if got := ended(t, c); got != 141 || len(said) > 0 {
			t.Errorf("%q: status %d, want 141, stderr %q", words, got, said)
		}
	}
}

func TestG094WriterDiesWithItsReader(t *testing.T) {
	for _, words := range []string{"", "trap '' PIPE"} {
		c := program(t, "test-write", "-1")
		if words != "" {
			inBash(t, words, c)
		}
		var stderr strings.Builder
		c.Stderr = &stderr
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wantLine(t, stdout, "0\n1\n")
		stdout.Close()
		if got := ended(t, c); got != 141 || stderr.Len() > 0 {
			t.Errorf("%q: status %d, want 141, stderr %q", words, got, &stderr)
		}
	}
}

func TestG091NonBlockingOutput(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	syscall.SetNonblock(fds[1], true)
	r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	defer r.Close()
	c := program(t, "test-write", "200000")
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(r)
	wantLine(t, lines, "0\n1\n")
	if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), syscall.F_GETFL, 0); flags&syscall.O_NONBLOCK == 0 {
		t.Error("the pipe was made blocking")
	}
	w.Close()
	for i := 2; i < 200000; i++ {
		line, err := lines.ReadString('\n')
		if err != nil || line != strconv.Itoa(i)+"\n" {
			t.Fatalf("line %q, %v, want %d", line, err, i)
		}
	}
	if got := ended(t, c); got != 0 {
		t.Errorf("status %d", got)
	}
}
