package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waiter waits for input, and stops waiting when the run is to end: when its context
// ends or interrupt is called.
//
// It looks at the context only from listen on, which is called before anything can
// wait. Most runs append one line and are over: for them nobody needs to listen for
// signals, which costs threads.
type waiter struct {
	parent context.Context
	begun  func() // told of the first listen

	mu     sync.Mutex
	ctx    context.Context // nil before listen
	cancel context.CancelCauseFunc
	cause  error // of an interrupt before listen

	wake [2]int // a pipe that the end of the context writes to
	made bool
	stop func() bool
}

// listen makes the waiter heed its context.
func (w *waiter) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx != nil {
		return
	}
	w.ctx, w.cancel = context.WithCancelCause(w.parent)
	if w.cause != nil {
		w.cancel(w.cause)
	}
	w.begun()
}

// interrupt ends a wait, and all later ones. Any goroutine may call it.
func (w *waiter) interrupt(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause = cause
	if w.cancel != nil {
		w.cancel(cause)
	}
}

// ended reports whether the run is to end.
func (w *waiter) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause != nil || w.ctx != nil && w.ctx.Err() != nil
}

// forever is the timeout of a wait without one.
const forever = time.Duration(-1)

// readable reports whether a read of d would not wait: input is there, or the end, or
// an error. It waits for that up to timeout, but not when the run is to end.
func (w *waiter) readable(d *descriptor, timeout time.Duration) (bool, error) {
	p := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
	if !w.made || timeout == 0 {
		if ready, err := poll(p, 0); ready || err != nil || timeout == 0 {
			return ready, err
		}
	}
	w.listen()
	if err := w.makePipe(); err != nil {
		return false, err
	}
	p = append(p, unix.PollFd{Fd: int32(w.wake[0]), Events: unix.POLLIN})
	deadline := time.Now().Add(timeout)
	for !w.ended() {
		left := -1
		if timeout != forever {
			left = int((time.Until(deadline) + time.Millisecond - 1) / time.Millisecond)
			if left <= 0 {
				return false, nil
			}
		}
		ready, err := poll(p, left)
		if err != nil || ready && p[0].Revents != 0 {
			return ready, err
		}
	}
	return false, nil
}

// makePipe lets the end of the context end a poll.
func (w *waiter) makePipe() error {
	if w.made {
		return nil
	}
	if err := pipe(w.wake[:]); err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	w.made = true
	w.stop = context.AfterFunc(w.ctx, func() { unix.Write(w.wake[1], []byte{0}) })
	return nil
}

// close gives back what the waiter holds.
func (w *waiter) close() {
	if w.made && w.stop() {
		// Otherwise the pipe may be being written to just now, and is left to the end
		// of the process, which is near.
		unix.Close(w.wake[0])
		unix.Close(w.wake[1])
	}
	w.made = false
	if w.cancel != nil {
		w.cancel(nil)
	}
}

// poll waits up to ms milliseconds, -1 without limit. An interrupted wait is over early.
func poll(p []unix.PollFd, ms int) (ready bool, err error) {
	n, err := unix.Poll(p, ms)
	if err == unix.EINTR {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("poll: %w", err)
	}
	return n > 0, nil
}

// lateContext is a context for appends: it ends a moment after its parent does, so that
// what was read before a signal gets into the log, unless somebody sits on the lock. It
// looks at its parent only from the first time that somebody waits for it.
type lateContext struct {
	context.Context // of its values
	parent          context.Context
	delay           time.Duration

	mu     sync.Mutex
	inner  context.Context
	cancel context.CancelCauseFunc
	stop   func() bool
}

func newLateContext(parent context.Context, delay time.Duration) *lateContext {
	return &lateContext{Context: context.WithoutCancel(parent), parent: parent, delay: delay}
}

// Done is closed when the delay after the parent's end is over.
func (c *lateContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(c.Context)
		cancel := c.cancel
		c.stop = context.AfterFunc(c.parent, func() {
			time.AfterFunc(c.delay, func() { cancel(context.Cause(c.parent)) })
		})
	}
	return c.inner.Done()
}

// Err is nil until then.
func (c *lateContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		return nil
	}
	return c.inner.Err()
}

// release gives back what the context holds.
func (c *lateContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner != nil {
		c.stop()
		c.cancel(nil)
	}
}
