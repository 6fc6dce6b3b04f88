package cmd

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Input reads a stream that may be anything: a file, a terminal, a pipe in non-blocking
// mode that another process shares. The mode is left as it is found. A read ends early
// when the context does, so that a signal is obeyed while nothing arrives. Not for
// several goroutines at once.
type Input struct {
	file *os.File
	fd   int
	ctx  context.Context
	wake *wakePipe // nil for what never makes wait
}

// NewInput is an Input on f, bounded by ctx. Close gives back what it holds; f stays
// open.
func NewInput(ctx context.Context, f *os.File) (*Input, error) {
	in := &Input{file: f, fd: int(f.Fd()), ctx: ctx}
	info, err := f.Stat()
	if err != nil || info.Mode().IsRegular() {
		return in, nil // a read that fails will say why
	}
	enlargePipe(in.fd)
	in.wake, err = newWakePipe(ctx)
	return in, err
}

// Close releases the descriptors behind the waiting.
func (in *Input) Close() {
	if in.wake != nil {
		in.wake.close()
	}
}

// Read reads what is there, waiting for at least one byte. It returns io.EOF at the
// end, and the cause of the context's end when that comes first.
func (in *Input) Read(p []byte) (int, error) {
	for {
		if err := in.wait(); err != nil {
			return 0, err
		}
		n, err := unix.Read(in.fd, p)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return 0, &os.PathError{Op: "read", Path: in.file.Name(), Err: err}
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Ready reports whether a Read would return at once: bytes are waiting, or the end.
func (in *Input) Ready() bool {
	if in.wake == nil {
		return true
	}
	p := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// wait returns when there is something to read, or with the context's cause.
func (in *Input) wait() error {
	if in.wake == nil {
		return context.Cause(in.ctx)
	}
	p := []unix.PollFd{
		{Fd: int32(in.fd), Events: unix.POLLIN},
		{Fd: int32(in.wake.r), Events: unix.POLLIN},
	}
	for {
		_, err := unix.Poll(p, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return os.NewSyscallError("poll", err)
		case p[1].Revents != 0:
			return context.Cause(in.ctx)
		}
		return nil
	}
}

// wakePipe lets poll(2) see the end of a context: its read end then has an end of file.
type wakePipe struct {
	r, w int
	stop func() bool
}

func newWakePipe(ctx context.Context) (*wakePipe, error) {
	var fds [2]int
	if err := closeOnExecPipe(&fds); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	p := &wakePipe{r: fds[0], w: fds[1]}
	p.stop = context.AfterFunc(ctx, func() { unix.Close(p.w) })
	return p, nil
}

// close may be called once.
func (p *wakePipe) close() {
	if p.stop() {
		unix.Close(p.w)
	}
	unix.Close(p.r)
}
