package cmd_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with a program on it: what a person sees and types.
type terminal struct {
	t      *testing.T
	master *os.File
	mu     sync.Mutex
	seen   bytes.Buffer
}

// onTerminal starts c as the foreground job of a new terminal of 80 columns. Streams that
// c has already are left.
func onTerminal(t *testing.T, c *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	t.Cleanup(func() { master.Close() })
	n := 0
	control(t, master, func(fd int) error {
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	})
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if c.Stdin == nil {
		c.Stdin = slave
	}
	if c.Stdout == nil {
		c.Stdout = slave
	}
	if c.Stderr == nil {
		c.Stderr = slave
	}
	c.ExtraFiles = []*os.File{slave}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master}
	go io.Copy(term, master)
	return term
}

// control gives f's descriptor to do, and leaves f in the mode it has: File.Fd would not.
func control(t *testing.T, f *os.File, do func(fd int) error) {
	t.Helper()
	c, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := errors.Join(c.Control(func(fd uintptr) { failed = do(int(fd)) }), failed); err != nil {
		t.Fatal(err)
	}
}

// Write takes what the program printed.
func (x *terminal) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.Write(p)
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.seen.String(), "\r\n", "\n")
}

// await waits until the terminal has shown s.
func (x *terminal) await(s string) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(x.text(), s); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("the terminal does not show %q but %q", s, x.text())
		}
	}
}

func (x *terminal) press(s string) {
	x.t.Helper()
	if _, err := x.master.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

// loop is a shell loop over a program of this binary, as somebody would type it.
func loop(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	script := `for i in 1 2 3; do (exec -a "$0" "$@"); echo "round $i: $?"; done; echo the loop is over`
	return exec.CommandContext(t.Context(), bash, append([]string{"-c", script, name, program(t, name).Path}, args...)...)
}

// wantLoopEnded wants the shell of a loop to have died of SIGINT in the first round.
func wantLoopEnded(t *testing.T, c *exec.Cmd, x *terminal) {
	t.Helper()
	if got := ended(t, c); got != 130 {
		t.Errorf("the shell ended with %d, want 130", got)
	}
	if s := x.text(); strings.Contains(s, "round") || strings.Contains(s, "over") {
		t.Errorf("the loop went on: %q", s)
	}
}

func TestLoopOverAWaitEndsOnCtrlC(t *testing.T) {
	c := loop(t, "test-wait")
	x := onTerminal(t, c)
	x.await("ready\n")
	x.press("\x03")
	wantLoopEnded(t, c, x)
}

func TestLoopOverTailEndsOnCtrlC(t *testing.T) {
	root := t.TempDir()
	produce(t, root, "t", "ready\n")
	c := loop(t, "klog", "-R", root, "tail", "-f", "t")
	x := onTerminal(t, c)
	x.await("ready\n")
	x.press("\x03")
	wantLoopEnded(t, c, x)
}

func TestLoopOverProduceEndsOnCtrlC(t *testing.T) {
	root := t.TempDir()
	c := loop(t, "klog", "-R", root, "produce", "t")
	x := onTerminal(t, c)
	x.press("typed\n")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		out, _ := program(t, "klog", "-R", root, "cat", "t").Output()
		if string(out) == "typed\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("what was typed is not in the log: %q", out)
		}
	}
	x.press("\x03")
	wantLoopEnded(t, c, x)
	x.await("1 record")
}

// produce appends lines to a topic.
func produce(t *testing.T, root, topic, lines string) {
	t.Helper()
	c := program(t, "klog", "-R", root, "produce", topic)
	c.Stdin = strings.NewReader(lines)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestHangUpOfTheTerminal(t *testing.T) {
	c := program(t, "test-wait")
	x := onTerminal(t, c)
	x.await("ready\n")
	x.master.Close()
	if got := ended(t, c); got != 129 {
		t.Errorf("status %d, want 129", got)
	}
}

func TestConfirmAsksOnATerminal(t *testing.T) {
	for answer, want := range map[string]int{"y\n": 0, "YES\n": 0, "n\n": 1, "\n": 1, "yesterday\n": 1, "\x04": 1} {
		c := program(t, "test-confirm")
		x := onTerminal(t, c)
		x.await("klog: burn the house? [y/N] ")
		x.press(answer)
		if got := ended(t, c); got != want {
			t.Errorf("%q: status %d, want %d: %s", answer, got, want, x.text())
		}
		if want == 0 {
			x.await("burnt\n")
		} else {
			x.await("nothing was done\n")
		}
	}
}

func TestConfirmEndsOnCtrlC(t *testing.T) {
	c := program(t, "test-confirm")
	x := onTerminal(t, c)
	x.await("[y/N] ")
	x.press("\x03")
	if got := ended(t, c); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
}

func TestConfirmDoesNotGuess(t *testing.T) {
	c := program(t, "test-confirm")
	c.Stdin = strings.NewReader("y\n")
	x := onTerminal(t, c)
	if got := ended(t, c); got != 2 {
		t.Errorf("status %d, want 2", got)
	}
	x.await("klog: would burn the house\nklog: nothing was done: nobody can be asked\nklog: hint: -y does it\n")

	c = program(t, "test-confirm", "-y")
	c.Stdin = strings.NewReader("")
	x = onTerminal(t, c)
	if got := ended(t, c); got != 0 {
		t.Errorf("-y: status %d, want 0", got)
	}
	x.await("burnt\n")
}

func TestProgressOnATerminal(t *testing.T) {
	c := program(t, "test-progress")
	x := onTerminal(t, c)
	x.await("512B of 1KiB (50%)")
	c.Process.Signal(syscall.SIGUSR1)
	x.await("klog: 512B of 1KiB (50%)")
	x.press("x\n")
	if got := ended(t, c); got != 0 {
		t.Errorf("status %d", got)
	}
	x.await("x\n\r\x1b[K") // the line is wiped
}

func TestNoProgressInAPipe(t *testing.T) {
	c := program(t, "test-progress")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	wantLine(t, stdout, "ready\n")
	c.Process.Signal(syscall.SIGUSR1)
	wantLine(t, stderr, "klog: 512B of 1KiB (50%)")
	stdin.Close()
	rest, _ := io.ReadAll(stderr)
	if got := ended(t, c); got != 0 || strings.Count(string(rest), "\n") != 1 {
		t.Errorf("status %d, stderr goes on %q", got, rest)
	}
}

func TestHelpIsBoldOnATerminal(t *testing.T) {
	for _, c := range []struct {
		args, env []string
		bold      bool
	}{
		{[]string{"help"}, []string{"TERM=xterm"}, true},
		{[]string{"help", "--no-color"}, []string{"TERM=xterm"}, false},
		{[]string{"help"}, []string{"TERM=xterm", "NO_COLOR=1"}, false},
		{[]string{"help"}, []string{"TERM=dumb"}, false},
	} {
		p := program(t, "klog", c.args...)
		p.Env = append(c.env, "HOME=/")
		x := onTerminal(t, p)
		if got := ended(t, p); got != 0 {
			t.Errorf("status %d", got)
		}
		x.await("Global flags")
		if got := strings.Contains(x.text(), "\x1b[1m"); got != c.bold {
			t.Errorf("%q %q: bold %v, want %v", c.args, c.env, got, c.bold)
		}
	}
}

func TestSignalWhileOutputIsStuck(t *testing.T) {
	c := program(t, "test-write", "-1")
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Nobody reads: wait until the pipe takes no more.
	last := -1
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		n := 0
		control(t, stdout.(*os.File), func(fd int) (err error) {
			n, err = unix.IoctlGetInt(fd, unix.TIOCINQ)
			return err
		})
		if n == last && n > 32<<10 {
			break
		}
		last = n
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes wait in the pipe", n)
		}
	}
	c.Process.Signal(syscall.SIGINT)
	if got := ended(t, c); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
}
