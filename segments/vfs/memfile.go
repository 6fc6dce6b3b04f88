package vfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// memFile is an open file or directory of a Mem.
type memFile struct {
	m      *Mem
	node   *node
	name   string
	flag   int
	closed bool
}

// do runs f under the mutex of the Mem, if the file can be used.
func (f *memFile) do(op string, g func() error) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.locked(op, g)
}

func (f *memFile) locked(op string, g func() error) error {
	if err := f.usable(); err != nil {
		return pathError(op, f.name, err)
	}
	return pathError(op, f.name, g())
}

func (f *memFile) usable() error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.m.down:
		return ErrPowerCut
	}
	return nil
}

func (f *memFile) Name() string { return f.name }
func (f *memFile) Fd() uintptr  { return noFd }

func (f *memFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.do("read", func() error {
		switch {
		case f.node.isDir():
			return syscall.EISDIR
		case !reads(f.flag):
			return syscall.EBADF
		case off < 0:
			return syscall.EINVAL
		}
		n = f.node.read(b, off)
		return nil
	})
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

func (f *memFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.do("write", func() error {
		switch {
		case !writes(f.flag):
			return syscall.EBADF
		case off < 0, f.flag&os.O_APPEND != 0:
			return syscall.EINVAL
		}
		if len(b) == 0 {
			return nil
		}
		n = len(b)
		f.node.write(b, off)
		f.node.mtime = f.m.now()
		if f.flag&os.O_SYNC != 0 {
			f.node.sync()
		}
		return nil
	})
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	return f.do("truncate", func() error {
		if !writes(f.flag) || size < 0 {
			return syscall.EINVAL
		}
		f.node.truncate(size)
		f.node.mtime = f.m.now()
		return nil
	})
}

func (f *memFile) Sync() error {
	return f.do("sync", func() error {
		if f.node.isDir() {
			f.m.syncDir(f.node)
		} else {
			f.node.sync()
		}
		return nil
	})
}

func (f *memFile) Stat() (fi fs.FileInfo, err error) {
	err = f.do("stat", func() error {
		fi = f.node.info(path.Base(f.name))
		return nil
	})
	return fi, err
}

func (f *memFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func() error { return f.m.chmod(f.node, mode) })
}

func (f *memFile) Chown(uid, gid int) error {
	return f.do("chown", func() error { return f.m.chown(f.node, uid, gid) })
}

func (f *memFile) Close() error {
	return f.do("close", func() error {
		f.closed = true
		return nil
	})
}

// memLock is an open lock file of a Mem.
type memLock struct{ memFile }

func (l *memLock) Lock() error {
	return l.do("lock", func() error {
		for l.node.holder != nil && l.node.holder != l {
			l.m.unlock.Wait()
			if err := l.usable(); err != nil {
				return err
			}
		}
		l.node.holder = l
		return nil
	})
}

func (l *memLock) TryLock() (got bool, err error) {
	err = l.do("trylock", func() error {
		if got = l.node.holder == nil || l.node.holder == l; got {
			l.node.holder = l
		}
		return nil
	})
	return got, err
}

func (l *memLock) Unlock() error {
	return l.do("unlock", func() error {
		l.release()
		return nil
	})
}

func (l *memLock) Close() error {
	return l.do("close", func() error {
		l.closed = true
		l.release()
		l.m.unlock.Broadcast() // one that waits on this very file sees it closed
		return nil
	})
}

func (l *memLock) release() {
	if l.node.holder == l {
		l.node.holder = nil
		l.m.unlock.Broadcast()
	}
}
