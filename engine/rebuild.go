package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// isEOF reports whether a ReadAt ended at the end of the file.
func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// rebuild finds the end of the log when the hint does not tell it. h is what could be
// read of the hint, known whether it could be read at all.
//
// The usual case is a writer that was killed between its write and its hint: the log
// is what the hint says and some batches more. It costs a scan of these and no
// directory listing. Everything else lists the directory.
func (w *Writer) rebuild(ctx context.Context, h *tail, known bool) error {
	known = known && h.topic.fits(w.p.id)
	lived := known && w.machine.lives(h.boot, h.bootTime)
	if lived && h.flags == 0 {
		done, err := w.resume(h)
		if done || err != nil {
			return err
		}
	}
	bases, err := segments.ReadSegmentDir(w.p.fs, w.p.dir)
	if err != nil {
		return err
	}
	if len(bases) == 0 {
		return w.startLog(ctx, h, lived)
	}
	t := w.emptyTail(bases[len(bases)-1])
	if !known && len(bases) == 1 && w.isNew(bases[0]) {
		return w.begin(ctx, bases, t)
	}
	if lived && h.flags&hintUnsynced == 0 {
		err = w.endOf(ctx, &t, h)
	} else {
		err = w.recover(ctx, bases, &t)
	}
	if err != nil {
		return err
	}
	t.appends = h.appends
	return w.adopt(bases, t)
}

// isNew reports whether the segment is the empty one of a partition that was made in
// this boot: nothing was appended to it that a reboot could have taken away.
func (w *Writer) isNew(base int64) bool {
	st, err := w.p.fs.Stat(segmentPath(w.p.dir, base, ".log"))
	if err != nil || st.Size() > 0 || w.block.durable.Load() > 0 {
		return false
	}
	booted := w.bootTime()
	return booted > 0 && st.ModTime().Unix() > booted+bootSlack
}

// begin is the first append's look at a new partition. Whoever made it has synced its
// files and names, and the list is derived data: nothing has to be synced here, under
// the lock.
func (w *Writer) begin(ctx context.Context, bases []int64, t tail) error {
	if err := w.endOf(ctx, &t, &tail{}); err != nil {
		return err
	}
	if dir, err := w.p.fs.Stat(w.p.dir); err == nil {
		list := segments.EncodeList([]segments.SegmentInfo{{Base: bases[0], MaxTimestamp: segments.UnknownTimestamp}}, dir)
		if f, err := vfs.OpenOrCreate(w.p.fs, filepath.Join(w.p.dir, segments.ListName)); err == nil {
			_, _ = f.WriteAt(list, 0)
			_ = f.Close()
		}
	}
	return w.adopt(nil, t)
}

// shortLog is the refusal to append to a log that lost its end without a reboot: the
// offsets behind t.next were given out, and would be given out again.
func (w *Writer) shortLog(t *tail, next int64) error {
	return &segments.CorruptError{
		File: segmentPath(w.p.dir, t.base, ".log"), Position: t.size,
		FirstOffset: t.next, LastOffset: next - 1,
		Reason: "the log ends before records that were acknowledged",
	}
}

// adopt makes t the end of the log: what a roll may have left undone is completed,
// then the hint says so.
func (w *Writer) adopt(bases []int64, t tail) error {
	for _, suffix := range []string{".index", ".timeindex"} {
		f, err := vfs.OpenOrCreate(w.p.fs, segmentPath(w.p.dir, t.base, suffix))
		if err != nil {
			return err
		}
		f.Close()
	}
	if bases != nil {
		if err := w.relist(bases); err != nil {
			return err
		}
		if err := w.p.fs.SyncDir(w.p.dir); err != nil {
			return err
		}
	}
	t.flags, t.topic = 0, w.p.id
	t.boot, t.bootTime = w.machine.boot, w.bootTime()
	t.appends++
	w.tail = t
	w.writeHint()
	if !w.known {
		return fmt.Errorf("%s: the hint cannot be written", w.block.f.Name())
	}
	w.distrustRecoveryPoint()
	return nil
}

func (w *Writer) emptyTail(base int64) tail {
	t := newTail(tail{next: base}, base, w.p.o.now().UnixMilli())
	t.topic = w.p.id
	return t
}

// resume extends the hint over what was appended behind it. It is not done when the
// log is not the hint's log with more behind it, or when a later segment exists.
func (w *Writer) resume(h *tail) (done bool, err error) {
	if err := w.active.open(w.p, h.base); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	size, err := w.active.size()
	if err != nil {
		return false, err
	}
	if size < h.size || h.lastPos >= 0 && !w.active.hasHeader(h) {
		return false, nil
	}
	t := *h
	if err := w.openIndexes(); err != nil {
		return false, err
	}
	if err := w.active.cutIndexes(t.index); err != nil {
		return false, err
	}
	if err := w.extend(&t, size, h); err != nil {
		return false, err
	}
	if t.next > t.base {
		_, err := w.p.fs.Stat(segmentPath(w.p.dir, t.next, ".log"))
		if err == nil {
			// It was rolled: it gets back the entry that it was sealed with.
			was := t.index
			return false, w.active.writeIndexes(w.p, was, nil, t.index.Seal(t.base, nil))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return true, w.adopt(nil, t)
}

func (w *Writer) openIndexes() error {
	if err := w.active.openIndex(w.p, &w.active.offset, ".index"); err != nil {
		return err
	}
	return w.active.openIndex(w.p, &w.active.time, ".timeindex")
}

// endOf scans the tail of the newest segment, from its last index entry on where that
// entry tells the truth, else from its beginning.
func (w *Writer) endOf(ctx context.Context, t, h *tail) error {
	if err := w.openActive(ctx, t.base); err != nil {
		return err
	}
	if err := w.openIndexes(); err != nil {
		return err
	}
	size, err := w.active.size()
	if err != nil {
		return err
	}
	if t.epoch, err = w.lastEpoch(); err != nil {
		return err
	}
	w.fromIndex(t, size)
	if err := w.active.cutIndexes(t.index); err != nil {
		return err
	}
	if err := w.extend(t, size, h); err != nil {
		return err
	}
	if t.next < h.next {
		return w.shortLog(t, h.next)
	}
	return nil
}

// fromIndex moves t to the batch of the last index entry, if a good batch with that
// last offset lies there. The entry's batch itself is counted, as the writer that
// made the entry counted it.
func (w *Writer) fromIndex(t *tail, size int64) {
	e, n, ok := w.lastOffsetEntry(t.base)
	if !ok || e.Position >= size {
		return
	}
	first, ok := w.batchAt(0, size)
	if !ok {
		return
	}
	firstTS := first.MaxTimestamp
	b, ok := w.batchAt(e.Position, size)
	if !ok || b.LastOffset() != e.Offset {
		return
	}
	s := segments.NewIndexState()
	s.OffsetEntries = n
	te, times, ok := w.lastTimeEntry(t.base)
	if !ok || te.Offset > e.Offset || times == 0 && firstTS >= 0 {
		return
	}
	s.TimeEntries, s.LastTimeEntry = times, te.Timestamp
	s.MaxTimestamp, s.OffsetOfMax = te.Timestamp, te.Offset
	s.SinceEntry = b.Size()
	t.index = s
	t.firstTS = firstTS
	t.lastPos = e.Position
	t.size = e.Position + b.Size()
	t.next = b.LastOffset() + 1
	copy(t.lastHdr[:], b.Raw)
}

// batchAt reads the batch at pos and checks its CRC.
func (w *Writer) batchAt(pos, size int64) (segments.Batch, bool) {
	sc := segments.NewScanner(w.active.log, w.active.log.Name(), w.active.base, pos, size, w.active.base)
	b, err := sc.Next()
	return b, err == nil
}

// extend moves t over the batches behind it up to size, adds the index entries that
// are due, and decides about what is no batch: a torn tail is cut, damage is left and
// the log goes on behind it. What the hint h knows to have been whole is never taken
// for a torn tail.
func (w *Writer) extend(t *tail, size int64, h *tail) error {
	cfg, err := w.p.config()
	if err != nil {
		return err
	}
	name := w.active.log.Name()
	was := t.index
	var offset, times []byte
	sc := segments.NewScanner(w.active.log, name, t.base, t.size, size, t.next)
	for {
		b, err := sc.Next()
		if err == nil {
			offset, times = t.take(&b, int(cfg.IndexIntervalBytes), offset, times)
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, segments.ErrCorrupt) {
			return err
		}
		end, err := segments.ExamineTail(w.active.log, t.base, t.size, size, t.next, false)
		if err != nil {
			return err
		}
		if end.Torn && h.base == t.base && t.size < h.size {
			if size < h.size {
				return w.shortLog(t, h.next)
			}
			end = segments.Tail{End: h.size, Offsets: max(h.next-t.next, 0)}
		}
		if end.Torn {
			if err := w.cutTorn(t, size); err != nil {
				return err
			}
			break
		}
		w.p.o.notice(fmt.Sprintf("%s: byte %d: damage of %d bytes is left where it is; appends go on behind it", name, t.size, end.End-t.size))
		t.damaged += end.End - t.size
		t.next += end.Offsets
		t.size, t.lastPos = end.End, -1
		sc = segments.NewScanner(w.active.log, name, t.base, t.size, size, t.next)
	}
	return w.active.writeIndexes(w.p, was, offset, times)
}

// take counts one more batch, which lies at the end of what t knows.
func (t *tail) take(b *segments.Batch, interval int, offset, times []byte) ([]byte, []byte) {
	if t.size == 0 {
		t.firstTS = b.MaxTimestamp
	}
	offset, times = t.index.Add(b.BatchHeader, t.base, t.size, interval, offset, times)
	t.lastPos = t.size
	t.size += b.Size()
	t.next = b.LastOffset() + 1
	t.lastHdr = [segments.HeaderSize]byte{}
	copy(t.lastHdr[:], b.Raw)
	return offset, times
}

// cutTorn cuts a torn tail: bytes that a killed writer or a full disk left, and that
// no one was told of.
func (w *Writer) cutTorn(t *tail, size int64) error {
	name := w.active.log.Name()
	if err := w.active.log.Truncate(t.size); err != nil {
		return fmt.Errorf("cut the torn tail: %w", err)
	}
	w.p.o.notice(fmt.Sprintf("%s: byte %d: cut a torn tail of %d bytes", name, t.size, size-t.size))
	return nil
}

// lastEpoch is the partition's leader epoch: the last one of its history.
func (w *Writer) lastEpoch() (int32, error) {
	es, err := w.p.epochs()
	if err != nil {
		return 0, err
	}
	if len(es) == 0 {
		return 0, nil
	}
	return es[len(es)-1].Epoch, nil
}

// startLog makes the first segment of a partition that has none.
func (w *Writer) startLog(ctx context.Context, h *tail, lived bool) error {
	base, err := w.p.LogStart()
	if err != nil {
		return err
	}
	t := w.emptyTail(max(base, 0))
	if lived && h.next > t.next {
		return w.shortLog(&t, h.next)
	}
	if t.epoch, err = w.lastEpoch(); err != nil {
		return err
	}
	if err := w.makeSegment(t.base); err != nil {
		return err
	}
	if err := w.openActive(ctx, t.base); err != nil {
		return err
	}
	return w.adopt([]int64{t.base}, t)
}

// relist brings the kept list of segments in line with the directory. Segments that
// the list names and that are gone stay in it: they are a finding of verify, and only
// the commands that remove segments take them out.
func (w *Writer) relist(bases []int64) error {
	var old []segments.SegmentInfo
	if f, err := openOld(w.p.fs, filepath.Join(w.p.dir, segments.ListName)); err == nil {
		if l, err := segments.OpenList(f); err == nil {
			old, _ = l.All()
		}
		_ = f.Close()
	}
	all, missing := segments.MergeSegments(old, bases)
	var dir fs.FileInfo
	if len(missing) == 0 {
		var err error
		if dir, err = w.p.fs.Stat(w.p.dir); err != nil {
			return err
		}
	}
	return segments.RewriteList(w.p.fs, w.p.dir, all, dir)
}

// lastOffsetEntry is the last entry of the active segment's offset index and the
// number of entries, if the file ends with it as klog's own do: one that Kafka left
// preallocated is derived anew.
func (w *Writer) lastOffsetEntry(base int64) (e segments.OffsetEntry, n int64, ok bool) {
	st, err := w.active.offset.Stat()
	if err != nil || st.Size() == 0 || st.Size()%segments.OffsetEntrySize != 0 {
		return e, 0, false
	}
	e, ok, err = segments.LastOffsetEntry(w.active.offset, st.Size(), base)
	if err != nil || !ok {
		return e, 0, false
	}
	n = st.Size() / segments.OffsetEntrySize
	before, ok, err := segments.LastOffsetEntry(w.active.offset, st.Size()-segments.OffsetEntrySize, base)
	return e, n, err == nil && (!ok || before != e)
}

// lastTimeEntry is lastOffsetEntry for the time index.
func (w *Writer) lastTimeEntry(base int64) (e segments.TimeEntry, n int64, ok bool) {
	st, err := w.active.time.Stat()
	if err != nil || st.Size()%segments.TimeEntrySize != 0 {
		return e, 0, false
	}
	n = st.Size() / segments.TimeEntrySize
	if n == 0 {
		return segments.TimeEntry{Timestamp: -1, Offset: -1}, 0, true
	}
	e, ok, err = segments.LastTimeEntry(w.active.time, st.Size(), base)
	if err != nil || !ok {
		return e, 0, false
	}
	before, ok, err := segments.LastTimeEntry(w.active.time, st.Size()-segments.TimeEntrySize, base)
	return e, n, err == nil && (!ok || before != e)
}
