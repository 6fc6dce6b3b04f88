package cmd

import "golang.org/x/sys/unix"

// enlargePipe lets the pipe fd hold more. Anything but a pipe is left alone.
func enlargePipe(fd int) {
	if size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && size < pipeSize {
		unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) // over the user's limit: stays as it is
	}
}

// closeOnExecPipe makes a pipe that no child inherits.
func closeOnExecPipe(fds *[2]int) error {
	return unix.Pipe2(fds[:], unix.O_CLOEXEC)
}
