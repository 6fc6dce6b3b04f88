package segments

import (
	"errors"
	"io"
)

// Tail is what ExamineTail says about a piece of a segment file that begins where no
// good batch does.
type Tail struct {
	// Torn: the piece is the rest of an append that was never finished, and reaches to
	// the end of the file. To a reader it is the end of the log; the next writer cuts
	// it off. Otherwise it is damage, which stays where it is.
	Torn bool
	// End is where the piece ends: where the next good batch begins, where something
	// else begins that has to be examined for itself, or the end of the file.
	End int64
	// NextBase is the base offset of the good batch at End, -1 if there is none.
	NextBase int64
	// Offsets is how many offsets the piece used up for certain: those of a batch whose
	// checksum is right. The log must not hand them out again.
	Offsets int64
}

// ExamineTail decides about the bytes at pos of the segment file f, where a Scanner
// found no good batch: is it a torn tail or damage, and where does the log go on? base
// is the segment's base offset, end the end of the file, next the offset that the good
// batch before leads to, and laterSegment whether the log has a segment behind this
// one.
//
// It is damage if there is a later segment; if the batch's checksum is right and only
// its place or magic wrong; or if a good batch with an offset >= next begins anywhere
// behind. Batches that were carried as the value of a record must not be taken for
// log: those with an offset that the bad batch's own header claims for itself, and
// those that lie inside a record of it, do not count.
//
// Memory is bounded. Errors are those of reading f.
func ExamineTail(f io.ReaderAt, base, pos, end, next int64, laterSegment bool) (Tail, error) {
	x := examiner{f: f, base: base, end: end, next: next}
	own, err := x.headerAt(pos)
	if err != nil {
		return Tail{}, err
	}
	magic, err := x.checksumOf(pos, own)
	if err != nil {
		return Tail{}, err
	}
	if magic >= 0 {
		return x.wholeButWrong(pos, own, magic)
	}
	// The announced length is looked at first: it is right more often than not, and
	// where it is, nothing inside of the batch can mislead us.
	if announced := pos + own.Size(); own.Length >= minLengthV0 && announced < end {
		t, found, err := x.landing(announced)
		if err != nil || found {
			return t, err
		}
	}
	found, err := x.search(pos, own)
	switch {
	case errors.Is(err, errTooMuchToSearch):
		return Tail{End: end, NextBase: -1}, nil
	case err != nil:
		return Tail{}, err
	case found.Position >= 0:
		return Tail{End: found.Position, NextBase: found.BaseOffset}, nil
	}
	return Tail{Torn: !laterSegment, End: end, NextBase: -1}, nil
}

// errTooMuchToSearch means that the bytes look like batches so often that finding out
// takes too long. What is undecided is left alone, as damage is.
var errTooMuchToSearch = errors.New("too many bytes that look like batches")

// examiner looks for batches in bytes that are not to be trusted.
type examiner struct {
	f    io.ReaderAt
	base int64
	end  int64
	next int64  // lowest offset with which a batch continues the log
	buf  []byte // scratch for checksums
}

// headerAt reads the header at pos, whatever it says. Where the file ends before, the
// length is 0.
func (x *examiner) headerAt(pos int64) (BatchHeader, error) {
	var b [HeaderSize]byte
	n := min(HeaderSize, x.end-pos)
	if n <= magicAt {
		return BatchHeader{}, nil
	}
	if err := readFullAt(x.f, b[:n], pos); err != nil {
		return BatchHeader{}, ignoreShort(err)
	}
	return parseHeaderV2(b[:]), nil
}

// checksumOf returns the magic for which the checksum of the batch with the header h,
// as far as it can be one, is right, or -1. Magic 2 does not cover the magic itself, so
// whatever stands there may be a damaged 2.
func (x *examiner) checksumOf(pos int64, h BatchHeader) (int8, error) {
	if h.Length < minLengthV0 || h.Size() > x.end-pos {
		return -1, nil
	}
	for _, m := range [...]int8{2, h.Magic} {
		if m < 0 || m > 2 || m == 2 && h.Length < minLengthV2 {
			continue
		}
		h.Magic = m
		ok, err := x.checkCRC(pos, h)
		if err != nil {
			return -1, err
		}
		if ok {
			return m, nil
		}
	}
	return -1, nil
}

func (x *examiner) checkCRC(pos int64, h BatchHeader) (bool, error) {
	if n := min(scanBuffer, h.Size()); int64(len(x.buf)) < n {
		x.buf = make([]byte, n)
	}
	ok, err := checkCRCAt(x.f, pos, h, x.buf)
	return ok, ignoreShort(err)
}

// wholeButWrong is the verdict on a batch at pos whose bytes are as they were written
// and whose offset, magic or counts cannot be right.
// magic is the one that it was written with.
func (x *examiner) wholeButWrong(pos int64, h BatchHeader, magic int8) (Tail, error) {
	t := Tail{End: pos + h.Size(), NextBase: -1, Offsets: 1}
	if magic == 2 {
		t.Offsets = max(0, int64(h.LastOffsetDelta)+1)
	}
	good, err := x.goodAt(t.End)
	if good.Position >= 0 {
		t.NextBase = good.BaseOffset
	}
	return t, err
}

// landing is the verdict if the batch before pos ends there as it says: found is true
// if something whole begins at pos.
func (x *examiner) landing(pos int64) (t Tail, found bool, err error) {
	good, err := x.goodAt(pos)
	if err != nil {
		return Tail{}, false, err
	}
	if good.Position >= 0 {
		return Tail{End: pos, NextBase: good.BaseOffset}, true, nil
	}
	h, err := x.headerAt(pos)
	if err != nil {
		return Tail{}, false, err
	}
	magic, err := x.checksumOf(pos, h)
	return Tail{End: pos, NextBase: -1}, magic >= 0, err
}

// candidate is a good batch found; Position -1 stands for none.
type candidate struct {
	BatchHeader
	Position int64
}

var noCandidate = candidate{Position: -1}

// goodAt returns the batch at pos if it is one that continues the log.
func (x *examiner) goodAt(pos int64) (candidate, error) {
	var b [HeaderSize]byte
	n := min(HeaderSize, x.end-pos)
	if n <= magicAt {
		return noCandidate, nil
	}
	if err := readFullAt(x.f, b[:n], pos); err != nil {
		return noCandidate, ignoreShort(err)
	}
	h, ok := x.plausible(b[:n], pos)
	if !ok {
		return noCandidate, nil
	}
	ok, err := x.checkCRC(pos, h)
	if err != nil || !ok {
		return noCandidate, err
	}
	return candidate{h, pos}, nil
}

// plausible reads a header and reports whether, its checksum apart, it is one of a good
// batch that continues the log. It is asked at every byte, so the fields least likely
// to be right by chance come first.
func (x *examiner) plausible(b []byte, pos int64) (BatchHeader, bool) {
	if b[magicAt] > 2 {
		return BatchHeader{}, false
	}
	h, err := parsePrefix(b)
	if err != nil || h.BaseOffset < x.next || !inSegment(h, x.base) || h.Size() > x.end-pos {
		return BatchHeader{}, false
	}
	full, err := parseHeader(b, pos)
	return full.BatchHeader, err == nil && inSegment(full.BatchHeader, x.base)
}

// LogEnd is where a segment's log ends, and what stands in its way.
type LogEnd struct {
	// Position is where the next batch is to be written: behind the last good batch, or
	// behind damage that the file ends with.
	Position int64
	// Torn is the number of bytes behind Position that are a torn tail.
	Torn int64
	// Next is the lowest offset that the next batch may get: it follows the last good
	// batch, and skips what damaged batches used up.
	Next int64
	// Last is the header of the last good batch and LastPosition where it begins; -1 if
	// there was none.
	Last         BatchHeader
	LastPosition int64
	// Damage names each damaged piece, first to last.
	Damage []*CorruptError
}

// FindEnd reads with s to the end of its segment, over all damage, and says where the
// log ends. laterSegment is as for ExamineTail. visit, which may be nil, is called with
// each good batch; an error of it ends the search.
func FindEnd(s *Scanner, laterSegment bool, visit func(Batch) error) (LogEnd, error) {
	e := LogEnd{LastPosition: -1}
	skipped := int64(0) // offsets used up by damage since the last good batch
	highest := s.next
	for {
		b, err := s.Next()
		var bad *CorruptError
		switch {
		case err == nil:
			e.Last, e.LastPosition = b.BatchHeader, b.Position
			highest, skipped = max(highest, s.next), 0
			if visit != nil {
				if err := visit(b); err != nil {
					return e, err
				}
			}
			continue
		case err == io.EOF:
			e.Position, e.Next = s.pos, highest
			return e, nil
		case !errors.As(err, &bad):
			return e, err
		}
		t, err := ExamineTail(s.f, s.base, s.pos, s.end, s.next, laterSegment)
		if err != nil {
			return e, err
		}
		if t.Torn {
			e.Position, e.Torn, e.Next = s.pos, s.end-s.pos, highest
			return e, nil
		}
		skipped += t.Offsets
		highest = max(highest, s.next+skipped)
		e.Damage = append(e.Damage, t.describe(bad))
		s.Resume(t.End, s.next)
	}
}

// describe completes what the Scanner said about the piece.
func (t Tail) describe(bad *CorruptError) *CorruptError {
	c := *bad
	c.Size = t.End - c.Position
	if t.NextBase > c.FirstOffset {
		c.LastOffset = t.NextBase - 1
	}
	return &c
}
