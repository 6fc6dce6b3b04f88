//go:build unix

package engine

import (
	"io"

	"golang.org/x/sys/unix"
)

// fcntlHolder returns the pid that holds a lock of fcntl on the open file, 0 if none does
// or fd is none.
func fcntlHolder(fd uintptr) (int, error) {
	if fd == ^uintptr(0) {
		return 0, nil
	}
	// Whole file; it conflicts with read locks too.
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	for {
		err := unix.FcntlFlock(fd, unix.F_GETLK, &lock)
		if err == unix.EINTR {
			continue
		}
		if err != nil || lock.Type == unix.F_UNLCK {
			return 0, err
		}
		return int(lock.Pid), nil
	}
}
