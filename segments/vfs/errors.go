package vfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// ErrNoDirSync is what SyncDir returns, wrapped together with the errno, where the
// file system cannot sync a directory at all. Everything before the sync was done;
// only the promise that names survive a power cut is missing. Lenient turns it into
// one warning.
var ErrNoDirSync = errors.New("file system cannot sync directories")

// ErrNoLocks is what locking returns, wrapped together with the errno, where the file
// system does not support flock(2), or only on descriptors it does not like.
var ErrNoLocks = errors.New("file system does not support locks")

// ErrLocked is returned by TryLock when somebody else holds the lock.
var ErrLocked = errors.New("locked by another process")

// CannotSync reports whether err says that the file system has no fsync for this
// kind of file (EINVAL, ENOTSUP, ENOSYS), as against a sync that was tried and failed.
func CannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) ||
		errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS)
}

// errnoError is an errno with a name of klog's own for what it means.
type errnoError struct {
	kind  error
	errno error
}

func (e *errnoError) Error() string   { return e.kind.Error() + ": " + e.errno.Error() }
func (e *errnoError) Unwrap() []error { return []error{e.kind, e.errno} }

// dirSyncError gives the error of a directory's fsync its path and its kind.
func dirSyncError(name string, err error) error {
	if err == nil {
		return nil
	}
	if CannotSync(err) {
		err = &errnoError{ErrNoDirSync, err}
	}
	return &fs.PathError{Op: "syncdir", Path: name, Err: err}
}

// lockError gives the error of a flock its path and its kind. EBADF is how NFS
// refuses a lock on a descriptor, whatever it was opened for.
func lockError(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EOPNOTSUPP),
		errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EBADF):
		err = &errnoError{ErrNoLocks, err}
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Lenient is fsys with SyncDir made tolerant: ErrNoDirSync becomes a call of warn and
// success. warn is called each time, from the goroutine that synced; to speak once is
// its affair.
func Lenient(fsys FS, warn func(error)) FS {
	return &lenient{FS: fsys, warn: warn}
}

// IsOS reports whether fsys is OS, also a Lenient one.
func IsOS(fsys FS) bool {
	if l, ok := fsys.(*lenient); ok {
		fsys = l.FS
	}
	return fsys == OS
}

type lenient struct {
	FS
	warn func(error)
}

// SyncDir syncs, and warns where that cannot be done.
func (l *lenient) SyncDir(name string) error {
	err := l.FS.SyncDir(name)
	if errors.Is(err, ErrNoDirSync) {
		l.warn(err)
		return nil
	}
	return err
}

func (l *lenient) under() FS { return l.FS }
