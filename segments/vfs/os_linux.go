package vfs

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncData is fdatasync: data, and of the metadata what is needed to read it back,
// the size included.
func syncData(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var serr error
	err = conn.Control(func(fd uintptr) {
		for {
			serr = unix.Fdatasync(int(fd))
			if serr != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: fs.ErrClosed}
	}
	if serr != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: serr}
	}
	return nil
}

// Advise tells the kernel how length bytes from offset on will be used; length 0
// means to the end. It is a hint: errors, and files without a descriptor, are ignored.
func Advise(f File, offset, length int64, a Advice) {
	fd := f.Fd()
	if fd == noFd {
		return
	}
	advice := unix.FADV_NORMAL
	switch a {
	case Sequential:
		advice = unix.FADV_SEQUENTIAL
	case Random:
		advice = unix.FADV_RANDOM
	case WillNeed:
		advice = unix.FADV_WILLNEED
	case DontNeed:
		advice = unix.FADV_DONTNEED
	}
	unix.Fadvise(int(fd), offset, length, advice)
}
