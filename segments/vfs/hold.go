package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/gofrs/flock"
)

// A Held is a lock on a path, held until Unlock. It is for locks that are taken
// rarely and held long; whoever locks many times a second keeps a LockFile open.
type Held struct {
	name    string
	lock    locker
	once    sync.Once
	release error
}

// locker is what Lock needs of a lock file.
type locker interface {
	Lock() error
	TryLock() (bool, error)
	Close() error
	Stat() (fs.FileInfo, error)
}

// Lock takes the exclusive lock on the file name and waits for it until ctx ends. The
// file is made where it is missing, as by OpenOrCreate, and never removed; once
// locked, it is checked to be still the one at that path. Ended by ctx, Lock returns
// its cause; the wait inside the kernel goes on in a goroutine of its own, which
// gives the lock up as soon as it gets it.
func Lock(ctx context.Context, fsys FS, name string) (*Held, error) {
	return hold(fsys, name, func(l locker) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("lock %s: %w", name, context.Cause(ctx))
		}
		if ok, err := l.TryLock(); ok || err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- l.Lock() }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			go func() {
				<-done
				l.Close()
			}()
			return &abandonedError{fmt.Errorf("lock %s: %w", name, context.Cause(ctx))}
		}
	})
}

// TryLock is Lock without waiting: ErrLocked, with the path, where it is held.
func TryLock(fsys FS, name string) (*Held, error) {
	return hold(fsys, name, func(l locker) error {
		ok, err := l.TryLock()
		if err == nil && !ok {
			err = &fs.PathError{Op: "lock", Path: name, Err: ErrLocked}
		}
		return err
	})
}

// Name is the path of the lock file.
func (h *Held) Name() string { return h.name }

// Unlock gives the lock up. Further calls do nothing and return the same.
func (h *Held) Unlock() error {
	h.once.Do(func() { h.release = h.lock.Close() })
	return h.release
}

// abandonedError marks a wait whose lock file somebody else closes.
type abandonedError struct{ error }

func (e *abandonedError) Unwrap() error { return e.error }

// hold opens name and takes it until the file it got is the one at that path.
func hold(fsys FS, name string, take func(locker) error) (*Held, error) {
	for {
		l, err := openHold(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := take(l); err != nil {
			if a := (*abandonedError)(nil); errors.As(err, &a) {
				return nil, a.error
			}
			l.Close()
			return nil, err
		}
		same, err := atPath(fsys, l, name)
		if err == nil && same {
			return &Held{name: name, lock: l}, nil
		}
		l.Close()
		if err != nil {
			return nil, err
		}
	}
}

// atPath reports whether the locked file is the one that name leads to.
func atPath(fsys FS, l locker, name string) (bool, error) {
	have, err := l.Stat()
	if err != nil {
		return false, err
	}
	there, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return SameFile(have, there), nil
}

// openHold opens the lock file, making it where it is missing.
func openHold(fsys FS, name string) (locker, error) {
	f, err := OpenOrCreate(fsys, name)
	if err != nil {
		return nil, err
	}
	f.Close()
	if IsOS(fsys) {
		return &flockFile{flock.New(name, flock.SetFlag(os.O_RDWR), flock.SetPermissions(0o660))}, nil
	}
	return fsys.OpenLock(name)
}

// flockFile is a lock of package flock: opened when it is taken, never upgraded,
// never polled.
type flockFile struct{ *flock.Flock }

// Lock waits; EINTR is retried.
func (l *flockFile) Lock() error {
	for {
		err := l.Flock.Lock()
		if !errors.Is(err, syscall.EINTR) {
			return l.wrap(err)
		}
	}
}

// TryLock does not wait; EINTR is retried.
func (l *flockFile) TryLock() (bool, error) {
	for {
		ok, err := l.Flock.TryLock()
		if !errors.Is(err, syscall.EINTR) {
			return ok, l.wrap(err)
		}
	}
}

// wrap names the path of an error of flock(2); those of open have it already.
func (l *flockFile) wrap(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return err
	}
	return lockError("lock", l.Path(), err)
}
