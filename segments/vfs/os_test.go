package vfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

func TestOSFileReadWriteTruncateSync(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	f, err := vfs.OpenOrCreate(vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("hello world"), 3); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(8); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 20)
	n, err := f.ReadAt(got, 0)
	if n != 8 || err != io.EOF || string(got[:n]) != "\x00\x00\x00hello" {
		t.Errorf("ReadAt: %d %v %q", n, err, got[:n])
	}
	if err := vfs.OS.SyncDir(filepath.Dir(name)); err != nil {
		t.Error(err)
	}
}

func TestOSDescriptorsAreCloseOnExec(t *testing.T) {
	dir := t.TempDir()
	f, err := vfs.OpenOrCreate(vfs.OS, filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := vfs.OS.OpenLock(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, fd := range []uintptr{f.Fd(), l.Fd()} {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0)
		if errno != 0 || flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d: flags %#x, %v", fd, flags, errno)
		}
	}
}

func TestWriteFileReplacesWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	for _, data := range [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("x"), 100_000)} {
		if err := vfs.WriteFile(vfs.OS, name, data); err != nil {
			t.Fatal(err)
		}
		got, err := vfs.ReadFile(vfs.OS, name)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d, %v", len(data), len(got), err)
		}
	}
	names, err := vfs.OS.ReadDir(filepath.Dir(name))
	if err != nil || len(names) != 1 {
		t.Errorf("left in the directory: %v, %v", names, err)
	}
}

func TestWriteFileUsesUpWhatAKilledWriterLeft(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name+".tmp", []byte("half of it"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(vfs.OS, name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := vfs.ReadFile(vfs.OS, name); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenLockDoesNotCreate(t *testing.T) {
	_, err := vfs.OS.OpenLock(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestSyncDirOfAFileFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.SyncDir(name); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
}

func TestHeldLockExcludesAndIsGivenUp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := vfs.Lock(t.Context(), vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.TryLock(vfs.OS, name); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := vfs.Lock(ctx, vfs.OS, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
	// The abandoned wait may get it first, and gives it up.
	second, err := vfs.Lock(t.Context(), vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Unlock(); err != nil {
		t.Error(err)
	}
}
