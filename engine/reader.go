package engine

import (
	"errors"
	"io"
	"math"

	"github.com/klog-project/klog/segments"
)

// ReaderOptions say what a Reader reads.
type ReaderOptions struct {
	// From is the first offset wanted. One in a hole means the next record.
	From int64
	// Until is the offset to end before; -1: none, the reader goes on as the log grows.
	Until int64
	// Since is a timestamp in ms: batches all of whose records are older are passed
	// over. Others are returned whole: the records have to be looked at. 0: none.
	Since int64
	// SkipCorrupt goes on behind damage and missing files once Report knows of them.
	SkipCorrupt bool
	// Report is told of what a reader goes on behind: records that retention removed
	// before they were read (a *segments.GapError that is not Missing), and with
	// SkipCorrupt all damage (segments.ErrCorrupt by errors.Is). nil drops it.
	Report func(error)
}

// Reader reads a partition's visible records in order of their offsets, beside its
// writers: no control records, nothing below From, and of a View with Committed
// nothing undecided or aborted. It holds one file open, or two where it has to look
// ahead for the ends of transactions.
//
// A Reader belongs to one goroutine at a time, together with its View.
type Reader struct {
	v     *View
	o     ReaderOptions
	r     *segments.LogReader
	next  int64 // the lowest offset that may still be returned
	done  bool
	stuck error // what stopped the reader for good

	filter *segments.AbortFilter // nil: everything is visible
	stable *segments.StableEnd   // nil unless committed and unbounded
	bound  int64                 // committed: the last stable offset as last seen

	d      segments.Decoder
	rec    segments.Record
	opened bool // d is inside a batch
}

// Reader returns a reader of what the partition holds from o.From on. It belongs to a
// View of its own.
func (p *Partition) Reader(o ReaderOptions) (*Reader, error) {
	v, err := p.View(ViewOptions{})
	if err != nil {
		return nil, err
	}
	return v.Reader(o)
}

// Reader returns a reader in the partition that the view is of. It is not bound to the
// view's end: that is for o.Until to say.
func (v *View) Reader(o ReaderOptions) (*Reader, error) {
	r := &Reader{v: v, o: o, r: v.log.Reader(o.From), next: o.From}
	r.d.MaxBytes = v.o.MaxDecompressed
	if !v.o.Committed {
		return r, nil
	}
	r.bound = v.end
	if o.Until >= 0 {
		r.o.Until = min(o.Until, v.end)
	}
	r.filter = v.log.AbortFilter()
	if o.Until < 0 {
		var err error
		if r.stable, err = v.log.StableEnd(v.end); err != nil {
			return nil, v.p.gone(err)
		}
	}
	return r, nil
}

// Partition is what the reader reads.
func (r *Reader) Partition() *Partition { return r.v.p }

// Offset is the lowest offset that Next may still return: one more than the last
// record's, and more than that where it has passed over something.
func (r *Reader) Offset() int64 { return r.next }

// Close closes the open files.
func (r *Reader) Close() error {
	r.filter.Close()
	if r.stable != nil {
		r.stable.Close()
	}
	return r.r.Close()
}

// Park closes the open files until they are needed again.
func (r *Reader) Park() {
	r.r.Park()
	r.filter.Park()
	if r.stable != nil {
		r.stable.Park()
	}
}

// Next returns the next record; it and its bytes live until the next call.
//
// The error is io.EOF at Until, or at the present end of the log: without Until a later
// call may find more. Other errors stay: segments.ErrCorrupt by errors.Is where damage
// or missing files stop it, ErrTopicGone when the partition is not there any more, or
// one of reading. Records that a damaged batch holds before its damage are returned.
func (r *Reader) Next() (*segments.Record, error) {
	for {
		for r.opened && r.d.Next(&r.rec) {
			if r.rec.Offset < r.next {
				continue
			}
			if r.o.Until >= 0 && r.rec.Offset >= r.o.Until {
				r.opened, r.done = false, true
				return nil, io.EOF
			}
			r.next = r.rec.Offset + 1
			return &r.rec, nil
		}
		if r.opened {
			r.opened = false
			err := r.d.Err()
			r.d.Drop()
			r.rec = segments.Record{Headers: r.rec.Headers[:0]}
			r.next = max(r.next, r.r.Offset())
			if err != nil {
				if err := r.pass(r.inFile(err)); err != nil {
					return nil, err
				}
			}
		}
		b, err := r.batch()
		if err != nil {
			return nil, err
		}
		r.opened = true
		r.d.Open(b) // Next and Err tell
		if b.Codec() != segments.None && len(b.Raw) >= hugeBatch {
			r.Release()
		}
	}
}

// hugeBatch is the size from which a compressed batch is not held beside its records.
const hugeBatch = 16 << 20

// Release gives back the memory of the batch that NextChunk or NextBatch returned last,
// where that was a Shared one: after it has been decompressed.
func (r *Reader) Release() { r.r.Release() }

// NextBatch returns the next batch that holds visible records, whole: it may begin
// below From and end beyond Until. Its Raw is valid until the next call. Errors are
// those of Next; what is malformed inside a batch is not looked at.
func (r *Reader) NextBatch() (segments.Batch, error) {
	if r.opened { // Next has left a batch half way
		r.Back(r.next)
	}
	b, err := r.batch()
	if err == nil {
		r.next = b.LastOffset() + 1
	}
	return b, err
}

func (r *Reader) batch() (segments.Batch, error) {
	for {
		if err := r.ready(); err != nil {
			return segments.Batch{}, err
		}
		was := r.r.Offset()
		b, err := r.r.Next()
		if err != nil {
			if err := r.pass(err); err != nil {
				return segments.Batch{}, err
			}
			continue
		}
		if r.beyond(b) {
			r.r.SeekTo(was)
			r.done = r.stable == nil
			return segments.Batch{}, io.EOF
		}
		hidden, err := r.hides(b)
		switch {
		case err != nil:
			return segments.Batch{}, r.stop(err)
		case hidden:
			r.next = max(r.next, r.r.Offset())
			continue
		}
		return b, nil
	}
}

// ready is io.EOF where nothing more may be read for now.
func (r *Reader) ready() error {
	switch {
	case r.stuck != nil:
		return r.stuck
	case r.done:
		return io.EOF
	case r.o.Until >= 0 && r.r.Offset() >= r.o.Until:
		r.done = true
		return r.end()
	case r.stable == nil || r.r.Offset() < r.bound:
		return nil
	}
	bound, err := r.stable.At(math.MaxInt64)
	if err != nil {
		return r.stop(err)
	}
	r.bound = bound
	if r.r.Offset() >= bound {
		return r.look()
	}
	return nil
}

// look is io.EOF, or the error of a partition that is gone: a reader that waits for
// transactions does not touch the log otherwise.
func (r *Reader) look() error {
	if _, err := r.v.log.End(); err != nil {
		return r.stop(err)
	}
	return io.EOF
}

// end is io.EOF for a bounded read, unless segments are missing at the end of the log:
// their offsets are counted as in it, and nobody has told of them yet.
func (r *Reader) end() error {
	gap := r.v.log.MissingEnd()
	if gap == nil || r.o.Until < gap.First {
		return io.EOF
	}
	if err := r.pass(gap); err != nil {
		return err
	}
	return io.EOF
}

// beyond reports whether the batch begins where the read ends. An old compressed set of
// messages is known by its last offset only.
func (r *Reader) beyond(b segments.Batch) bool {
	if b.Magic < 2 {
		return false
	}
	return r.o.Until >= 0 && b.BaseOffset >= r.o.Until || r.stable != nil && b.BaseOffset >= r.bound
}

// hides reports whether nothing of the batch is to be seen.
func (r *Reader) hides(b segments.Batch) (bool, error) {
	if hidden, err := r.filter.Hides(b); hidden || err != nil {
		return hidden, err
	}
	old := r.o.Since > 0 && b.MaxTimestamp < r.o.Since
	return old || b.Magic == 2 && b.Count == 0, nil
}

// pass decides about an error: nil means that the reader goes on behind it.
func (r *Reader) pass(err error) error {
	var gap *segments.GapError
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &gap) && !gap.Missing:
		r.report(err)
		return nil
	case errors.Is(err, segments.ErrCorrupt) && r.o.SkipCorrupt:
		r.report(err)
		r.r.SkipCorrupt()
		return nil
	}
	return r.stop(err)
}

func (r *Reader) report(err error) {
	if r.o.Report != nil {
		r.o.Report(err)
	}
}

// stop makes err what every further call returns.
func (r *Reader) stop(err error) error {
	if err = r.v.p.gone(err); err != io.EOF {
		r.stuck = err
	}
	return err
}

// inFile names the file of damage that was found inside a batch.
func (r *Reader) inFile(err error) error {
	var bad *segments.CorruptError
	if !errors.As(err, &bad) || bad.File != "" {
		return err
	}
	named := *bad
	named.File = r.r.File()
	return &named
}
