package vfs

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// OS is the file system of the machine. Its methods and those of its files may be
// called concurrently. Calls interrupted by a signal are made again, except close:
// the descriptor is gone then and its number may belong to another file already.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &osFile{f}, nil
}

// openFile is os.OpenFile without the six system calls by which that tries to put the
// descriptor under the care of the poller, which takes neither files nor directories.
// Where no descriptor is left for the poller itself, the runtime ends the process.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(name, flag|syscall.O_CLOEXEC, uint32(perm.Perm()))
		if err == nil {
			if flag&syscall.O_NONBLOCK != 0 {
				// It was for the open alone. A descriptor that has it is given to the
				// poller, and a poller made for it.
				err = syscall.SetNonblock(fd, false)
			}
			return os.NewFile(uintptr(fd), name), err
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (osFS) Link(oldname, newname string) error        { return os.Link(oldname, newname) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)    { return os.Lstat(name) }
func (osFS) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }
func (osFS) Chown(name string, uid, gid int) error     { return os.Lchown(name, uid, gid) }

func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := openFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Rename spares the look at the target by which os.Rename makes all systems answer
// alike.
func (osFS) Rename(oldname, newname string) error {
	for {
		err := syscall.Rename(oldname, newname)
		if err == nil {
			return nil
		}
		if err != syscall.EINTR {
			return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
		}
	}
}

func (osFS) SyncDir(name string) error {
	d, err := openFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	err = d.Sync()
	d.Close() // opened for reading: nothing of it can be lost
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return dirSyncError(name, err)
}

func (osFS) OpenLock(name string) (LockFile, error) {
	f, err := openFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	conn, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	l := &osLock{osFile: osFile{f}, conn: conn}
	l.call = func(fd uintptr) { l.err = flockRetry(int(fd), l.how) }
	return l, nil
}

// osFile is an *os.File, which already retries EINTR, reads and writes on until all
// is done, and keeps a descriptor alive as long as a call uses it.
type osFile struct{ *os.File }

// Sync is fdatasync where there is one.
func (f *osFile) Sync() error { return syncData(f.File) }

// Close gives the descriptor up. EINTR is no failure: the descriptor is closed, and
// whether the data is safe is for Sync to say.
func (f *osFile) Close() error {
	err := f.File.Close()
	if errors.Is(err, syscall.EINTR) {
		return nil
	}
	return err
}

// osLock locks its descriptor with flock(2) and keeps it over many locks.
type osLock struct {
	osFile
	conn   syscall.RawConn
	closed atomic.Bool

	// The call in hand, of whoever locks or unlocks: made once, for a lock is taken
	// more often than anything else.
	call func(fd uintptr)
	how  int
	err  error
}

func (l *osLock) Lock() error {
	_, err := l.flock("lock", syscall.LOCK_EX)
	return err
}

func (l *osLock) TryLock() (bool, error) {
	return l.flock("trylock", syscall.LOCK_EX|syscall.LOCK_NB)
}

func (l *osLock) Unlock() error {
	_, err := l.flock("unlock", syscall.LOCK_UN)
	return err
}

// Close unlocks first: a child that was forked just now shares the open file, and the
// lock would live until its exec.
func (l *osLock) Close() error {
	if l.closed.Swap(true) {
		return &fs.PathError{Op: "close", Path: l.Name(), Err: fs.ErrClosed}
	}
	l.conn.Control(func(fd uintptr) { flockRetry(int(fd), syscall.LOCK_UN) })
	return l.osFile.Close()
}

// flock reports false where a lock that must not wait is held by somebody else.
func (l *osLock) flock(op string, how int) (bool, error) {
	l.how = how
	cerr := l.conn.Control(l.call)
	err := l.err
	switch {
	case cerr != nil:
		return false, &fs.PathError{Op: op, Path: l.Name(), Err: fs.ErrClosed}
	case how&syscall.LOCK_NB != 0 && errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, lockError(op, l.Name(), err)
	case how != syscall.LOCK_UN && l.closed.Load():
		// Closed while it waited: the descriptor, and the lock with it, is gone.
		return false, &fs.PathError{Op: op, Path: l.Name(), Err: fs.ErrClosed}
	}
	return true, nil
}

// flockRetry is flock(2), made again as often as a signal interrupts it.
func flockRetry(fd, how int) error {
	for {
		err := syscall.Flock(fd, how)
		if err != syscall.EINTR {
			return err
		}
	}
}
