package show

import (
	"context"
	"errors"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// worker takes chunks and writes them.
type worker struct {
	c      *copying
	format format.Formatter
	n      int64 // the chunk's number
	chunk  segments.Chunk
	d      segments.Decoder
	rec    segments.Record
	mine   bool // it is this worker's turn

	text
	flushed int // how often text was written
}

// text is records that were formatted and not yet written.
type text struct {
	out   []byte
	count int64 // of records
	next  int64 // the offset behind the last one, or behind what was passed after it
}

func (w *worker) work(ctx context.Context) {
	for w.take(ctx) {
		shared := w.chunk.Shared
		if !shared {
			w.c.reading.Unlock()
		}
		w.finish(w.print())
		if shared {
			w.drop()
			w.c.reading.Unlock()
		}
	}
}

// drop lets go of a very large batch before the next one is read.
func (w *worker) drop() {
	w.d.Drop()
	w.rec = segments.Record{}
	clear(w.chunk.Batches)
}

// take gets the next chunk. Where it is true the reading lock is still held: the bytes
// of a very large batch belong to the reader until the next one is taken.
func (w *worker) take(ctx context.Context) bool {
	c := w.c
	c.reading.Lock()
	if c.ended.Load() {
		c.reading.Unlock()
		return false
	}
	w.n, w.mine = c.taken, false
	c.taken++
	err := c.r.NextChunk(&w.chunk)
	// A command that is over after one chunk need not listen for signals.
	if err == nil && c.taken > 1 && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return true
	}
	c.ended.Store(true)
	c.reading.Unlock()
	if w.wait() {
		w.finish(err)
	}
	return false
}

// wait waits for the worker's turn; false means that nothing more is to be written.
func (w *worker) wait() bool {
	if w.mine {
		return true
	}
	c := w.c
	c.mu.Lock()
	for c.done != w.n && !c.stop {
		c.turn.Wait()
	}
	w.mine = !c.stop
	c.mu.Unlock()
	return w.mine
}

// What ends a run of workers and is no error.
var (
	errTrouble = errors.New("a batch has to be looked at again")
	errFull    = errors.New("the limit is reached")
	errStopped = errors.New("another worker has ended the run")
)

// finish gives the turn to the next worker, or ends the run where err is not nil.
func (w *worker) finish(err error) {
	if err == errStopped {
		return
	}
	c := w.c
	if err != nil {
		c.ended.Store(true)
	}
	if err != errTrouble && err != errFull {
		c.err = notEOF(err)
	}
	c.mu.Lock()
	c.done++
	c.stop = err != nil
	c.mu.Unlock()
	c.turn.Broadcast()
}

// print writes the chunk.
func (w *worker) print() error {
	w.text = text{out: w.memory()[:0], next: max(w.c.start, w.chunk.Batches[0].BaseOffset)}
	var err error
	var bad *segments.Batch
	for i := range w.chunk.Batches {
		b := &w.chunk.Batches[i]
		if err = w.batch(b); err != nil {
			bad = b
			break
		}
	}
	if ferr := w.flush(); ferr != nil {
		return ferr
	}
	if err == errTrouble {
		w.c.bad = &segments.Batch{BatchHeader: bad.BatchHeader}
	}
	return err
}

// memory is the memory for the text of the chunk: as much as the chunk has, which is
// what values need, rather than growing to it step by step.
func (w *worker) memory() []byte {
	size := int64(0)
	for i := range w.chunk.Batches {
		size += w.chunk.Batches[i].Size()
	}
	if size = min(size, mostText); int64(cap(w.out)) < size && w.c.p.o.Limit < 0 {
		return make([]byte, 0, size+size/8)
	}
	return w.out
}

// flush writes the text in turn.
func (w *worker) flush() error {
	if !w.wait() {
		return errStopped
	}
	c := w.c
	c.p.printed += w.count
	c.next = w.next
	w.count = 0
	w.flushed++
	if len(w.out) == 0 {
		return nil
	}
	err := c.p.o.Write(w.out)
	shrink(&w.out)
	return err
}

// batch formats a batch. The error is errTrouble if its checksum is wrong or it is
// malformed: nothing of it is in the text then, and nothing was written unless it was
// too large to be held.
func (w *worker) batch(b *segments.Batch) error {
	if !b.CheckCRC() {
		return errTrouble
	}
	c := w.c
	before, flushed := w.text, w.flushed
	whole := b.Magic == 2 && b.BaseOffset >= c.start && b.LastOffset() < c.until
	w.d.Open(*b) // Err tells
	if w.chunk.Shared && b.Codec() != segments.None {
		b.Raw = nil
		c.r.Release()
	}
	var err error
	if whole && c.p.o.Plain && c.p.o.Limit < 0 && !c.p.o.Filter.Any() {
		err = w.values()
	} else {
		err = w.records()
	}
	switch {
	case err != nil:
		return err
	case w.d.Err() == nil:
		w.next = b.LastOffset() + 1
		return nil
	case w.flushed == flushed:
		w.text = text{out: w.out[:len(before.out)], count: before.count, next: before.next}
	default:
		w.text = text{out: w.memory()[:0], next: c.next}
	}
	return errTrouble
}

// values is the shortest way: values with a delimiter behind each, as they lie there.
func (w *worker) values() error {
	delimiter := w.c.p.o.Delimiter
	for {
		var n int
		var next int64
		if w.out, n, next = w.d.AppendValues(w.out, delimiter, mostText); n > 0 {
			w.count += int64(n)
			w.next = next
			if len(w.out) >= mostText {
				if err := w.flush(); err != nil {
					return err
				}
				continue
			}
		}
		v, offset, ok := w.d.NextValue()
		if !ok {
			return nil
		}
		large := len(v) >= largeValue
		if large {
			if err := w.through(v); err != nil {
				return err
			}
			v = nil
		}
		w.out = append(append(w.out, v...), delimiter...)
		w.count++
		w.next = offset + 1
		if large || len(w.out) >= mostText {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
}

const (
	// mostText is how much text is held before it is written in the middle of a chunk.
	mostText = 1 << 20
	// largeValue is the size from which a value is written from where it lies, and a
	// record piece by piece.
	largeValue = 1 << 20
)

// through writes a value behind the text so far without copying it.
func (w *worker) through(v []byte) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.c.p.o.Write(v)
}

// records formats the rest of the batch record by record.
func (w *worker) records() error {
	c, o := w.c, &w.c.p.o
	for w.d.Next(&w.rec) {
		r := &w.rec
		if r.Offset < c.start || r.Offset >= c.until || !o.Filter.Keep(r) {
			continue
		}
		number := int64(0) // where two are at work nobody knows, and nobody asks
		if c.alone {
			number = c.p.printed + w.count + 1
		}
		if o.Limit >= 0 && number > o.Limit {
			return errFull
		}
		o.nullify(r)
		big := large(r)
		if err := w.record(number, big); err != nil {
			return err
		}
		w.count++
		w.next = r.Offset + 1
		if big || len(w.out) >= mostText {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// record formats the record in hand. The text of a large one is written at once.
func (w *worker) record(number int64, big bool) (err error) {
	if !big {
		w.out, err = w.format.Append(w.out, w.c.source, number, &w.rec)
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.format.Pieces(w.c.source, number, &w.rec, w.c.p.o.Write)
}
