package storm

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/cmd"
	"github.com/klog-project/klog/segments/vfs"
)

// TestMain makes this test binary be klog when it is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "klog" {
		e := cmd.OSEnv()
		ctx, signals := cmd.Signals(e)
		code := cmd.Main(ctx, e, os.Args)
		tellPeak()
		signals.Raise()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// peakEnv names the file into which a klog writes what the system says of it at its end.
const peakEnv = "STORM_PEAK"

// tellPeak writes that file. What wait4 tells of memory will not do: it counts the memory
// of the parent in, which a child shares until it is a program of its own.
func tellPeak() {
	name := os.Getenv(peakEnv)
	if name == "" {
		return
	}
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		os.WriteFile(name, b, 0o600)
	}
}

// long skips a test that takes minutes, unless these are asked for.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("KLOG_TEST_LONG") == "" {
		t.Skip("takes minutes: make test-long runs it")
	}
}

// need skips a test that needs a program which is not installed, and returns its path.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip("needs " + program)
	}
	return path
}

// sharedDir holds test data that is not part of the project; it may not exist.
func sharedDir() string {
	if d := os.Getenv("KLOG_TEST_SHARED"); d != "" {
		return d
	}
	d, err := filepath.Abs("../../../../shared")
	if err != nil {
		return ""
	}
	return d
}

// rig is a root, and the klog that works on it.
type rig struct {
	t    *testing.T
	exe  string // this test binary under the name of klog
	root string
}

// newRig makes a rig in a directory of its own.
func newRig(t *testing.T) *rig {
	t.Helper()
	return rigIn(t, filepath.Join(t.TempDir(), "root"))
}

// quickRig is a rig in memory where there is enough of that, for what asks little of a
// disk: syncing costs nothing there, so more happens in the same time.
func quickRig(t *testing.T) *rig {
	t.Helper()
	const shm, enough = "/dev/shm", 2 << 30
	if free, _, err := vfs.Space(shm); err != nil || free < enough {
		return newRig(t)
	}
	dir, err := os.MkdirTemp(shm, "klog-storm-*")
	if err != nil {
		return newRig(t)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return rigIn(t, filepath.Join(dir, "root"))
}

// rigIn makes a rig whose root is the directory root, which need not exist.
func rigIn(t *testing.T, root string) *rig {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, exe: filepath.Join(t.TempDir(), "klog"), root: root}
	if err := os.Symlink(exe, r.exe); err != nil {
		t.Fatal(err)
	}
	return r
}

// at is a file of the root.
func (r *rig) at(elem ...string) string {
	return filepath.Join(append([]string{r.root}, elem...)...)
}

// klog is a klog that is not yet started. It is killed when the test ends.
func (r *rig) klog(args ...string) *exec.Cmd {
	return r.under(nil, args...)
}

// under is a klog that another program starts, whose words stand before: strace, prlimit.
func (r *rig) under(before []string, args ...string) *exec.Cmd {
	words := append(append(append([]string{}, before...), r.exe), args...)
	c := exec.CommandContext(r.t.Context(), words[0], words[1:]...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "KLOG_") })
	c.Env = append(c.Env, "KLOG_ROOT="+r.root, "TZ=UTC")
	return c
}

// outcome is what became of a process.
type outcome struct {
	status int // as a shell shows it
	out    string
	err    string // standard error
}

// finish runs c to its end.
func (r *rig) finish(c *exec.Cmd) outcome {
	r.t.Helper()
	var out, errs bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Stderr == nil {
		c.Stderr = &errs
	}
	var ee *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &ee) {
		r.t.Fatalf("%s: %v", strings.Join(c.Args, " "), err)
	}
	o := outcome{shellStatus(c.ProcessState), out.String(), errs.String()}
	r.sane(c, o.err)
	return o
}

// sane wants no trace of a panic in what a process said.
func (r *rig) sane(c *exec.Cmd, said string) {
	r.t.Helper()
	for _, word := range []string{"panic:", "goroutine ", "SIGSEGV", "SIGBUS", "fatal error:", "DATA RACE"} {
		if strings.Contains(said, word) {
			r.t.Errorf("%s printed a trace:\n%s", strings.Join(c.Args, " "), said)
			return
		}
	}
}

// try runs klog with an input and tells what became of it.
func (r *rig) try(input string, args ...string) outcome {
	r.t.Helper()
	c := r.klog(args...)
	c.Stdin = strings.NewReader(input)
	return r.finish(c)
}

// run runs klog with an input and returns its output; it must succeed.
func (r *rig) run(input string, args ...string) string {
	r.t.Helper()
	o := r.try(input, args...)
	if o.status != 0 {
		r.t.Fatalf("klog %s: status %d\n%s%s", strings.Join(args, " "), o.status, o.err, o.out)
	}
	return o.out
}

// verified wants klog verify --deep to find nothing in topic.
func (r *rig) verified(topic string) {
	r.t.Helper()
	if o := r.try("", "verify", "--deep", topic); o.status != 0 || o.out != "" || o.err != "" {
		r.t.Errorf("verify --deep %s: status %d\n%.4000s%.4000s", topic, o.status, o.err, o.out)
	}
}

// shellStatus is the status of an ended process as a shell shows it.
func shellStatus(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
