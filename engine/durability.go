package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
// sets the block's leader word from 0 syncs for all, up to the end of the log as the
// hint tells it; the others sleep on the block's counter. A failure is stored before
// anyone is woken, so nobody whose record precedes it is acknowledged. A leader that
// was killed or stopped holds nobody up: who has slept followLeader long takes the word
// over. Two leaders at once cost a sync and nothing else; the word decides about work,
// not about truth. A lock would make a stopped leader look like one that holds up
// appends.
//
// A leader syncs through the descriptor that it appended with, where it has one: the
// kernel reports a failed write to each descriptor that was open, also when another
// process was told already.
//
// The recovery point is stored after the sync that it speaks of and never before:
// whatever of the block survives a power failure is true.
type durability struct {
	rolled bool  // this writer sealed a segment since its last sync
	end    int64 // behind what this writer has appended and not synced, 0: nothing
}

const (
	// followLeader bounds the sleep of a process that waits for another's sync.
	followLeader = 50 * time.Millisecond
	// maxOpenToSync is how many segments are synced one by one. When more are not
	// known to be on disk, the whole file system is synced once instead.
	maxOpenToSync = 64
)

// Sync makes everything that this Writer has appended durable, and with it everything
// that lies before it in the log. Appends may go on meanwhile, in this Writer too.
// Processes that call it at the same time share the work. On a *SyncError the records
// stay in the log, not known to be on disk.
//
// The error is ErrTopicGone if the partition is no longer the one that was opened, also
// where there is nothing left to sync: what was appended went away with it.
func (w *Writer) Sync(ctx context.Context) error {
	err := w.sync(ctx)
	if err != nil && (errors.Is(err, ErrClosed) || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if gerr := w.StillThere(); gerr != nil {
		return gerr
	}
	return err
}

func (w *Writer) sync(ctx context.Context) (err error) {
	w.syncing.RLock()
	defer w.syncing.RUnlock()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	if w.dur.end == 0 || w.shared {
		w.mu.Unlock()
		return nil
	}
	job, err := w.syncJob(ctx)
	crossed := w.dur.rolled
	w.dur.rolled = false
	w.mu.Unlock()
	if err != nil {
		return err
	}
	defer func(was bool) {
		debug.SetPanicOnFault(was)
		if r := recover(); r != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			err = w.faulted("sync", job.block, r)
		}
	}(debug.SetPanicOnFault(true))
	err = job.run(ctx)
	w.synced(ctx, job.to, crossed, err)
	if err != nil {
		return w.p.wrap("sync", err)
	}
	if crossed {
		if err := w.p.setRecoveryCheckpoint(ctx, job.block.durable.Load(), w.gone); err != nil && !errors.Is(err, ErrTopicGone) {
			w.p.o.notice(fmt.Sprintf("%s: recovery point: %v (it stays where it was)", w.p, err))
		}
	}
	return nil
}

// syncJob is the wish to have on disk what this Writer has appended. mu is held.
func (w *Writer) syncJob(ctx context.Context) (*syncJob, error) {
	if w.block == nil { // its file was cut: it is opened anew
		if err := w.enter(ctx); err != nil {
			return nil, err
		}
		w.leave()
	}
	return &syncJob{p: w.p, block: w.block, to: w.dur.end, base: w.tail.base, log: w.active.log, logBase: w.active.base}, nil
}

// synced notes how a sync up to offset to has ended. Until then another Sync waits for
// the disk too. After a failed write the hint is marked: the next writer reads what lies
// beyond the recovery point from the disk before it appends behind it. Where that fails
// the block says it as well.
func (w *Writer) synced(ctx context.Context, to int64, crossed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		if w.dur.end <= to {
			w.dur.end = 0
		}
		return
	}
	w.dur.rolled = w.dur.rolled || crossed
	if _, failed := errors.AsType[*SyncError](err); !failed || w.closed || w.block == nil || w.take(ctx) != nil {
		return
	}
	defer w.leave()
	w.known = false
	if w.block.refresh() != nil {
		return
	}
	if t, ok := w.block.load(); ok {
		t.flags |= hintUnsynced
		w.tail = t
		w.writeHint()
		w.known = false
	}
}

// syncJob is one wish to have the log on disk up to an offset.
type syncJob struct {
	p     *Partition
	block *block
	to    int64
	base  int64 // base offset of the segment that was the active one
	// log is the descriptor that the segment logBase was appended through. It may be
	// closed meanwhile.
	log     vfs.File
	logBase int64
}

// run returns once every offset below to is on disk.
func (j *syncJob) run(ctx context.Context) error {
	b := j.block
	takeOver := false
	for {
		if err := j.failure(); err != nil {
			return err
		}
		if b.durable.Load() >= j.to {
			return nil
		}
		seen := b.syncs.Load()
		leader := b.leader.Load()
		if (leader == 0 || takeOver || !b.mapped) && b.leader.CompareAndSwap(leader, uint32(os.Getpid())) {
			if err := j.lead(); err != nil {
				return err
			}
			takeOver = false
			continue
		}
		b.wait(seen, followLeader)
		takeOver = b.syncs.Load() == seen
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// failure is the error of a sync that covered offset to-1, if there was one.
func (j *syncJob) failure() error {
	from, end, _ := j.block.failed()
	if j.to > from && j.to <= end {
		return &SyncError{Path: j.p.dir, First: from, End: end, Err: errEarlierSync}
	}
	return nil
}

var errEarlierSync = errors.New("an earlier sync, or one by another process, failed")

// lead syncs for all who wait.
func (j *syncJob) lead() error {
	b := j.block
	defer b.finish()
	from := b.durable.Load()
	if from >= j.to {
		return nil
	}
	if first, end, settled := b.failed(); !settled && end > from {
		// What lies below to may be gone: nobody has read it again from the disk yet.
		return &SyncError{Path: j.p.dir, First: first, End: max(end, j.to), Err: errEarlierSync}
	}
	base, end := j.base, j.to
	if h, ok := b.peek(); ok && h.next > end {
		base, end = h.base, h.next
	}
	path, err := j.syncSegments(from, base)
	if err != nil {
		b.failedFrom.Store(from)
		b.failedEnd.Store(max(end, b.failedEnd.Load()))
		return &SyncError{Path: path, First: from, End: end, Err: err}
	}
	b.raiseDurable(end)
	return nil
}

// syncSegments syncs the segments that hold offsets from the recovery point on: the
// active one, whose base is given, and the sealed ones before it with their indexes.
// A segment that ends at the recovery point is among them: it was synced while it was
// the active one, its indexes were not.
func (j *syncJob) syncSegments(from, active int64) (path string, err error) {
	if from <= active {
		sealed, err := j.sealedFrom(from-1, active)
		if err != nil {
			return j.p.dir, err
		}
		if len(sealed) > maxOpenToSync && j.log != nil && vfs.SyncFS(j.log) == nil {
			return j.p.dir, nil
		}
		for _, base := range sealed {
			for _, suffix := range []string{".log", ".index", ".timeindex"} {
				path := segmentPath(j.p.dir, base, suffix)
				if err := syncPath(j.p.fs, path); err != nil && (suffix == ".log" || !errors.Is(err, os.ErrNotExist)) {
					return path, err
				}
			}
		}
	}
	if j.log != nil && j.logBase == active {
		err := j.log.Sync()
		if !errors.Is(err, os.ErrClosed) {
			return j.log.Name(), err
		}
	}
	path = segmentPath(j.p.dir, active, ".log")
	return path, syncPath(j.p.fs, path)
}

// sealedFrom lists the bases of the segments that hold offsets from from on, the
// active one left out.
func (j *syncJob) sealedFrom(from, active int64) ([]int64, error) {
	bases, err := segments.ReadSegmentDir(j.p.fs, j.p.dir)
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
