package vfs_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klog-project/klog/segments/vfs"
)

// childEnv makes the test binary another program: the value says which.
const childEnv = "KLOG_VFS_CHILD"

func TestMain(m *testing.M) {
	switch what, path, _ := strings.Cut(os.Getenv(childEnv), " "); what {
	case "":
		os.Exit(m.Run())
	case "lock":
		os.Exit(childLock(path))
	case "calls":
		os.Exit(childCalls(path))
	}
}

// childLock takes the lock file path, says "locked", and holds it until a line, or
// the end, comes on standard input.
func childLock(path string) int {
	l, err := vfs.OS.OpenLock(path)
	if err == nil {
		err = l.Lock()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("locked")
	bufio.NewReader(os.Stdin).ReadString('\n')
	if err := l.Unlock(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("unlocked")
	return 0
}

// childCalls does what a producer does with files, in the directory dir.
func childCalls(dir string) int {
	if err := calls(dir); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func calls(dir string) error {
	f, err := vfs.OpenOrCreate(vfs.OS, dir+"/f")
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("once"), 0); err != nil {
		return err
	}
	if _, err := f.ReadAt(make([]byte, 4), 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := vfs.OS.SyncDir(dir); err != nil {
		return err
	}
	l, err := vfs.OS.OpenLock(dir + "/f")
	if err != nil {
		return err
	}
	if err := l.Lock(); err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	held, err := vfs.TryLock(vfs.OS, dir+"/f")
	if err != nil {
		return err
	}
	return held.Unlock()
}

// A child is another process.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs the test binary as another program, until the test ends at the latest.
func start(t *testing.T, what string) *child {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), exe)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+what)
	c.in, err = c.cmd.StdinPipe()
	must(t, err)
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	c.out = bufio.NewReader(out)
	must(t, c.cmd.Start())
	t.Cleanup(func() { c.cmd.Wait() })
	t.Cleanup(func() { c.in.Close() })
	return c
}

// says waits for a line.
func (c *child) says(want string) {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		c.t.Fatalf("child said %q, %v; want %q", line, err, want)
	}
}

func (c *child) goOn() { io.WriteString(c.in, "\n") }
