package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// producerTable keeps what is needed to recognise batches that a producer sends
// again. It is read and changed under the append lock. In the file .klog/producers it
// is true up to an end offset that stands in it; what lies behind is read from the log
// before it is used, so that writers without producer ids need not touch it. A file
// that is lost or damaged is made anew from the last .snapshot and the log behind it.
//
//	byte  size
//	   0     4  "KPRD"
//	   4     4  CRC-32C of the bytes behind it
//	   8     2  version
//	  10     8  end offset
//	  18     4  leader epoch: one that is raised says that records may be gone
//	  22     4  number of producers
//
// and for each: id 8, epoch 2, coordinator epoch 4, last timestamp 8, first offset of
// the open transaction 8, number of batches 1, and for each of these: last sequence 4,
// last offset 8, offset delta 4, timestamp 8. Big endian.
type producerTable struct {
	p     *Partition
	table *segments.ProducerTable // nil: not loaded
	end   int64                   // the table is true for all below
	epoch int32                   // as long as this is the leader epoch
	base  int64                   // segment and position of end, to go on from
	pos   int64
	since int // appends since the file was written
}

const (
	producersMagic   = "KPRD"
	producersVersion = 2
	producersHeader  = 26
	// storeEvery bounds how much of the log is read when a table is taken up again.
	storeEvery = 64
)

func producersPath(p *Partition) string { return filepath.Join(p.dir, stateDir, "producers") }

// catchUp makes the table true up to the end of the log that the writer knows.
func (t *producerTable) catchUp(w *Writer) error {
	if t.epoch != w.tail.epoch {
		t.table, t.epoch = nil, w.tail.epoch
	}
	if t.table == nil {
		if err := t.load(w.tail.next); err != nil {
			return err
		}
	}
	if t.end > w.tail.next {
		// The log was cut below what the table speaks of: it starts again.
		t.table = nil
		if err := t.restart(w.tail.next); err != nil {
			return err
		}
	}
	if t.end < w.tail.next {
		return t.read(w.tail.next)
	}
	return nil
}

// load reads the file, or starts from the last snapshot.
func (t *producerTable) load(end int64) error {
	b, err := vfs.ReadFile(t.p.fs, producersPath(t.p))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if table, at, epoch, ok := decodeProducers(b); ok && at <= end && epoch == t.epoch {
		t.table, t.end, t.base, t.pos = table, at, -1, 0
		return nil
	}
	return t.restart(end)
}

// restart starts from the newest snapshot at or below end, or from nothing at all.
func (t *producerTable) restart(end int64) error {
	t.table, t.end, t.base, t.pos = segments.NewProducerTable(), 0, -1, 0
	es, err := t.p.fs.ReadDir(t.p.dir)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(es) {
		at, suffix, ok := segments.ParseSegmentName(e.Name())
		if !ok || suffix != ".snapshot" || at > end {
			continue
		}
		b, err := vfs.ReadFile(t.p.fs, filepath.Join(t.p.dir, e.Name()))
		if err != nil {
			continue
		}
		entries, err := segments.ParseSnapshot(b)
		if err != nil {
			continue
		}
		for _, e := range entries {
			t.table.Put(e)
		}
		t.end = at
		return nil
	}
	return nil
}

// read takes note of the batches from the table's end up to to.
func (t *producerTable) read(to int64) error {
	bases, err := segments.ReadSegmentDir(t.p.fs, t.p.dir)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearch(bases, t.end)
	if !found && i > 0 {
		i--
	}
	for _, base := range bases[min(i, len(bases)):] {
		if base >= to {
			break
		}
		if err := t.readSegment(base, to); err != nil {
			return err
		}
	}
	t.end = to
	return nil
}

func (t *producerTable) readSegment(base, to int64) error {
	f, err := t.p.fs.OpenFile(segmentPath(t.p.dir, base, ".log"), 0, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	pos := int64(0)
	if t.base == base {
		pos = t.pos
	}
	sc := segments.NewScanner(f, f.Name(), base, pos, st.Size(), base)
	sc.SetMode(segments.ScanNoCRC)
	for {
		b, err := sc.Next()
		switch {
		case errors.Is(err, io.EOF):
			t.base, t.pos = base, sc.Position()
			return nil
		case errors.Is(err, segments.ErrCorrupt):
			end, err := segments.ExamineTail(f, base, sc.Position(), st.Size(), sc.NextOffset(), true)
			if err != nil {
				return err
			}
			sc.Resume(end.End, sc.NextOffset()+end.Offsets)
			continue
		case err != nil:
			return err
		}
		if b.BaseOffset >= to {
			t.base, t.pos = base, b.Position
			return nil
		}
		if b.LastOffset() < t.end {
			continue
		}
		if _, _, err := t.table.Update(b); err != nil && !errors.Is(err, segments.ErrCorrupt) {
			return err
		}
	}
}

// append takes note of batches that are in the log now, up to the offset next, and
// writes the file now and then.
func (t *producerTable) append(w *Writer, bs []placed) {
	if t.table == nil {
		return
	}
	for i := range bs {
		_, _, _ = t.table.Update(segments.Batch{BatchHeader: bs[i].BatchHeader, Raw: bs[i].raw})
	}
	t.end, t.base, t.pos = w.tail.next, w.tail.base, w.tail.size
	if t.since++; t.since >= storeEvery {
		t.store()
	}
}

// store writes the file. It is derived data: what is lost of it is read from the log.
func (t *producerTable) store() {
	t.since = 0
	f, err := vfs.OpenOrCreate(t.p.fs, producersPath(t.p))
	if err != nil {
		return
	}
	defer f.Close()
	b := encodeProducers(t.table, t.end, t.epoch)
	if _, err := f.WriteAt(b, 0); err == nil {
		_ = f.Truncate(int64(len(b)))
	}
}

// forget drops what may speak of records beyond point that are gone: the table, and the
// snapshots of segments that begin beyond it. Both may reach the disk sooner than the
// records. Kept, a batch that was lost and is sent again is taken for a repetition.
func (t *producerTable) forget(point int64) error {
	t.table = nil
	if err := t.p.fs.Remove(producersPath(t.p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	es, err := t.p.fs.ReadDir(t.p.dir)
	if err != nil {
		return err
	}
	for _, e := range es {
		if at, suffix, ok := segments.ParseSegmentName(e.Name()); ok && suffix == segments.SnapshotSuffix && at > point {
			if err := t.p.fs.Remove(filepath.Join(t.p.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshot is the content of the .snapshot of a segment that begins at base. A
// partition in which no producer has an id has none.
func (t *producerTable) snapshot(w *Writer, base int64) ([]byte, bool) {
	if t.table == nil {
		if _, err := t.p.fs.Stat(producersPath(t.p)); err != nil {
			return nil, false
		}
	}
	if base != w.tail.next || t.catchUp(w) != nil {
		return nil, false
	}
	return segments.EncodeSnapshot(t.table.Entries()), true
}

func encodeProducers(table *segments.ProducerTable, end int64, epoch int32) []byte {
	be := binary.BigEndian
	entries := table.Entries()
	b := make([]byte, 8, producersHeader+len(entries)*160)
	copy(b, producersMagic)
	b = be.AppendUint16(b, producersVersion)
	b = be.AppendUint64(b, uint64(end))
	b = be.AppendUint32(b, uint32(epoch))
	b = be.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = be.AppendUint64(b, uint64(e.ProducerID))
		b = be.AppendUint16(b, uint16(e.Epoch))
		b = be.AppendUint32(b, uint32(e.CoordinatorEpoch))
		b = be.AppendUint64(b, uint64(e.LastTimestamp))
		b = be.AppendUint64(b, uint64(e.TxnFirstOffset))
		b = append(b, byte(e.Count))
		for _, s := range e.Batches[:e.Count] {
			b = be.AppendUint32(b, uint32(s.LastSequence))
			b = be.AppendUint64(b, uint64(s.LastOffset))
			b = be.AppendUint32(b, uint32(s.OffsetDelta))
			b = be.AppendUint64(b, uint64(s.Timestamp))
		}
	}
	be.PutUint32(b[4:], crc32.Checksum(b[8:], castagnoli()))
	return b
}

func decodeProducers(b []byte) (table *segments.ProducerTable, end int64, epoch int32, ok bool) {
	be := binary.BigEndian
	if len(b) < producersHeader || string(b[:4]) != producersMagic || be.Uint16(b[8:]) != producersVersion ||
		crc32.Checksum(b[8:], castagnoli()) != be.Uint32(b[4:]) {
		return nil, 0, 0, false
	}
	end = int64(be.Uint64(b[10:]))
	epoch = int32(be.Uint32(b[18:]))
	n := be.Uint32(b[22:])
	b = b[producersHeader:]
	table = segments.NewProducerTable()
	for range n {
		if len(b) < 31 {
			return nil, 0, 0, false
		}
		e := segments.ProducerEntry{
			ProducerID: int64(be.Uint64(b)), Epoch: int16(be.Uint16(b[8:])), CoordinatorEpoch: int32(be.Uint32(b[10:])),
			LastTimestamp: int64(be.Uint64(b[14:])), TxnFirstOffset: int64(be.Uint64(b[22:])), Count: int(b[30]),
		}
		b = b[31:]
		if e.Count > len(e.Batches) || len(b) < e.Count*24 {
			return nil, 0, 0, false
		}
		for i := range e.Batches[:e.Count] {
			e.Batches[i] = segments.SequencedBatch{
				LastSequence: int32(be.Uint32(b)), LastOffset: int64(be.Uint64(b[4:])),
				OffsetDelta: int32(be.Uint32(b[12:])), Timestamp: int64(be.Uint64(b[16:])),
			}
			b = b[24:]
		}
		table.Put(e)
	}
	return table, end, epoch, len(b) == 0
}

// dropDuplicates leaves out the batches at the front that the log has already. A
// batch that neither repeats nor follows its producer's last one is an error.
func (w *Writer) dropDuplicates(todo []placed) (dup Appended, rest []placed, err error) {
	if err := w.producers.catchUp(w); err != nil {
		return dup, nil, w.p.wrap("read producers", err)
	}
	dup = Appended{First: -1, Duplicate: true}
	for i := range todo {
		b := &todo[i]
		if i > 0 && len(rest) > 0 && b.ProducerID == todo[i-1].ProducerID && b.ProducerID >= 0 {
			before := &todo[i-1]
			if want := (before.BaseSequence + before.LastOffsetDelta + 1) & 0x7fffffff; b.ProducerEpoch != before.ProducerEpoch || b.BaseSequence != want {
				return dup, nil, w.p.wrap("append", fmt.Errorf("producer %d: sequence %d, want %d: %w", b.ProducerID, b.BaseSequence, want, segments.ErrOutOfOrderSequence))
			}
			rest = todo[i-len(rest) : i+1]
			continue
		}
		old, again, err := w.producers.table.Check(b.BatchHeader)
		switch {
		case err != nil:
			return dup, nil, w.p.wrap("append", err)
		case again && len(rest) > 0:
			return dup, nil, w.p.wrap("append", fmt.Errorf("producer %d: a batch that is in the log already behind one that is not: %w", b.ProducerID, segments.ErrOutOfOrderSequence))
		case again:
			if dup.First < 0 {
				dup.First = old.FirstOffset()
			}
			dup.Next = old.LastOffset + 1
			dup.Batches++
		default:
			rest = todo[i-len(rest) : i+1]
		}
	}
	return dup, rest, nil
}

// LastSequence is the sequence number of the last record that the producer appended
// to this partition, and its offset; ok is false where the log does not know the
// producer. It is how a producer that was killed learns how far it came.
func (w *Writer) LastSequence(ctx context.Context, producerID int64) (sequence int32, offset int64, ok bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, 0, false, ErrClosed
	}
	if err := w.enter(ctx); err != nil {
		return 0, 0, false, err
	}
	defer w.leave()
	if err := w.producers.catchUp(w); err != nil {
		return 0, 0, false, w.p.wrap("read producers", err)
	}
	e, known := w.producers.table.Get(producerID)
	last, any := e.Last()
	if !known || !any {
		return 0, 0, false, nil
	}
	return last.LastSequence, last.LastOffset, true, nil
}

// NewProducerID draws a producer id that this partition's log does not know: random
// in [2^40, 2^63), so that brokers, which count from 0, do not come near it.
func (w *Writer) NewProducerID(ctx context.Context) (int64, error) {
	for {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return 0, err
		}
		id := int64(binary.BigEndian.Uint64(b[:]) >> 1)
		if id < 1<<40 {
			continue
		}
		_, _, known, err := w.LastSequence(ctx, id)
		if err != nil || !known {
			return id, err
		}
	}
}
