package engine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments"
)

// writeHint stores where the log ends now. A hint that cannot be written is not an
// error of the append: the old one disagrees with the log and the next writer scans.
func (w *Writer) writeHint() {
	if w.shared {
		w.known = true
		return
	}
	// Also of two hints of one append the later one counts: the one that says that the
	// segment is being rolled.
	w.tail.appends = max(w.tail.appends, w.stored) + 1
	w.stored = w.tail.appends
	w.tail.encode(&w.raw)
	w.known = w.block.store(&w.raw) == nil
}

// findEnd makes tail the end of the log.
func (w *Writer) findEnd(ctx context.Context) error {
	if w.shared {
		return w.findEndShared(ctx)
	}
	if w.block == nil {
		b, err := openBlock(w.p, w.machine.boot, w.p.recoveryCheckpoint)
		if err != nil {
			return err
		}
		w.block = b
	}
	if err := w.block.refresh(); err != nil {
		return err
	}
	_, failedEnd, settled := w.block.failed()
	doubtful := !settled && failedEnd > w.block.durable.Load()
	if w.known && !doubtful && w.block.holds(&w.raw) {
		// Our own last words: nobody has appended since. The size tells whether
		// something other than klog has.
		if size, err := w.active.size(); err == nil && size == w.tail.size {
			return nil
		}
	}
	t, readable := w.block.load()
	if doubtful {
		// Whoever met the failure was killed before the hint could say so.
		t.flags |= hintUnsynced
	}
	if readable && w.agrees(&t) {
		w.tail, w.known = t, true
		w.tail.encode(&w.raw)
		w.distrustRecoveryPoint()
		return nil
	}
	return w.rebuild(ctx, &t, readable)
}

// distrustRecoveryPoint drops a recovery point beyond the end of the log: it was
// carried here from another one.
func (w *Writer) distrustRecoveryPoint() {
	if w.block != nil && w.block.durable.Load() > w.tail.next {
		w.block.durable.Store(0)
		w.block.storeWords()
	}
}

// agrees reports whether the log ends where the hint says, and opens its active segment.
func (w *Writer) agrees(t *tail) bool {
	if t.flags != 0 || t.boot != w.machine.boot || !t.topic.fits(w.p.id) {
		return false
	}
	if err := w.active.open(w.p, t.base); err != nil {
		return false
	}
	if size, err := w.active.size(); err != nil || size != t.size {
		return false
	}
	if t.lastPos >= 0 && !w.active.hasHeader(t) {
		return false
	}
	if t.next == t.base {
		return true
	}
	_, err := w.p.fs.Stat(filepath.Join(w.p.dir, segments.SegmentName(t.next)+".log"))
	return errors.Is(err, fs.ErrNotExist)
}
