package vfs

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// FreshSize is the size of f as its server knows it now, whatever the kernel has cached
// of it: on a shared file system Stat may be seconds old, even of a file just opened.
// Cached pages that are out of date go with the old size. On a local file system it is
// what Stat says.
func FreshSize(f File) (int64, error) {
	fd := f.Fd()
	if fd == noFd {
		return statSize(f)
	}
	var st unix.Statx_t
	for {
		err := unix.Statx(int(fd), "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, unix.STATX_SIZE|unix.STATX_MTIME, &st)
		switch err {
		case nil:
			return int64(st.Size), nil
		case syscall.EINTR:
			continue
		case syscall.ENOSYS:
			return statSize(f)
		}
		return 0, &fs.PathError{Op: "statx", Path: f.Name(), Err: err}
	}
}
