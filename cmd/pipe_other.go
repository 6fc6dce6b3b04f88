//go:build !linux

package cmd

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// enlargePipe does nothing: only Linux can.
func enlargePipe(int) {}

// closeOnExecPipe makes a pipe that no child inherits.
func closeOnExecPipe(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return nil
}
