package segments

import "io"

const (
	// searchWindow is how much of a file is looked at at once.
	searchWindow = 256 << 10
	// A search may checksum searchEffort times the bytes that it searches, and at least
	// searchLeast: headers that promise long batches at every few bytes would otherwise
	// make it take for ever.
	searchEffort = 16
	searchLeast  = 256 << 20
)

// search looks, byte by byte, for the first good batch behind pos that continues the
// log. own is the header found at pos, whose records may carry batches as values.
func (x *examiner) search(pos int64, own BatchHeader) (candidate, error) {
	carried := newCarrier(x, pos, own)
	effort := max(searchLeast, searchEffort*(x.end-pos))
	buf := make([]byte, min(searchWindow, x.end-pos))
	for at := pos + 1; at < x.end; {
		n, err := readAtMost(x.f, buf, at, x.end)
		if err != nil || n <= magicAt {
			return noCandidate, err
		}
		if n < len(buf) {
			x.end = at + int64(n) // also if the file has become shorter
		}
		// The last bytes of a window are too few for a header; the next window begins
		// with them, unless this is where the file ends.
		stop := n - HeaderSize + 1
		if at+int64(n) >= x.end {
			stop = n - magicAt
		}
		next := at + int64(stop)
		for i := 0; i < stop; i++ {
			if buf[i+magicAt] > 2 {
				continue
			}
			h, ok := x.plausible(buf[i:min(i+HeaderSize, n)], at+int64(i))
			if !ok {
				continue
			}
			if effort -= h.Size(); effort < 0 {
				return noCandidate, errTooMuchToSearch
			}
			good, err := x.confirm(carried, h, at+int64(i))
			if err != nil || good.Position >= 0 {
				return good, err
			}
		}
		at = next
	}
	return noCandidate, nil
}

// confirm checks a plausible batch's checksum and that it is not carried.
func (x *examiner) confirm(carried *carrier, h BatchHeader, pos int64) (candidate, error) {
	ok, err := x.checkCRC(pos, h)
	if err != nil || !ok {
		return noCandidate, err
	}
	inside, err := carried.holds(h, pos)
	if err != nil || inside {
		return noCandidate, err
	}
	return candidate{h, pos}, nil
}

// readAtMost fills buf from at on, as far as the file reaches.
func readAtMost(f io.ReaderAt, buf []byte, at, end int64) (int, error) {
	n, err := f.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
	return n, ignoreShort(err)
}

// carrier tells batches of the log from batches that a bad batch carries in its
// records: it may have been cut off or damaged while its header and many of its records
// are as they were written.
type carrier struct {
	x     *examiner
	own   BatchHeader
	end   int64 // where the batch ends, by what it says
	plain bool  // header plausible, records not compressed

	at     int64 // where the next record begins
	from   int64 // the record before: where it begins
	to     int64 // and where it ends, by what it says
	record int32 // number of records read
}

func newCarrier(x *examiner, pos int64, own BatchHeader) *carrier {
	c := &carrier{x: x, own: own, end: pos + own.Size(), at: pos + HeaderSize}
	c.plain = c.claims() && own.Codec() == None
	return c
}

// claims reports whether the header is plausible enough to believe which offsets it
// claims.
func (c *carrier) claims() bool {
	h := c.own
	return h.Magic == 2 && h.Length >= minLengthV2 && h.BaseOffset >= c.x.next && inSegment(h, c.x.base) &&
		h.LastOffsetDelta >= 0 && h.Count >= 0 && int64(h.Count) <= int64(h.LastOffsetDelta)+1
}

// holds reports whether the batch h at pos is carried and not a part of the log. pos
// must not fall from call to call.
func (c *carrier) holds(h BatchHeader, pos int64) (bool, error) {
	if !c.claims() || pos+h.Size() > c.end {
		return false, nil
	}
	if h.BaseOffset >= c.own.BaseOffset && h.BaseOffset <= c.own.LastOffset() {
		return true, nil
	}
	for c.plain && c.to <= pos {
		if err := c.step(); err != nil {
			return false, err
		}
	}
	return c.plain && c.from < pos && pos+h.Size() <= c.to, nil
}

// step reads the next record's frame. plain becomes false where there is none that is
// sound: nothing behind is believed to be inside of the batch.
func (c *carrier) step() error {
	sound := c.record < c.own.Count
	if sound {
		var err error
		if c.to, sound, err = c.soundRecord(c.at); err != nil {
			return err
		}
	}
	if !sound {
		c.plain = false
		return nil
	}
	c.record++
	c.from, c.at = c.at, c.to
	return nil
}

// soundRecord returns where the record at pos ends and reports whether its fields fill
// it exactly, as far as the file reaches. A length damaged so that it swallows the next
// batch does not.
func (c *carrier) soundRecord(pos int64) (to int64, sound bool, err error) {
	r := fieldReader{x: c.x, pos: pos}
	to = int64(r.varint())
	to += r.pos
	if r.bad || to <= r.pos || to > c.end {
		return 0, false, r.err
	}
	r.skip(1) // attributes
	r.varlong()
	r.varint() // offset delta
	r.skip(int64(r.varint()))
	r.skip(int64(r.varint()))
	headers := r.varint()
	for ; headers > 0 && !r.bad; headers-- {
		r.skip(int64(r.varint()))
		r.skip(int64(r.varint()))
	}
	switch {
	case r.err != nil:
		return 0, false, r.err
	case r.short: // the file ends inside of the record
		return to, r.pos <= to && to > c.x.end, nil
	}
	return to, !r.bad && r.pos == to, nil
}

// fieldReader reads the small fields of a record from a file and skips the large ones.
type fieldReader struct {
	x     *examiner
	pos   int64
	bad   bool // what was read cannot be
	short bool // the file ended
	err   error

	buf [64]byte // bytes of the file from at on
	at  int64
	n   int
}

// skip passes over n bytes; a negative n is a null.
func (r *fieldReader) skip(n int64) {
	if n > 0 && !r.bad {
		r.pos += n
	}
	if r.pos > r.x.end {
		r.short, r.bad = true, true
	}
}

// field returns the bytes at the current position, enough for any varint unless the
// file ends.
func (r *fieldReader) field() []byte {
	if i := r.pos - r.at; i >= 0 && i+maxVarint64 <= int64(r.n) {
		return r.buf[i:r.n]
	}
	r.at = r.pos
	r.n, r.err = readAtMost(r.x.f, r.buf[:], r.at, max(r.x.end, r.at))
	return r.buf[:r.n]
}

func (r *fieldReader) varint() int32 {
	if r.bad {
		return 0
	}
	b := r.field()
	v, n := varint32(b, 0)
	r.advance(n, len(b), maxVarint32)
	return v
}

func (r *fieldReader) varlong() {
	if r.bad {
		return
	}
	b := r.field()
	_, n := varint64(b, 0)
	r.advance(n, len(b), maxVarint64)
}

// advance passes over a varint of n bytes, or notes why there was none in have bytes.
func (r *fieldReader) advance(n, have, most int) {
	switch {
	case r.err != nil:
		r.bad = true
	case n < 0:
		r.short, r.bad = have < most, true
	default:
		r.pos += int64(n)
	}
}
