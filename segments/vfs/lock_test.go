package vfs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// lockFile opens a lock file, and closes it when the test ends.
func lockFile(t *testing.T, fsys vfs.FS, name string) vfs.LockFile {
	t.Helper()
	l, err := fsys.OpenLock(name)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// refused reports that the lock is held by somebody else.
func refused(t *testing.T, l vfs.LockFile) {
	t.Helper()
	if ok, err := l.TryLock(); ok || err != nil {
		t.Fatalf("TryLock beside the holder: %v, %v", ok, err)
	}
}

// granted waits for a lock that another goroutine or process has promised to give up.
func granted(t *testing.T, got <-chan error) {
	t.Helper()
	select {
	case err := <-got:
		must(t, err)
	case <-time.After(30 * time.Second):
		t.Fatal("the lock was not granted")
	}
}

func TestLockFileExcludes(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "lock")
		put(t, fsys, name, "holder")
		a, b := lockFile(t, fsys, name), lockFile(t, fsys, name)
		for range 3 {
			must(t, a.Lock())
			refused(t, b)
			must(t, a.Lock()) // again by who has it: nothing happens
			refused(t, b)
			must(t, a.Unlock())
			must(t, b.Lock())
			refused(t, a)
			must(t, a.Unlock()) // by who does not have it: nothing happens
			refused(t, a)
			must(t, b.Unlock())
		}
		must(t, a.Lock())
		got := make(chan error, 1)
		go func() { got <- b.Lock() }()
		must(t, a.Unlock())
		granted(t, got)
		go func() { got <- a.Lock() }()
		must(t, b.Close())
		granted(t, got)
		if _, err := b.TryLock(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if err := b.Unlock(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if err := b.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed twice: %v", err)
		}
		if got := get(fsys, name); got != "holder" {
			t.Errorf("locking changed the file: %q", got)
		}
	})
}

func TestLockFileClosedWhileItWaits(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "lock")
		put(t, fsys, name, "")
		a, b, c := lockFile(t, fsys, name), lockFile(t, fsys, name), lockFile(t, fsys, name)
		must(t, a.Lock())
		got := make(chan error, 1)
		go func() { got <- b.Lock() }()
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		must(t, <-closed)
		must(t, a.Unlock())
		select {
		case err := <-got:
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("waited and got %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("still waiting")
		}
		must(t, c.Lock()) // what b may have got in the end it has not kept
	})
}

func TestLockIsHeldAcrossProcessesAndFreedByAKill(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	put(t, vfs.OS, name, "")
	l := lockFile(t, vfs.OS, name)
	for _, killed := range []bool{false, true} {
		holder := start(t, "lock "+name)
		holder.says("locked")
		refused(t, l)
		if _, err := vfs.TryLock(vfs.OS, name); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("held lock: %v", err)
		}
		got := make(chan error, 1)
		go func() { got <- l.Lock() }()
		if killed {
			must(t, holder.cmd.Process.Signal(syscall.SIGKILL))
		} else {
			holder.goOn()
		}
		granted(t, got)
		must(t, l.Unlock())
	}
}

func TestSignalsDoNotEndAWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	put(t, vfs.OS, name, "")
	l := lockFile(t, vfs.OS, name)
	must(t, l.Lock())
	waiter := start(t, "lock "+name)
	for range 200 {
		for _, s := range []syscall.Signal{syscall.SIGWINCH, syscall.SIGURG, syscall.SIGSTOP, syscall.SIGCONT} {
			must(t, waiter.cmd.Process.Signal(s))
		}
	}
	must(t, l.Unlock())
	waiter.says("locked")
	waiter.goOn()
	waiter.says("unlocked")
}

func TestHeldLockNoticesThatItsFileWasReplaced(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "lock")
		put(t, fsys, name, "")
		stale := lockFile(t, fsys, name)
		must(t, stale.Lock())
		got := make(chan error, 1)
		var held *vfs.Held
		go func() {
			var err error
			held, err = vfs.Lock(t.Context(), fsys, name)
			got <- err
		}()
		must(t, fsys.Remove(name))
		put(t, fsys, name, "")
		must(t, stale.Unlock())
		granted(t, got)
		refused(t, lockFile(t, fsys, name))
		must(t, held.Unlock())
		must(t, held.Unlock())
		if held.Name() != name {
			t.Error(held.Name())
		}
	})
}

func TestLockEndsWithItsContext(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "lock")
		held, err := vfs.Lock(t.Context(), fsys, name)
		must(t, err)
		cause := errors.New("the user lost patience")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error, 1)
		go func() {
			_, err := vfs.Lock(ctx, fsys, name)
			got <- err
		}()
		cancel(cause)
		if err := <-got; !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		if _, err := vfs.Lock(ctx, fsys, filepath.Join(dir, "free")); !errors.Is(err, cause) {
			t.Errorf("a free lock with an ended context: %v", err)
		}
		must(t, held.Unlock())
		again, err := vfs.Lock(t.Context(), fsys, name)
		must(t, err)
		must(t, again.Unlock())
	})
}

func TestHeldLockMakesItsFile(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		must(t, fsys.Chmod(dir, 0o770))
		name := filepath.Join(dir, "lock")
		held, err := vfs.TryLock(fsys, name)
		must(t, err)
		must(t, held.Unlock())
		fi, err := fsys.Stat(name)
		must(t, err)
		if fi.Mode() != 0o660 {
			t.Errorf("mode %v", fi.Mode())
		}
		if _, err := vfs.TryLock(fsys, filepath.Join(dir, "none/lock")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("in no directory: %v", err)
		}
	})
}

func TestOpenLockIsForWriting(t *testing.T) {
	if os.Geteuid() != 0 {
		name := filepath.Join(t.TempDir(), "lock")
		put(t, vfs.OS, name, "")
		must(t, os.Chmod(name, 0o400))
		if _, err := vfs.OS.OpenLock(name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a lock that may not be written: %v", err)
		}
	}
	name := filepath.Join(t.TempDir(), "lock")
	put(t, vfs.OS, name, "")
	l := lockFile(t, vfs.OS, name)
	if _, err := l.WriteAt([]byte("pid 1"), 0); err != nil {
		t.Error(err)
	}
}
