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
	file  *os.File
	fd    int
	ctx   context.Context
	waits bool      // a read may have to wait: it is no regular file
	wake  *wakePipe // nil until a read had to wait
	reads int
}

// briefReads is how many reads pass before the context is asked whether it has ended: to
// ask costs what a command that is over at once need not pay (see Signals).
const briefReads = 2

// NewInput is an Input on f, bounded by ctx. Close gives back what it holds; f stays
// open.
func NewInput(ctx context.Context, f *os.File) *Input {
	in := &Input{file: f, fd: int(f.Fd()), ctx: ctx, waits: true}
	if info, err := f.Stat(); err == nil {
		in.waits = !info.Mode().IsRegular()
		if info.Mode()&os.ModeNamedPipe != 0 {
			enlargePipe(in.fd)
		}
	}
	return in
}

// Close releases the descriptors behind the waiting. It may be called again.
func (in *Input) Close() {
	if in.wake != nil {
		in.wake.close()
		in.wake = nil
	}
}

// Read reads what is there, waiting for at least one byte. It returns io.EOF at the
// end, and the cause of the context's end when that comes first.
func (in *Input) Read(p []byte) (int, error) {
	in.reads++
	if in.reads > briefReads && in.ctx.Err() != nil {
		return 0, context.Cause(in.ctx)
	}
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
	if !in.waits {
		return true
	}
	p := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// wait returns when there is something to read, or with the context's cause. The
// context is bothered only when there really is a wait.
func (in *Input) wait() error {
	if in.Ready() {
		return nil
	}
	if in.wake == nil {
		var err error
		if in.wake, err = newWakePipe(in.ctx); err != nil {
			return err
		}
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
