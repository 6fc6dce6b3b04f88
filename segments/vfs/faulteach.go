package vfs

import (
	"errors"
	"iter"
	"sync"
)

// ErrKilled is what every operation returns after the one at which EachKill ended the
// process.
var ErrKilled = errors.New("process was killed")

// EachFailure is the loop "fail operation 1, 2, 3, … until nothing fails". Each turn
// gets a Fault over a new file system from fresh, in which the i-th operation that
// match accepts (nil: every one) fails with err; the last turn is one in which none
// was left to fail: there Fired is nil.
func EachFailure(fresh func() FS, match func(Call) bool, err error) iter.Seq[*Fault] {
	return each(fresh, match, func(f *Fault, c Call) error { return err })
}

// EachKill is EachFailure with the process killed at the i-th operation: neither it
// nor any later one, by which a program would clean up, is done, all of them return
// ErrKilled, and the locks that were held are given up, as the kernel does.
func EachKill(fresh func() FS, match func(Call) bool) iter.Seq[*Fault] {
	return each(fresh, match, func(f *Fault, c Call) error {
		f.kill()
		return ErrKilled
	})
}

func each(fresh func() FS, match func(Call) bool, fail func(*Fault, Call) error) iter.Seq[*Fault] {
	return func(yield func(*Fault) bool) {
		for i := 1; ; i++ {
			var f *Fault
			var mu sync.Mutex
			matched := 0
			f = NewFault(fresh(), func(c Call) error {
				if match != nil && !match(c) {
					return nil
				}
				mu.Lock()
				matched++
				now := matched == i
				mu.Unlock()
				if now {
					return fail(f, c)
				}
				return nil
			})
			if !yield(f) || f.Fired() == nil {
				return
			}
		}
	}
}
