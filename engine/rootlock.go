package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// lockWait is how long operations on a root wait for its lock and for those of
// partitions, if Options does not say otherwise.
const lockWait = 30 * time.Second

// lockRoot takes ROOT/.klog/lock, which guards all that belongs to no single partition:
// topics' entries, intents, trash, root checkpoints. It comes before any partition's lock.
func (r *Root) lockRoot(ctx context.Context) (unlock func(), err error) {
	return r.lock(ctx, r.statePath(lockFileName), r.o.timeout(lockWait))
}

// lock takes the lock file at path, waiting at most timeout, or without limit where it is
// less than 0.
func (r *Root) lock(ctx context.Context, path string, timeout time.Duration) (unlock func(), err error) {
	if timeout >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errLockTimeout)
		defer cancel()
	}
	held, err := vfs.Lock(ctx, r.fs, path)
	if errors.Is(err, errLockTimeout) {
		return nil, &LockedError{Path: path, Waited: timeout}
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Unlock() }, nil
}

var errLockTimeout = errors.New("waited too long")

// ErrTopicGone is returned when the topic or partition that is being used was
// deleted, renamed or replaced by another of its name. What was acknowledged before
// is in the old one; nothing is written into the new one.
var ErrTopicGone = errors.New("the topic is no longer the one that was opened")

// LockedError is returned when a lock was not obtained in time. Nothing was changed.
type LockedError struct {
	Path   string // the lock file
	Waited time.Duration
	Holder Holder
}

// Error names the lock file and who holds it.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: locked by %s, gave up after %v", e.Path, e.Holder, e.Waited.Round(time.Millisecond))
}

// Holder is what is known of the process that holds or waits for a lock.
type Holder struct {
	PID     int    // 0: not known
	Command string // "": not known
}

// String is the holder as a message names it.
func (h Holder) String() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	return fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
}
