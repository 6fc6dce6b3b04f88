package engine

import (
	"context"

	"github.com/klog-project/klog/segments"
)

// On a shared file system a lock on one file neither refreshes nor flushes another:
// what this host caches of the log may be older than what another host appended. So
// nothing is kept between two appends. Under the partition's lock the directory is
// listed, the active segment opened anew, which makes the host ask the server, and
// locked itself, so that the server fences a holder whose lease was lost; its end is
// found from its own batches; what is written is synced before the file is closed and
// the locks are given up. The hint is not used: it would be this host's alone.

// findEndShared opens the active segment anew and makes tail its end.
func (w *Writer) findEndShared(ctx context.Context) error {
	w.active.close()
	bases, err := segments.ReadSegmentDir(w.p.fs, w.p.dir)
	if err != nil {
		return err
	}
	if len(bases) == 0 {
		return w.startLog(ctx, &tail{}, false)
	}
	t := w.emptyTail(bases[len(bases)-1])
	if err := w.lockSegment(ctx, t.base); err != nil {
		return err
	}
	if err := w.endOf(ctx, &t, &tail{}); err != nil {
		return err
	}
	w.tail = t
	return nil
}

// lockSegment opens a segment's log for this critical section and locks it.
func (w *Writer) lockSegment(ctx context.Context, base int64) error {
	f, err := w.p.fs.OpenLock(segmentPath(w.p.dir, base, ".log"))
	if err != nil {
		return err
	}
	abandoned, err := waitLock(ctx, f, f.Name(), w.patient)
	if err != nil {
		if !abandoned {
			_ = f.Close()
		}
		return err
	}
	w.active.log, w.active.base, w.active.transient = f, base, true
	return nil
}

// settleShared syncs what was written in this critical section: closing the file does
// not, and the next host looks as soon as the lock is free.
func (w *Writer) settleShared() error {
	if err := w.active.log.Sync(); err != nil {
		return &SyncError{Path: w.active.log.Name(), First: w.tail.next, End: w.active.next.next, Err: err}
	}
	return nil
}
