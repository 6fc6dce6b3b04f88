package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// SyncError is returned when the log could not be made durable. The records are in
// the log and readers see them, but those of the offsets named may be gone after a
// power failure. Syncing again would not help: the kernel reports a failed write
// once and may have dropped the pages.
type SyncError struct {
	Path       string
	First, End int64 // offsets from First up to, not including, End are not known to be on disk
	Err        error
}

// Error names the file and the offsets.
func (e *SyncError) Error() string {
	why := ""
	for _, no := range []syscall.Errno{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS} {
		if errors.Is(e.Err, no) {
			why = " (this file system cannot sync)"
		}
	}
	return fmt.Sprintf("sync %s: offsets %d to %d are in the log but not known to be on disk: %v%s", e.Path, e.First, e.End-1, e.Err, why)
}

// Unwrap gives the system's error.
func (e *SyncError) Unwrap() error { return e.Err }

// durability makes a partition's log durable. How far it is, all processes know from
// the partition's block.
//
// Processes that sync at the same time share one fdatasync (group commit): whoever
// gets the block's lock without waiting syncs for all, up to the end of the log as
// the hint tells it; the others sleep on the block's counter. A failure is stored
// before anyone is woken, so nobody whose record precedes it is acknowledged. The
// sleep is bounded, in case the leader was killed. The recovery point is stored after
// the sync that it speaks of and never before: whatever of the block survives a power
// failure is true.
type durability struct {
	p       *Partition
	block   *block
	rolls   []int64 // segments sealed by this writer since its last sync
	pending bool    // this writer appended since its last sync
}

const (
	// followLeader bounds the sleep of a process that waits for another's sync.
	followLeader = 50 * time.Millisecond
	// maxOpenToSync is how many segments are synced one by one. When more are not
	// known to be on disk, the whole file system is synced once instead.
	maxOpenToSync = 64
)

// touched notes that this writer appended, rolled that it sealed a segment.
func (d *durability) touched()          { d.pending = true }
func (d *durability) rolled(base int64) { d.rolls = append(d.rolls, base) }

// Sync makes everything that this Writer appended durable, and with it everything
// that lies before it in the log. Processes that call it at the same time share the
// work. On a *SyncError the records stay in the log, not known to be on disk.
func (w *Writer) Sync(ctx context.Context) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.guard(debug.SetPanicOnFault(true), &err)
	if w.closed {
		return ErrClosed
	}
	return w.sync(ctx)
}

func (w *Writer) sync(ctx context.Context) error {
	d := w.dur
	if !d.pending || w.shared {
		return nil
	}
	crossed := len(d.rolls) > 0
	err := d.syncTo(ctx, w, w.tail.next)
	if err != nil {
		if _, failed := errors.AsType[*SyncError](err); failed {
			w.distrust(ctx)
		}
		return w.p.wrap("sync", err)
	}
	d.pending, d.rolls = false, d.rolls[:0]
	if crossed {
		if err := w.p.setRecoveryCheckpoint(ctx, d.block.durable.Load()); err != nil {
			w.p.o.notice(fmt.Sprintf("%s: recovery point: %v (it stays where it was)", w.p, err))
		}
	}
	return nil
}

// syncTo returns once every offset below to is on disk.
func (d *durability) syncTo(ctx context.Context, w *Writer, to int64) error {
	for {
		if err := d.failure(to); err != nil {
			return err
		}
		if d.block.durable.Load() >= to {
			return nil
		}
		seen := d.block.syncs.Load()
		lead, err := d.block.f.TryLock()
		if err != nil {
			return err
		}
		if lead {
			err := d.lead(w, to)
			_ = d.block.f.Unlock()
			if err != nil {
				return err
			}
			continue
		}
		d.block.wait(seen, followLeader)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// failure is the error of a sync that covered offset to-1, if there was one.
func (d *durability) failure(to int64) error {
	from, end := d.block.failedFrom.Load(), d.block.failedEnd.Load()
	if to > from && to <= end {
		return &SyncError{Path: d.p.dir, First: from, End: end, Err: errors.New("a sync by another process failed")}
	}
	return nil
}

// lead syncs for all who wait. It holds the block's lock.
func (d *durability) lead(w *Writer, to int64) error {
	from := d.block.durable.Load()
	if from >= to {
		return nil
	}
	base, end := w.tail.base, to
	if h, ok := w.peekHint(); ok && h.next > to {
		base, end = h.base, h.next
	}
	path, err := d.syncSegments(w, from, base)
	if err != nil {
		d.block.failedFrom.Store(from)
		d.block.failedEnd.Store(max(end, d.block.failedEnd.Load()))
		d.block.finish()
		return &SyncError{Path: path, First: from, End: end, Err: err}
	}
	d.block.durable.Store(max(end, d.block.durable.Load()))
	d.block.finish()
	return nil
}

// peekHint reads the hint without the append lock. One that is being stored may come
// torn: then the one before is taken, which is as true and not as far.
func (w *Writer) peekHint() (tail, bool) {
	b := block{mem: w.dur.block.mem}
	t, ok := b.load()
	return t, ok && t.flags&hintRolling == 0
}

// syncSegments syncs the segments that hold offsets from the recovery point on: the
// active one, whose base is given, and the sealed ones before it with their indexes.
// A segment that ends at the recovery point is among them: it was synced while it was
// the active one, its indexes were not.
func (d *durability) syncSegments(w *Writer, from, active int64) (path string, err error) {
	if from <= active {
		sealed, err := d.sealedFrom(from-1, active)
		if err != nil {
			return d.p.dir, err
		}
		if len(sealed) > maxOpenToSync && w.active.log != nil && vfs.SyncFS(w.active.log) == nil {
			return d.p.dir, nil
		}
		for _, base := range sealed {
			for _, suffix := range []string{".log", ".index", ".timeindex"} {
				path := segmentPath(d.p.dir, base, suffix)
				if err := syncPath(d.p.fs, path); err != nil && (suffix == ".log" || !errors.Is(err, os.ErrNotExist)) {
					return path, err
				}
			}
		}
	}
	if w.active.log != nil && w.active.base == active {
		return w.active.log.Name(), w.active.log.Sync()
	}
	path = segmentPath(d.p.dir, active, ".log")
	return path, syncPath(d.p.fs, path)
}

// sealedFrom lists the bases of the segments that hold offsets from from on, the
// active one left out.
func (d *durability) sealedFrom(from, active int64) ([]int64, error) {
	bases, err := segments.ReadSegmentDir(d.p.fs, d.p.dir)
	if err != nil {
		return nil, err
	}
	first, found := slices.BinarySearch(bases, from)
	if !found && first > 0 {
		first--
	}
	last, _ := slices.BinarySearch(bases, active)
	if first >= last {
		return nil, nil
	}
	return bases[first:last], nil
}

func syncPath(fsys vfs.FS, path string) error {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// distrust marks the hint after a failed sync: the next writer reads what lies beyond
// the recovery point from the disk before it appends behind it.
func (w *Writer) distrust(ctx context.Context) {
	leave, err := w.enter(ctx)
	if err != nil {
		return
	}
	defer leave()
	w.tail.flags |= hintUnsynced
	w.writeHint()
	w.known = false
}
