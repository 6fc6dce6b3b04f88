package engine

import (
	"context"
	"path/filepath"
	"runtime/debug"
)

// SyncTo makes every offset of the partition below next durable, whoever appended it:
// what Writer.Sync does, beside a Writer that goes on appending. On a *SyncError the
// records stay in the log, not known to be on disk.
func (p *Partition) SyncTo(ctx context.Context, next int64) (err error) {
	w, err := p.OpenWriter(WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.guard(debug.SetPanicOnFault(true), &err)
	if w.shared {
		return nil // each append was synced
	}
	b, err := mapBlock(p.fs, filepath.Join(p.dir, stateDir, "hint"))
	if err != nil {
		return p.wrap("sync", err)
	}
	w.block, w.dur.block = b, b
	t, ok := b.load()
	if !ok {
		leave, err := w.enter(ctx)
		if err != nil {
			return err
		}
		leave()
		t = w.tail
	}
	if durable := b.durable.Load(); durable < t.base {
		w.dur.rolled(durable) // so that the root's checkpoint follows
	}
	w.tail, w.dur.pending = t, true
	w.tail.next = next
	return w.sync(ctx)
}
