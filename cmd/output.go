package cmd

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	outputBuffer = 64 << 10
	outputFirst  = 4 << 10 // what is enough for most commands
	pipeSize     = 1 << 20 // what an enlarged pipe holds
)

// errBrokenPipe is returned when the reader of standard output has gone away. The
// command ends without a word, as if killed by SIGPIPE.
var errBrokenPipe = errors.New("standard output: broken pipe")

// outputError is a failed write to standard output. It is told apart from a failed
// write to the log, which may have the same cause.
type outputError struct{ err error }

func (o *outputError) Error() string { return "standard output: " + o.err.Error() }
func (o *outputError) Unwrap() error { return o.err }

// Output is a buffered writer over a descriptor that may be anything: a file, a
// terminal, a pipe in non-blocking mode that another process shares. The mode is left
// as it is found. An error sticks: all later calls return it. Not for several
// goroutines at once.
type Output struct {
	file    *os.File
	fd      int
	buf     []byte
	err     error
	wrote   bool         // something has been written to the descriptor
	sized   bool         // the pipe has been enlarged, or is none
	writing atomic.Int64 // 0 outside write(2), else a number that grows with progress
	steps   int64
}

// NewOutput is an Output on f.
func NewOutput(f *os.File) *Output {
	return &Output{file: f, fd: int(f.Fd())}
}

// Write buffers p, or writes it through when it is larger than the buffer.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if len(o.buf)+len(p) > outputBuffer {
		if err := o.Flush(); err != nil {
			return 0, err
		}
		if len(p) >= outputBuffer {
			if err := o.writeAll(p); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	o.grow(len(p))
	o.buf = append(o.buf, p...)
	return len(p), nil
}

// WriteString is Write for a string.
func (o *Output) WriteString(s string) (int, error) {
	if o.err == nil && len(o.buf)+len(s) <= outputBuffer {
		o.grow(len(s))
		o.buf = append(o.buf, s...)
		return len(s), nil
	}
	return o.Write([]byte(s))
}

// AvailableBuffer is an empty slice with room in the buffer, to append to and hand to
// Write at once: what fits is then not copied.
func (o *Output) AvailableBuffer() []byte {
	o.grow(outputFirst / 4)
	return o.buf[len(o.buf):][:0]
}

// Buffered is the number of bytes not yet written.
func (o *Output) Buffered() int { return len(o.buf) }

// Flush writes what is buffered.
func (o *Output) Flush() error {
	if o.err != nil || len(o.buf) == 0 {
		return o.err
	}
	p := o.buf
	o.buf = o.buf[:0]
	return o.writeAll(p)
}

// grow makes room for n more bytes as long as all fits into the buffer, which is made in
// full when a little one does not do.
func (o *Output) grow(n int) {
	switch {
	case n <= cap(o.buf)-len(o.buf) || cap(o.buf) >= outputBuffer:
	case o.buf == nil && n <= outputFirst:
		o.buf = make([]byte, 0, outputFirst)
	default:
		o.buf = append(make([]byte, 0, outputBuffer), o.buf...)
	}
}

// writeAll writes p to the descriptor, waiting where it takes nothing for now.
func (o *Output) writeAll(p []byte) error {
	if o.err != nil {
		return o.err
	}
	o.enlarge(len(p))
	o.wrote = true
	defer o.writing.Store(0)
	for len(p) > 0 {
		o.steps++
		o.writing.Store(o.steps)
		n, err := unix.Write(o.fd, p)
		if n > 0 {
			p = p[n:]
		}
		switch {
		case err == nil || err == unix.EINTR:
		case err == unix.EAGAIN:
			err = waitWritable(o.fd)
			if err != nil {
				return o.fail(err)
			}
		default:
			return o.fail(err)
		}
	}
	return nil
}

func (o *Output) fail(err error) error {
	if err == syscall.EPIPE {
		o.err = errBrokenPipe
	} else {
		o.err = &outputError{err}
	}
	return o.err
}

// enlarge makes a pipe larger before the first big write: the reader and klog then
// change places sixteen times less often. Where it is not allowed nothing is lost.
func (o *Output) enlarge(n int) {
	if !o.sized && n >= outputBuffer/2 {
		o.sized = true
		enlargePipe(o.fd)
	}
}

// waitWritable waits until the descriptor takes bytes again.
func waitWritable(fd int) error {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		_, err := unix.Poll(p, -1)
		if err != unix.EINTR {
			return err
		}
	}
}

// flush writes what the command printed, and asks for the errors that some file
// systems tell only at the end.
func (e *Env) flush() error {
	if e.out == nil {
		return nil
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	return e.out.close()
}

// close gives the descriptor back: a network file system or a quota may refuse the
// last bytes only then.
func (o *Output) close() error {
	if !o.wrote {
		return nil
	}
	o.err = &outputError{os.ErrClosed}
	dup, err := unix.Dup(o.fd)
	if err != nil {
		return nil
	}
	if err := unix.Close(dup); err != nil && err != unix.EINTR {
		return &outputError{err}
	}
	return nil
}
