package segments

import (
	"io"
	"math"
)

// LastOptions say which records LastN counts.
type LastOptions struct {
	// From and Until bound the offsets; Until is exclusive.
	From, Until int64
	// Committed leaves out the records of aborted transactions.
	Committed bool
	// Keep, where it is not nil, says whether a record counts. Its argument lives for
	// the call only.
	Keep func(*Record) bool
	// MaxDecompressed bounds one decompressed batch; 0 is DefaultMaxDecompressed.
	MaxDecompressed int
}

// LastN returns the offset at which the last n records that count begin, and how many
// count from there on: fewer than n if there are no more. Holes, control records and
// damage are passed over, so it reads backwards what it needs to count, piece by
// piece, with the offset index where there is one; memory does not grow with n.
func (l *Log) LastN(n int64, o LastOptions) (offset, count int64, err error) {
	if n <= 0 || o.Until <= o.From {
		return max(o.From, o.Until), 0, nil
	}
	c := counter{l: l, o: o}
	c.d.MaxBytes = o.MaxDecompressed
	for upper := o.Until; upper > o.From; {
		seg, ok, err := l.segmentAt(upper - 1)
		if err != nil {
			return 0, 0, err
		}
		base := o.From
		if first, _, _ := l.set.ends(); ok && seg.Base > first {
			base = max(seg.Base, o.From)
		}
		for piece := int64(lastPiece); upper > base; piece *= 2 {
			lower, err := l.pieceStart(seg.Base, upper, piece)
			if err != nil {
				return 0, 0, err
			}
			lower = max(lower, base)
			got, err := c.count(lower, upper)
			if err != nil {
				return 0, 0, err
			}
			if count+got >= n {
				offset, err = c.skip(lower, upper, count+got-n)
				return offset, n, err
			}
			count += got
			upper = lower
		}
	}
	return o.From, count, nil
}

// lastPiece is how many bytes are looked at first.
const lastPiece = 32 << 10

// pieceStart is an offset of the segment at base so far below upper that about size
// bytes lie between: the segment's first one if that is nearer, or nothing is known.
// Any answer is right as long as it is below upper.
func (l *Log) pieceStart(base, upper, size int64) (int64, error) {
	f, err := openRegular(l.fs, l.path(base, IndexSuffix))
	if err != nil {
		return base, passOver(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return base, err
	}
	e, ok, err := LookupOffset(f, info.Size(), base, upper-1)
	if err != nil || !ok || e.Position <= size {
		return base, err
	}
	i, err := searchEntries(f, info.Size(), OffsetEntrySize, func(b []byte) bool {
		x := parseOffsetEntry(b, base)
		return !x.used(base) || x.Position > e.Position-size
	})
	if err != nil || i == 0 {
		return base, err
	}
	e, ok, err = offsetEntryAt(f, base, i-1, upper-1)
	if err != nil || !ok {
		return base, err
	}
	return e.Offset, nil
}

// counter counts records in runs of offsets.
type counter struct {
	l   *Log
	o   LastOptions
	d   Decoder
	rec Record
}

// count is the number of records that count with offsets in [lower, upper).
func (c *counter) count(lower, upper int64) (n int64, err error) {
	err = c.walk(lower, upper, func(b Batch) (bool, error) {
		m, _ := c.inBatch(b, lower, upper, math.MaxInt64)
		n += m
		return true, nil
	})
	return n, err
}

// skip is the offset of the record that has n records before it in [lower, upper).
func (c *counter) skip(lower, upper, n int64) (offset int64, err error) {
	offset = upper
	err = c.walk(lower, upper, func(b Batch) (bool, error) {
		m, at := c.inBatch(b, lower, upper, n)
		if m > n {
			offset = at
			return false, nil
		}
		n -= m
		return true, nil
	})
	return offset, err
}

// walk calls visit with each batch that may hold records in [lower, upper), until that
// returns false.
func (c *counter) walk(lower, upper int64, visit func(Batch) (bool, error)) error {
	r := c.l.Reader(lower)
	defer r.Close()
	var aborted *AbortFilter
	if c.o.Committed {
		aborted = c.l.AbortFilter()
		defer aborted.Close()
	}
	for {
		b, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			if err := r.skip(err); err != nil {
				return err
			}
			continue
		case b.Magic == 2 && b.BaseOffset >= upper:
			return nil
		}
		if hidden, err := aborted.Hides(b); err != nil {
			return err
		} else if hidden {
			continue
		}
		if more, err := visit(b); err != nil || !more || b.LastOffset() >= upper-1 {
			return err
		}
	}
}

// inBatch counts the batch's records in [lower, upper) and returns the offset of the
// one that has nth before it. Where all of them count the header is enough.
func (c *counter) inBatch(b Batch, lower, upper, nth int64) (n, offset int64) {
	whole := b.Magic == 2 && b.BaseOffset >= lower && b.LastOffset() < upper && c.o.Keep == nil
	if whole && int64(b.Count) <= nth {
		return int64(b.Count), 0
	}
	for c.d.Open(b); c.d.Next(&c.rec); {
		if c.rec.Offset < lower || c.rec.Offset >= upper || c.o.Keep != nil && !c.o.Keep(&c.rec) {
			continue
		}
		if n == nth {
			offset = c.rec.Offset
		}
		n++
	}
	return n, offset
}
