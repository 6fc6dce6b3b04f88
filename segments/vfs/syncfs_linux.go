package vfs

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// SyncFS makes everything durable that lies on the file system of f: one call in place
// of very many. Where there is no such call the error wraps the errno.
func SyncFS(f File) error {
	fd := f.Fd()
	if fd == noFd {
		return &fs.PathError{Op: "syncfs", Path: f.Name(), Err: syscall.ENOTSUP}
	}
	for {
		err := unix.Syncfs(int(fd))
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
			continue
		}
		return &fs.PathError{Op: "syncfs", Path: f.Name(), Err: err}
	}
}
