//go:build !linux

package feed

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// enlargePipe does nothing: only Linux lets a pipe's size be chosen.
func enlargePipe(int) {}

func pipe(p []int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p); err != nil {
		return err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		unix.SetNonblock(fd, true)
	}
	return nil
}
