package cmd

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalError is the cause of a context that a signal has ended.
type signalError struct{ signal syscall.Signal }

func (s *signalError) Error() string { return s.signal.String() }

// SignalHandling ends a command in order when SIGHUP, SIGINT or SIGTERM arrives: its
// context is cancelled, and once it has returned the process dies of that signal, so
// that a shell sees why it ended. A second signal ends it at once.
type SignalHandling struct {
	caught atomic.Int32
}

// patience is how long a write to standard output that does not move holds up the end:
// a pager that nobody scrolls would hold it up for ever.
const patience = 300 * time.Millisecond

// Signals is the context of a command line, cancelled by the first signal with a cause
// that Main understands. A signal that the parent has set to be ignored (nohup, a
// background job) stays ignored.
//
// It listens from the first time that somebody asks the context for Done or Err, which
// is before anything can wait: until then a signal simply kills. Listening costs threads,
// and a command that is over in a millisecond need not pay for them.
func Signals(e *Env) (context.Context, *SignalHandling) {
	s := &SignalHandling{}
	inner, cancel := context.WithCancelCause(context.Background())
	return &lazyContext{Context: inner, first: sync.OnceFunc(func() { s.listen(e.Out(), cancel) })}, s
}

// lazyContext calls first before it is of use to anybody.
type lazyContext struct {
	context.Context
	first func()
}

// Done is context.Context's.
func (c *lazyContext) Done() <-chan struct{} {
	c.first()
	return c.Context.Done()
}

// Err is context.Context's.
func (c *lazyContext) Err() error {
	c.first()
	return c.Context.Err()
}

func (s *SignalHandling) listen(out *Output, cancel context.CancelCauseFunc) {
	var want []os.Signal
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			want = append(want, sig)
		}
	}
	if len(want) == 0 {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, want...)
	go func() {
		sig := (<-c).(syscall.Signal)
		s.caught.Store(int32(sig))
		signal.Stop(c)
		cancel(&signalError{sig})
		s.whenStuck(out)
	}()
}

// whenStuck ends the process when standard output takes nothing any more.
func (s *SignalHandling) whenStuck(out *Output) {
	const look = 20 * time.Millisecond
	last, since := int64(0), time.Duration(0)
	for range time.Tick(look) {
		now := out.writing.Load()
		if now == 0 || now != last {
			last, since = now, 0
			continue
		}
		if since += look; since >= patience {
			s.Raise()
		}
	}
}

// Raise ends the process by the signal that was caught; it returns when there was none.
func (s *SignalHandling) Raise() {
	sig := syscall.Signal(s.caught.Load())
	if sig == 0 {
		return
	}
	signal.Reset(sig)
	syscall.Kill(os.Getpid(), sig)
	select {} // the signal is on its way
}

// dieOfBrokenPipe ends the process as SIGPIPE does, also where the parent ignores that
// signal. It returns only when standard output is not the process's own (in a test).
func (e *Env) dieOfBrokenPipe() {
	if e.Stdout != os.Stdout {
		return
	}
	// The runtime lets no SIGPIPE through except for a failed write to descriptor 1 or
	// 2, so that is what it gets.
	os.Stdout.Write([]byte{'\n'})
}

// WatchReader ends the process when the reader of standard output goes away while there
// is nothing to write. Followers call it once, before they wait.
func (e *Env) WatchReader() { e.watchReader(e.dieOfBrokenPipe) }

// watchReader calls gone when the reader of standard output has gone away.
func (e *Env) watchReader(gone func()) {
	fd := int32(e.Stdout.Fd())
	go func() {
		for {
			p := []unix.PollFd{{Fd: fd}}
			if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
				return
			}
			switch r := p[0].Revents; {
			case r&unix.POLLNVAL != 0:
				return
			case r&(unix.POLLERR|unix.POLLHUP) != 0:
				gone()
				return
			}
		}
	}()
}
