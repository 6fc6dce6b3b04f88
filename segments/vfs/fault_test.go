package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/segments/vfs"
)

// everyOperation does each operation of an FS and its files once, as far as it gets.
func everyOperation(fsys vfs.FS) error {
	if err := fsys.Mkdir("/d", 0o755); err != nil {
		return err
	}
	f, err := fsys.OpenFile("/d/f", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = fileOperations(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := lockOperations(fsys); err != nil {
		return err
	}
	_, statErr := fsys.Stat("/d/f")
	_, lstatErr := fsys.Lstat("/d/f")
	_, listErr := fsys.ReadDir("/d")
	return errors.Join(statErr, lstatErr, listErr, fsys.Chmod("/d/f", 0o600), fsys.Chown("/d/f", 1, 1),
		fsys.Link("/d/f", "/d/g"), fsys.Rename("/d/g", "/d/h"), fsys.Remove("/d/f"), fsys.SyncDir("/d"))
}

func fileOperations(f vfs.File) error {
	_, werr := f.WriteAt([]byte("abc"), 0)
	_, rerr := f.ReadAt(make([]byte, 1), 0)
	_, serr := f.Stat()
	return errors.Join(werr, rerr, serr, f.Truncate(1), f.Chmod(0o600), f.Chown(0, 0), f.Sync())
}

func lockOperations(fsys vfs.FS) error {
	l, err := fsys.OpenLock("/d/f")
	if err != nil {
		return err
	}
	defer l.Close()
	err = l.Lock()
	_, terr := l.TryLock()
	return errors.Join(err, terr, l.Unlock())
}

func newMem() vfs.FS { return vfs.NewMem() }

func TestFaultAsksBeforeEveryOperation(t *testing.T) {
	var got []vfs.Kind
	f := vfs.NewFault(newMem(), func(c vfs.Call) error {
		got = append(got, c.Kind)
		if c.N != len(got) {
			t.Errorf("call %d says it is number %d", len(got), c.N)
		}
		return nil
	})
	must(t, everyOperation(f))
	want := []vfs.Kind{
		"mkdir", "create", "write", "read", "stat", "truncate", "chmod", "chown", "sync", "close",
		"open", "lock", "lock", "unlock", "close",
		"stat", "stat", "readdir", "chmod", "chown", "link", "rename", "remove", "syncdir",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.Calls() != len(want) || f.Fired() != nil {
		t.Errorf("%d calls, fired %+v", f.Calls(), f.Fired())
	}
}

func TestEachFailureFailsEveryOperationOnce(t *testing.T) {
	var failed []vfs.Kind
	for f := range vfs.EachFailure(newMem, nil, syscall.EIO) {
		err := everyOperation(f)
		if f.Fired() == nil {
			must(t, err)
			continue
		}
		failed = append(failed, f.Fired().Kind)
		// The close of the lock file goes by unseen, as in many a program.
		if !errors.Is(err, syscall.EIO) && f.Fired().N != 15 {
			t.Errorf("%+v: %v", f.Fired(), err)
		}
		if f.Fired().N != len(failed) {
			t.Errorf("turn %d failed operation %d", len(failed), f.Fired().N)
		}
	}
	if len(failed) != 24 {
		t.Errorf("failed %d operations: %v", len(failed), failed)
	}
}

func TestEachFailureOfOneKind(t *testing.T) {
	stats := func(c vfs.Call) bool { return c.Kind == vfs.KindStat }
	var failed []int
	for f := range vfs.EachFailure(newMem, stats, syscall.EIO) {
		if everyOperation(f) != nil {
			failed = append(failed, f.Fired().N)
		}
	}
	if !slices.Equal(failed, []int{5, 16, 17}) {
		t.Errorf("failed %v", failed)
	}
}

func TestFaultErrorsHaveTheShapeOfPackageOS(t *testing.T) {
	f := vfs.NewFault(newMem(), func(c vfs.Call) error { return syscall.EIO })
	var pe *fs.PathError
	if err := f.Mkdir("/d", 0o755); !errors.As(err, &pe) || pe.Path != "/d" || pe.Op != "mkdir" {
		t.Errorf("mkdir: %v", err)
	}
	var le *os.LinkError
	if err := f.Rename("/a", "/b"); !errors.As(err, &le) || le.Old != "/a" || le.New != "/b" {
		t.Errorf("rename: %v", err)
	}
}

func TestFaultShortWrite(t *testing.T) {
	m := vfs.NewMem()
	f := vfs.NewFault(m, func(c vfs.Call) error {
		if c.Kind == vfs.KindWrite {
			return &vfs.ShortWrite{Done: 2, Err: syscall.ENOSPC}
		}
		return nil
	})
	file, err := vfs.OpenOrCreate(f, "/f")
	must(t, err)
	n, err := file.WriteAt([]byte("abc"), 0)
	if n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%d, %v", n, err)
	}
	if got := get(m, "/f"); got != "ab" {
		t.Errorf("%q", got)
	}
}

func TestFaultyCloseClosesAllTheSame(t *testing.T) {
	m := vfs.NewMem()
	put(t, m, "/f", "")
	f := vfs.NewFault(m, func(c vfs.Call) error {
		if c.Kind == vfs.KindClose {
			return syscall.EIO
		}
		return nil
	})
	l, err := f.OpenLock("/f")
	must(t, err)
	must(t, l.Lock())
	if err := l.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close: %v", err)
	}
	other, err := m.OpenLock("/f")
	must(t, err)
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Errorf("the lock is still held: %v", err)
	}
}

func TestFaultNamesUnsupportedLocksAndSyncs(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EBADF} {
		m := vfs.NewMem()
		put(t, m, "/f", "")
		f := vfs.NewFault(m, func(c vfs.Call) error {
			if c.Kind == vfs.KindLock {
				return e
			}
			return nil
		})
		_, err := vfs.TryLock(f, "/f")
		if !errors.Is(err, vfs.ErrNoLocks) || !errors.Is(err, e) {
			t.Errorf("%v: %v", e, err)
		}
	}
}

func TestEachKillGivesUpLocksAndStopsCleaningUp(t *testing.T) {
	fresh := func() vfs.FS {
		m := vfs.NewMem()
		put(t, m, "/lock", "")
		return m
	}
	kills := 0
	for f := range vfs.EachKill(fresh, func(c vfs.Call) bool { return c.Kind.Changes() }) {
		l, err := f.OpenLock("/lock")
		must(t, err)
		must(t, l.Lock())
		err = vfs.WriteFile(f, "/f", []byte("x"))
		if f.Fired() == nil {
			must(t, err)
			continue
		}
		kills++
		if !errors.Is(err, vfs.ErrKilled) || !errors.Is(l.Unlock(), vfs.ErrKilled) {
			t.Errorf("killed at %+v: %v", f.Fired(), err)
		}
		if err := l.Close(); !errors.Is(err, vfs.ErrKilled) {
			t.Errorf("close after the kill: %v", err)
		}
		if _, err := f.OpenFile("/lock", os.O_RDONLY, 0); !errors.Is(err, vfs.ErrKilled) {
			t.Errorf("open after the kill: %v", err)
		}
		held, err := vfs.TryLock(f.Base(), "/lock")
		must(t, err)
		must(t, held.Unlock())
		// Killed between two operations: what was done stays.
		_, tempErr := f.Base().Stat("/f.tmp")
		if wantTemp := f.Fired().Kind != vfs.KindCreate; (tempErr == nil) != wantTemp {
			t.Errorf("killed at %+v: temporary file: %v", f.Fired(), tempErr)
		}
	}
	if kills < 3 {
		t.Errorf("%d kills", kills)
	}
}

// TestWriteFileLeavesTheOldOneOnEveryFailure fails each operation.
func TestWriteFileLeavesTheOldOneOnEveryFailure(t *testing.T) {
	fresh := func() vfs.FS {
		m := vfs.NewMem()
		durable(t, m, "/f", "old")
		return m
	}
	for f := range vfs.EachFailure(fresh, nil, syscall.EIO) {
		err := vfs.WriteFile(f, "/f", []byte("new"))
		failed := f.Fired()
		if failed == nil {
			must(t, err)
			continue
		}
		want := "old"
		if failed.Kind == vfs.KindSyncDir {
			want = "new"
		}
		if got := get(f.Base(), "/f"); got != want || !errors.Is(err, syscall.EIO) {
			t.Errorf("failed %+v: holds %q, error %v", failed, got, err)
		}
		if _, err := f.Base().Stat("/f.tmp"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("failed %+v: the temporary file is left", failed)
		}
	}
}

func TestIsOS(t *testing.T) {
	for want, fsys := range map[bool][]vfs.FS{
		true:  {vfs.OS, vfs.Lenient(vfs.OS, nil)},
		false: {newMem(), vfs.NewFault(vfs.OS, nil), vfs.Lenient(newMem(), nil)},
	} {
		for _, f := range fsys {
			if got := vfs.IsOS(f); got != want {
				t.Errorf("%T: %v", f, got)
			}
		}
	}
}

func TestLenientTurnsNoDirSyncIntoAWarning(t *testing.T) {
	for _, c := range []struct {
		err      error
		tolerate bool
	}{{syscall.EINVAL, true}, {syscall.ENOTSUP, true}, {syscall.EIO, false}} {
		fault := vfs.NewFault(newMem(), func(call vfs.Call) error {
			if call.Kind == vfs.KindSyncDir {
				return c.err
			}
			return nil
		})
		err := vfs.WriteFile(fault, "/strict", []byte("x"))
		if errors.Is(err, vfs.ErrNoDirSync) != c.tolerate || !errors.Is(err, c.err) {
			t.Errorf("%v: strict: %v", c.err, err)
		}
		var warned []error
		lenient := vfs.Lenient(fault, func(err error) { warned = append(warned, err) })
		err = vfs.WriteFile(lenient, "/lenient", []byte("x"))
		if (err == nil) != c.tolerate || (len(warned) == 1) != c.tolerate {
			t.Errorf("%v: lenient: %v, warned %v", c.err, err, warned)
		}
		if got := get(fault, "/lenient"); got != "x" {
			t.Errorf("%v: wrote %q", c.err, got)
		}
	}
}
