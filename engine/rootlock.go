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
// less than 0. One that is free is taken however short the timeout is.
func (r *Root) lock(ctx context.Context, path string, timeout time.Duration) (unlock func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	held, err := vfs.TryLock(r.fs, path)
	if errors.Is(err, vfs.ErrLocked) {
		held, err = r.waitFor(ctx, path, timeout)
	}
	if err != nil {
		return nil, err
	}
	r.nameHolderOf(path)
	return func() { _ = held.Unlock() }, nil
}

// waitFor waits for a lock that somebody holds. The wait is told after a second and then
// once a minute.
func (r *Root) waitFor(ctx context.Context, path string, timeout time.Duration) (*vfs.Held, error) {
	if timeout >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errLockTimeout)
		defer cancel()
	}
	quiet := tellWait(func() { r.o.notice(fmt.Sprintf("waiting for %s, held by %s", path, holderOf(path))) })
	defer quiet()
	held, err := vfs.Lock(ctx, r.fs, path)
	if errors.Is(err, errLockTimeout) {
		return nil, &LockedError{Path: path, Waited: timeout, Holder: holderOf(path)}
	}
	return held, err
}

var errLockTimeout = errors.New("waited too long")
