package feed

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spins is how often a worker looks for its turn before it goes to sleep: some 20 µs,
// which is less than waking a sleeper costs.
const spins = 4000

// sleeper lets goroutines wait for a condition that others make true: by looking for a
// moment, then asleep.
type sleeper struct {
	waiting atomic.Int32
	mu      sync.Mutex
	cond    sync.Cond
}

// until returns once ready reports true. ready may be called under a lock and must not
// block.
func (s *sleeper) until(ready func() bool) {
	if runtime.GOMAXPROCS(0) > 1 {
		for range spins {
			if ready() {
				return
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cond.L == nil {
		s.cond.L = &s.mu
	}
	// Announced before the last look: whoever makes the condition true after it sees
	// a sleeper.
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	for !ready() {
		s.cond.Wait()
	}
}

// wake lets all sleepers look again. It is called after the condition has changed.
func (s *sleeper) wake() {
	if s.waiting.Load() == 0 {
		return
	}
	s.mu.Lock()
	if s.cond.L != nil {
		s.cond.Broadcast()
	}
	s.mu.Unlock()
}

// baton is held by the one worker that reads.
type baton struct {
	held atomic.Bool
	s    sleeper
}

func (b *baton) take() {
	if b.held.CompareAndSwap(false, true) {
		return
	}
	b.s.until(func() bool { return b.held.CompareAndSwap(false, true) })
}

func (b *baton) pass() {
	b.held.Store(false)
	b.s.wake()
}

// turns lets chunks through one by one, in the order in which they were read.
type turns struct {
	next atomic.Int64
	s    sleeper
}

func (t *turns) wait(n int64) {
	if t.next.Load() == n {
		return
	}
	t.s.until(func() bool { return t.next.Load() == n })
}

func (t *turns) done(n int64) {
	t.next.Store(n + 1)
	t.s.wake()
}
