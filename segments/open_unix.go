//go:build unix

package segments

import "syscall"

// openNonblock keeps an open from waiting for the other end of a FIFO. Regular files
// do not care.
const openNonblock = syscall.O_NONBLOCK
