package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
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

// durability is how far a partition's log is known to be on disk, shared by all
// processes through one block, .klog/durable:
//
//	byte  size
//	   0     4  "KDUR"
//	   4     4  version
//	   8    16  boot id
//	  24     8  recovery point: every offset below it is on disk, in every segment
//	  32     8  first offset of a sync that failed
//	  40     8  end of it: what lies between is never acknowledged as durable
//	  48     4  counter of finished syncs, a futex
//
// Processes that sync at the same time share one fdatasync (group commit): whoever
// gets the block's lock without waiting syncs for all, up to the end of the log as
// the hint tells it; the others sleep on the counter. A failure is stored before
// anyone is woken, so nobody whose record precedes it is acknowledged. The sleep is
// bounded, in case the leader was killed.
//
// The block is written whole once, so that no later store into it needs a new disk
// block. The recovery point is stored after the sync that it speaks of and never
// before: whatever of the block survives a power failure is true.
type durability struct {
	p      *Partition
	lock   vfs.LockFile
	word   *syncWord
	rolls  []int64 // segments sealed by this writer since its last sync
	unsafe bool    // this writer appended since its last sync
}

const (
	durableSize    = 4096
	durableVersion = 1
	// followLeader bounds the sleep of a process that waits for another's sync.
	followLeader = 50 * time.Millisecond
	// maxOpenToSync is how many segments are synced one by one. When more are not
	// known to be on disk, the whole file system is synced once instead.
	maxOpenToSync = 64
)

func newDurability(p *Partition) *durability { return &durability{p: p} }

// touched notes that this writer appended, rolled that it sealed a segment.
func (d *durability) touched()          { d.unsafe = true }
func (d *durability) rolled(base int64) { d.rolls = append(d.rolls, base) }

func (d *durability) path() string { return filepath.Join(d.p.dir, stateDir, "durable") }

func (d *durability) close() {
	if d.word != nil {
		d.word.unmap()
		d.word = nil
	}
	if d.lock != nil {
		_ = d.lock.Close()
		d.lock = nil
	}
}

// open makes the block ready. It is called under the append lock, with the end of the
// log known: a recovery point beyond it was carried here from another log and is
// dropped. A block that is no block is written anew.
func (d *durability) open(boot bootID, end int64) error {
	if d.word != nil {
		return nil
	}
	f, err := d.p.fs.OpenLock(d.path())
	if errors.Is(err, os.ErrNotExist) {
		if err = d.create(boot); err == nil {
			f, err = d.p.fs.OpenLock(d.path())
		}
	}
	if err != nil {
		return err
	}
	word, err := mapSyncWord(f, boot)
	if errors.Is(err, errSyncWord) {
		if err = d.create(boot); err == nil {
			word, err = mapSyncWord(f, boot)
		}
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("%s: %w", d.path(), err)
	}
	if word.durable.Load() > end {
		word.durable.Store(0)
		word.store()
	}
	d.lock, d.word = f, word
	return nil
}

// create writes the block, seeded with the recovery point of the root's checkpoint.
func (d *durability) create(boot bootID) error {
	f, err := vfs.OpenOrCreate(d.p.fs, d.path())
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, durableSize)
	copy(b, "KDUR")
	binary.NativeEndian.PutUint32(b[4:], durableVersion)
	copy(b[8:], boot[:])
	binary.NativeEndian.PutUint64(b[24:], uint64(d.p.recoveryCheckpoint()))
	_, err = f.WriteAt(b, 0)
	return err
}

// recoveryPoint is how far the log is known to be on disk, whoever asks: it needs no
// mapping and no lock.
func (d *durability) recoveryPoint() int64 {
	at := d.p.recoveryCheckpoint()
	f, err := d.p.fs.OpenFile(d.path(), os.O_RDONLY, 0)
	if err != nil {
		return at
	}
	defer f.Close()
	var b [durableSize]byte
	n, _ := f.ReadAt(b[:], 0)
	if n < 32 || string(b[:4]) != "KDUR" || binary.NativeEndian.Uint32(b[4:]) != durableVersion {
		return at
	}
	return max(at, int64(binary.NativeEndian.Uint64(b[24:])))
}

// Sync makes everything that this Writer appended durable, and with it everything
// that lies before it in the log. Processes that call it at the same time share the
// work. On a *SyncError the records stay in the log, not known to be on disk.
func (w *Writer) Sync(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.sync(ctx)
}

func (w *Writer) sync(ctx context.Context) error {
	d := w.dur
	if !d.unsafe || d.word == nil {
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
	d.unsafe, d.rolls = false, d.rolls[:0]
	if crossed {
		if err := w.p.setRecoveryCheckpoint(ctx, d.word.durable.Load()); err != nil {
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
		if d.word.durable.Load() >= to {
			return nil
		}
		seen := d.word.seq.Load()
		lead, err := d.lock.TryLock()
		if err != nil {
			return err
		}
		if lead {
			err := d.lead(w, to)
			_ = d.lock.Unlock()
			if err != nil {
				return err
			}
			continue
		}
		d.word.wait(seen, followLeader)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// failure is the error of a sync that covered offset to-1, if there was one.
func (d *durability) failure(to int64) error {
	from, end := d.word.failedFrom.Load(), d.word.failedEnd.Load()
	if to > from && to <= end {
		return &SyncError{Path: d.p.dir, First: from, End: end, Err: errors.New("a sync by another process failed")}
	}
	return nil
}

// lead syncs for all who wait. It holds the block's lock.
func (d *durability) lead(w *Writer, to int64) error {
	from := d.word.durable.Load()
	if from >= to {
		return nil
	}
	base, end := w.tail.base, to
	if h, ok := w.peekHint(); ok && h.next >= to {
		base, end = h.base, h.next
	}
	path, err := d.syncSegments(w, from, base)
	if err != nil {
		d.word.failedFrom.Store(from)
		d.word.failedEnd.Store(max(end, d.word.failedEnd.Load()))
		d.word.finish()
		return &SyncError{Path: path, First: from, End: end, Err: err}
	}
	d.word.durable.Store(max(end, d.word.durable.Load()))
	d.word.finish()
	return nil
}

// peekHint reads the hint without the append lock. A hint that is being written may
// come torn: its checksum tells, and it is read again.
func (w *Writer) peekHint() (tail, bool) {
	var t tail
	var raw [hintSize]byte
	for range 10 {
		n, err := w.hint.ReadAt(raw[:], 0)
		if n == hintSize && (err == nil || isEOF(err)) && t.decode(raw[:]) == nil {
			return t, t.flags&hintRolling == 0
		}
	}
	return t, false
}

// syncSegments syncs the segments that hold offsets from the recovery point on: the
// active one, whose base is given, and the sealed ones before it with their indexes.
func (d *durability) syncSegments(w *Writer, from, active int64) (path string, err error) {
	if from < active {
		sealed, err := d.sealedFrom(from, active)
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

// syncWord is the shared block as this process sees it.
type syncWord struct {
	durable    *atomic.Int64
	failedFrom *atomic.Int64
	failedEnd  *atomic.Int64
	seq        *atomic.Uint32
	mem        []byte
	file       vfs.LockFile // nil where mem is the file itself
}
