package vfs

import (
	"errors"
	"io/fs"
)

// faultFile is an open file of a Fault. Name and Fd are no operations.
type faultFile struct {
	File
	fault *Fault
}

func (f *faultFile) path(kind Kind) error { return f.fault.path(kind, f.Name()) }

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	err := f.fault.ask(Call{Kind: KindRead, Name: f.Name(), Offset: off, Size: len(b)})
	if err != nil {
		return 0, pathError("read", f.Name(), err)
	}
	return f.File.ReadAt(b, off)
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	err := f.fault.ask(Call{Kind: KindWrite, Name: f.Name(), Offset: off, Size: len(b)})
	if err == nil {
		return f.File.WriteAt(b, off)
	}
	short := (*ShortWrite)(nil)
	if !errors.As(err, &short) {
		return 0, pathError("write", f.Name(), err)
	}
	n, err := f.File.WriteAt(b[:min(short.Done, len(b))], off)
	if err == nil {
		err = pathError("write", f.Name(), short.Err)
	}
	return n, err
}

func (f *faultFile) Truncate(size int64) error {
	err := f.fault.ask(Call{Kind: KindTruncate, Name: f.Name(), Offset: size})
	if err != nil {
		return pathError("truncate", f.Name(), err)
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Sync() error {
	if err := f.path(KindSync); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Stat() (fs.FileInfo, error) {
	if err := f.path(KindStat); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultFile) Chmod(mode fs.FileMode) error {
	if err := f.path(KindChmod); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *faultFile) Chown(uid, gid int) error {
	if err := f.path(KindChown); err != nil {
		return err
	}
	return f.File.Chown(uid, gid)
}

func (f *faultFile) Close() error {
	err := f.path(KindClose)
	f.fault.mu.Lock()
	killed := f.fault.killed
	delete(f.fault.open, f.File)
	f.fault.mu.Unlock()
	if killed {
		return err // closed then
	}
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}

// faultLock is an open lock file of a Fault.
type faultLock struct {
	faultFile
	lock LockFile
}

func (l *faultLock) Lock() error {
	if err := l.fault.ask(Call{Kind: KindLock, Name: l.Name()}); err != nil {
		return lockError("lock", l.Name(), err)
	}
	return l.lock.Lock()
}

func (l *faultLock) TryLock() (bool, error) {
	if err := l.fault.ask(Call{Kind: KindLock, Name: l.Name()}); err != nil {
		return false, lockError("trylock", l.Name(), err)
	}
	return l.lock.TryLock()
}

func (l *faultLock) Unlock() error {
	if err := l.fault.ask(Call{Kind: KindUnlock, Name: l.Name()}); err != nil {
		return lockError("unlock", l.Name(), err)
	}
	return l.lock.Unlock()
}
