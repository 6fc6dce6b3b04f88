package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

func (w *Writer) rollDue(cfg *Config, b *placed) bool {
	return rollDue(cfg, &w.tail, b, w.p.o.now().UnixMilli())
}

// rollDue applies Kafka's rules for a new segment (LogSegment.shouldRoll): it is
// asked only when a batch is about to be appended, and an empty segment is never
// rolled, however large the batch. Time is the records' time where they have one.
func rollDue(cfg *Config, t *tail, b *placed, now int64) bool {
	if t.size == 0 {
		return t.next+int64(b.LastOffsetDelta)-t.base > math.MaxInt32
	}
	if t.size+b.Size() > cfg.SegmentBytes {
		return true
	}
	if t.next+int64(b.LastOffsetDelta)-t.base > math.MaxInt32 {
		return true
	}
	if t.index.Full(cfg.SegmentIndexBytes) {
		return true
	}
	ts := b.MaxTimestamp
	if cfg.LogAppendTime() {
		ts = now
	}
	waited := now - t.created
	if t.firstTS >= 0 {
		waited = ts - t.firstTS
	}
	return waited > rollAfter(cfg, t.base)
}

// rollAfter is the age in ms at which the segment with that base offset is rolled:
// segment.ms less the jitter, for compacted topics not more than
// max.compaction.lag.ms. The jitter is drawn per segment, from its base offset, so
// that all processes draw the same.
func rollAfter(cfg *Config, base int64) int64 {
	age := cfg.SegmentMs
	if cfg.Compacted() {
		age = min(age, cfg.MaxCompactionLagMs)
	}
	if span := min(cfg.SegmentJitterMs, age); span > 0 {
		h := uint64(base+1) * 0x9e3779b97f4a7c15
		age -= int64(h>>1) % span
	}
	return age
}

// roll seals the active segment and makes the next one, under the append lock:
//
//  1. the final time index entry of the old segment;
//  2. the hint is marked as rolling: from here on its words are not believed;
//  3. the new segment's files: producer snapshot, .index, .timeindex, .log last;
//  4. the directory is synced: the new names are durable before a record is in them;
//  5. the list of segments gains the new one;
//  6. the hint describes the new segment and is not rolling any more.
//
// A writer killed in between leaves a hint that is rolling: the next one lists the
// directory, takes an empty newest segment as the active one, completes its files and
// the list, and goes on. A roll that fails removes what it made.
func (w *Writer) roll(ctx context.Context, cfg *Config) error {
	old := w.tail
	times := w.tail.index.Seal(w.tail.base, w.timeIdx[:0])
	if err := w.active.writeIndexes(w.p, old.index, nil, times); err != nil {
		return errors.Join(err, w.active.cutIndexes(old.index))
	}
	w.tail.flags |= hintRolling
	w.writeHint()
	if !w.known {
		w.tail = old
		return errors.Join(fmt.Errorf("%s: the hint cannot be written", w.block.f.Name()), w.active.cutIndexes(old.index))
	}
	before, err := w.p.fs.Stat(w.p.dir)
	if err == nil {
		err = w.makeSegment(old.next)
	}
	if err != nil {
		w.tail = old
		w.writeHint()
		return errors.Join(err, w.active.cutIndexes(old.index))
	}
	if err := w.p.fs.SyncDir(w.p.dir); err != nil {
		w.known = false
		return err
	}
	if err := w.listSegment(before, old.index.MaxTimestamp, old.next); err != nil {
		// A list that is not kept up is stale, and readers see that it is.
		_ = w.p.fs.Remove(filepath.Join(w.p.dir, segments.ListName))
	}
	w.dur.rolled = true
	w.tail = newTail(old, old.next, w.p.o.now().UnixMilli())
	if err := w.openActive(ctx, w.tail.base); err != nil {
		w.known = false
		return err
	}
	w.writeHint()
	return nil
}

// openActive opens the segment that is appended to.
func (w *Writer) openActive(ctx context.Context, base int64) error {
	if w.shared && (w.active.log == nil || w.active.base != base) {
		w.active.close()
		return w.lockSegment(ctx, base)
	}
	return w.active.open(w.p, base)
}

// newTail is the tail of an empty segment that follows old.
func newTail(old tail, base, now int64) tail {
	t := old
	t.flags = 0
	t.base, t.size, t.lastPos, t.next = base, 0, -1, base
	t.lastHdr = [segments.HeaderSize]byte{}
	t.firstTS, t.created, t.damaged = -1, now, 0
	t.index = segments.NewIndexState()
	return t
}

// makeSegment makes the files of an empty segment. Index files that an earlier,
// interrupted roll left are emptied: without a log they describe nothing. The log
// comes last: a segment exists when its log does.
func (w *Writer) makeSegment(base int64) error {
	made := make([]string, 0, 4)
	undo := func(err error) error {
		for _, name := range made {
			_ = w.p.fs.Remove(name)
		}
		return err
	}
	if snap, ok := w.producers.snapshot(w, base); ok {
		name := segmentPath(w.p.dir, base, ".snapshot")
		made = append(made, name)
		if err := vfs.WriteFile(w.p.fs, name, snap); err != nil {
			return undo(err)
		}
	}
	for _, suffix := range []string{".index", ".timeindex", ".log"} {
		name := segmentPath(w.p.dir, base, suffix)
		f, err := vfs.OpenOrCreate(w.p.fs, name)
		if err != nil {
			return undo(err)
		}
		made = append(made, name)
		st, err := f.Stat()
		if err == nil && st.Size() > 0 {
			if suffix == ".log" {
				err = fmt.Errorf("%s: %w", name, fs.ErrExist)
				made = made[:len(made)-1]
			} else {
				err = f.Truncate(0)
			}
		}
		f.Close()
		if err != nil {
			return undo(err)
		}
	}
	return nil
}

// listSegment adds a segment to the kept list and tells it the largest timestamp of
// the one that was sealed. before is the directory as it was before the new files.
func (w *Writer) listSegment(before fs.FileInfo, maxTS, base int64) error {
	f, err := openOld(w.p.fs, filepath.Join(w.p.dir, segments.ListName))
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := segments.OpenList(f)
	if err != nil {
		return err
	}
	var now fs.FileInfo
	if before != nil && l.Fresh(before) {
		if now, err = w.p.fs.Stat(w.p.dir); err != nil {
			return err
		}
	}
	if l.Len() > 0 {
		if err := l.SetMaxTimestamp(l.Len()-1, maxTS); err != nil {
			return err
		}
	}
	return l.AppendSegment(base, now)
}
