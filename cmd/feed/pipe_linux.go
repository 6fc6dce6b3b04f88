package feed

import "golang.org/x/sys/unix"

// pipeSize is what an enlarged pipe holds: the most that a user may ask for unless the
// administrator says otherwise.
const pipeSize = 1 << 20

func enlargePipe(fd int) {
	if size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && size < pipeSize {
		unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) // over the user's limit: stays as it is
	}
}

func pipe(p []int) error { return unix.Pipe2(p, unix.O_CLOEXEC|unix.O_NONBLOCK) }
