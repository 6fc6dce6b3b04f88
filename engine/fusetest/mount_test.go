//go:build fuse && linux

package fusetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/engine/fusetest"
	"github.com/klog-project/klog/segments/vfs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openBelow counts the descriptors of this process, in which the mounts are served, of
// files below dir.
func openBelow(t *testing.T, dir string) int {
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	n := 0
	for _, e := range list {
		if path, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(path, dir) {
			n++
		}
	}
	return n
}

func TestFuseMountKeepsNoDescriptorOfWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	m := fusetest.New(t, dir, fusetest.Options{Attributes: time.Minute, Pages: true})
	name := filepath.Join(m.Dir, "f")
	for range 300 {
		must(t, os.WriteFile(name+".tmp", []byte("x"), 0o600))
		must(t, os.Rename(name+".tmp", name))
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	// The kernel tells a moment later that it has forgotten a file.
	deadline := time.Now().Add(30 * time.Second)
	for openBelow(t, dir) > 80 {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors are open", openBelow(t, dir))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestFuseMountFails(t *testing.T) {
	m := fusetest.New(t, t.TempDir(), fusetest.Options{})
	f, err := os.Create(filepath.Join(m.Dir, "f"))
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("content"), 0)
	must(t, err)
	for op, try := range map[fusetest.Op]func() error{
		fusetest.Write:   func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
		fusetest.Read:    func() error { _, err := os.ReadFile(f.Name()); return err },
		fusetest.Sync:    f.Sync,
		fusetest.SyncDir: func() error { return vfs.OS.SyncDir(m.Dir) },
	} {
		must(t, try())
		m.FailAlways(op, syscall.EIO)
		if err := try(); err == nil || !strings.Contains(err.Error(), syscall.EIO.Error()) {
			t.Errorf("%s: %v", op, err)
		}
		m.Fail(nil)
		must(t, try())
		if m.Calls(op) == 0 {
			t.Errorf("%s: no calls", op)
		}
	}
}

// TestFuseUnmountEndsWhatWaits matters to every test: a thread that waits in the kernel for
// this process, which serves the mount, would keep the process from ending.
func TestFuseUnmountEndsWhatWaits(t *testing.T) {
	got := make(chan error, 1)
	var holder vfs.LockFile
	t.Run("mounted", func(t *testing.T) {
		m := fusetest.New(t, t.TempDir(), fusetest.Options{Locks: true})
		name := filepath.Join(m.Dir, "lock")
		must(t, os.WriteFile(name, nil, 0o600))
		var err error
		holder, err = vfs.OS.OpenLock(name)
		must(t, err)
		must(t, holder.Lock())
		waiter, err := vfs.OS.OpenLock(name)
		must(t, err)
		go func() { got <- waiter.Lock() }()
	})
	select {
	case err := <-got:
		if err == nil {
			t.Error("the lock was granted")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("still waiting")
	}
	holder.Close() // not before: unreachable, it would be closed at any time
}
