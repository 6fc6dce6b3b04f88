package segments

import (
	"errors"
	"hash/crc32"
	"io"
)

const (
	// scanBuffer is how much a Scanner reads at once.
	scanBuffer = 512 << 10
	// scanAheadLarge is how much it reads for the header of one large batch.
	scanAheadLarge = 4 << 10
	// scanTrust is the size from which a batch is checksummed piece by piece before
	// memory is taken for the whole: a length is not believed because it is there.
	scanTrust = 4 << 20
	// maxSegmentSpan bounds how far an offset may lie above its segment's base offset.
	// Index entries hold 31 bits and no writer goes beyond, but segments that do exist
	// from old brokers and are read; far beyond it lies only damage.
	maxSegmentSpan = 1<<32 - 1
)

// ScanMode says how much of each batch a Scanner reads.
type ScanMode int

const (
	// ScanCRC reads whole batches and checks their checksums.
	ScanCRC ScanMode = iota
	// ScanNoCRC reads whole batches and leaves the checksums alone.
	ScanNoCRC
	// ScanHeaders reads headers only: Raw holds the first bytes of the batch, at most
	// HeaderSize. Nothing is known about the rest but that the file is long enough.
	ScanHeaders
	// ScanSums checks checksums as ScanCRC does, but of large batches Raw holds the
	// header only: they are not held in memory.
	ScanSums
)

// Scanner reads the batches of one segment file in order. It checks what the headers
// say strictly and decodes no record. It never reads behind the end that it was given,
// so that it sees the same log however fast the file grows.
//
// A Scanner belongs to one goroutine.
type Scanner struct {
	f    io.ReaderAt
	file string
	mode ScanMode
	base int64 // the segment's base offset
	pos  int64 // where the next batch begins
	end  int64 // where the file ends, as far as we shall look
	next int64 // lowest offset that the next batch may have

	last  int64  // size of the last batch
	once  int64  // how much to read at once; 0: scanBuffer
	buf   []byte // bytes of the file from bufAt on
	bufAt int64
	err   error // what Next goes on to return
}

// NewScanner returns a Scanner for the segment with the given base offset in f, which
// error messages call file. It starts at position from, where a batch begins, and ends
// at end; next is the lowest offset that the first batch may have.
func NewScanner(f io.ReaderAt, file string, base, from, end, next int64) *Scanner {
	return &Scanner{f: f, file: file, base: base, pos: from, end: end, next: next}
}

// SetMode changes how much is read of the batches that follow.
func (s *Scanner) SetMode(m ScanMode) { s.mode = m }

// Position is the end of the good run so far: where the batch that Next returned last
// ends, or where the one begins that it refused.
func (s *Scanner) Position() int64 { return s.pos }

// NextOffset is the offset that follows the last batch: the lowest that the next one
// may have.
func (s *Scanner) NextOffset() int64 { return s.next }

// End is the end of the file as the Scanner knows it: what it was given, or less if
// the file turned out to be shorter.
func (s *Scanner) End() int64 { return s.end }

// SetEnd tells the Scanner where the file ends now and lets it go on from its
// Position, also after io.EOF or an error. Bytes read ahead are read again: a writer
// may have cut a torn tail and written something else.
func (s *Scanner) SetEnd(end int64) {
	s.end, s.err, s.buf = end, nil, s.buf[:0]
}

// Resume goes on at position pos with next as the lowest offset, also after an error.
func (s *Scanner) Resume(pos, next int64) {
	s.pos, s.next, s.err = pos, next, nil
}

// Next returns the next batch. Its Raw is valid until the next call of any method that
// changes the Scanner.
//
// At the end it returns io.EOF. Where no good batch begins it returns a *CorruptError
// whose Reason is one of "truncated header", "bad length", "bad magic", "truncated
// batch", "bad crc", "bad record count", "bad last offset delta", "offset out of range
// for the segment" and "offset not increasing", in this order of checks; ExamineTail
// tells whether it is damage. Any other error is one of reading. Errors stay until
// SetEnd or Resume.
func (s *Scanner) Next() (Batch, error) {
	if s.err != nil {
		return Batch{}, s.err
	}
	b, err := s.read()
	if err == nil {
		err = s.place(b.BatchHeader)
	}
	if err != nil {
		s.err = s.fault(err)
		return Batch{}, s.err
	}
	s.last = b.Size()
	s.pos += s.last
	s.next = b.LastOffset() + 1
	return b, nil
}

// fault makes a verdict an error with a place.
func (s *Scanner) fault(err error) error {
	var v headerError
	if !errors.As(err, &v) {
		return err
	}
	return &CorruptError{File: s.file, Position: s.pos, FirstOffset: s.next, LastOffset: -1, Reason: string(v)}
}

// place checks a batch's offsets against the segment and the batches before.
func (s *Scanner) place(h BatchHeader) error {
	switch {
	case !inSegment(h, s.base):
		return errOffsetRange
	case h.BaseOffset < s.next:
		return errOffsetOrder
	}
	return nil
}

// inSegment reports whether the offsets of h can lie in the segment at all.
func inSegment(h BatchHeader, base int64) bool {
	return h.BaseOffset >= base && h.BaseOffset-base <= maxSegmentSpan && h.LastOffset() >= h.BaseOffset
}

// read returns the batch at the current position, checked for itself.
func (s *Scanner) read() (Batch, error) {
	if s.pos >= s.end {
		return Batch{}, io.EOF
	}
	head, err := s.bytes(HeaderSize)
	if err != nil {
		return Batch{}, err
	}
	h, err := parsePrefix(head)
	switch {
	case len(head) == 0: // the file became shorter
		return Batch{}, io.EOF
	case err != nil:
		return Batch{}, err
	case h.Size() > s.end-s.pos:
		return Batch{}, errTruncatedBatch
	case s.mode == ScanHeaders:
		return parseHeader(head, s.pos)
	}
	if sums := s.mode == ScanCRC || s.mode == ScanSums; h.Size() <= scanTrust || !sums {
		return s.whole(h.Size(), sums)
	}
	ok, err := checkCRCAt(s.f, s.pos, h, make([]byte, scanBuffer))
	switch {
	case err == io.ErrUnexpectedEOF:
		return Batch{}, errTruncatedBatch
	case err != nil:
		return Batch{}, err
	case !ok:
		return Batch{}, errBadCRC
	case s.mode == ScanSums:
		return parseHeader(head, s.pos)
	}
	return s.whole(h.Size(), false)
}

// parseHeader is ParseBatch for a batch of which only the header was read.
func parseHeader(head []byte, pos int64) (Batch, error) {
	b := Batch{Position: pos, Raw: head}
	if int8(head[magicAt]) < 2 {
		b.BatchHeader = parseLegacyHeader(head)
		return b, nil
	}
	b.BatchHeader = parseHeaderV2(head)
	switch {
	case b.Count < 0:
		return b, errBadCount
	case b.LastOffsetDelta < 0:
		return b, errBadDelta
	}
	return b, nil
}

// whole reads the batch of the given size. The checksum is looked at before the fields
// that it covers.
func (s *Scanner) whole(size int64, crc bool) (Batch, error) {
	raw, err := s.bytes(size)
	if err != nil {
		return Batch{}, err
	}
	b, err := ParseBatch(raw, s.pos)
	if b.Raw != nil && crc && !b.CheckCRC() {
		return Batch{}, errBadCRC
	}
	return b, err
}

// bytes returns n bytes at the current position, or as many as the file has. If it
// ends before the end that we were told, that is the end.
func (s *Scanner) bytes(n int64) ([]byte, error) {
	n = min(n, s.end-s.pos)
	at := s.pos - s.bufAt
	if at >= 0 && at+n <= int64(len(s.buf)) {
		return s.buf[at : at+n], nil
	}
	want := s.makeRoom(n)
	have := len(s.buf)
	got, err := s.f.ReadAt(s.buf[have:want], s.pos+int64(have))
	s.buf = s.buf[:have+got]
	if int64(len(s.buf)) >= n {
		return s.buf[:n], nil
	}
	if err != io.EOF {
		return nil, err
	}
	s.end = s.pos + int64(len(s.buf))
	return s.buf, nil
}

// makeRoom moves what is buffered from the current position on to the front of a
// buffer that has room for n bytes, and returns how much to have in it: more than n,
// unless batches are large and only their headers wanted.
func (s *Scanner) makeRoom(n int64) int64 {
	var keep []byte
	if at := s.pos - s.bufAt; at >= 0 && at < int64(len(s.buf)) {
		keep = s.buf[at:]
	}
	ahead := int64(scanBuffer)
	if s.once > 0 {
		ahead = s.once
	}
	switch {
	case s.last <= scanBuffer/4:
	case s.mode == ScanHeaders:
		ahead = scanAheadLarge
	case s.once == 0:
		// Fewer large batches that are cut by the buffer's end and have to be moved.
		ahead = min(4*s.last, scanTrust/2)
	}
	room := min(max(n, ahead, int64(len(keep))), s.end-s.pos)
	have := int64(cap(s.buf))
	if have < room || have >= hugeBytes && room < have/4 {
		s.buf = newBuffer(taken(&s.buf), keep, int(max(room, scanAheadLarge)))
	} else {
		s.buf = append(s.buf[:0], keep...)
	}
	s.bufAt = s.pos
	return room
}

// checkCRCAt reports whether the checksum of the batch at pos, whose length is known
// to fit the file, is right. buf is scratch; no more is held in memory.
func checkCRCAt(f io.ReaderAt, pos int64, h BatchHeader, buf []byte) (bool, error) {
	from, table, crcAt := int64(crcFrom), crc32.MakeTable(crc32.Castagnoli), int64(magicAt+1)
	if h.Magic == 0 || h.Magic == 1 {
		from, table, crcAt = magicAt, crc32.IEEETable, prefixSize
	}
	var stored [4]byte
	if err := readFullAt(f, stored[:], pos+crcAt); err != nil {
		return false, eofIsUnexpected(err)
	}
	size := h.Size()
	crc := uint32(0)
	for from < size {
		p := buf[:min(int64(len(buf)), size-from)]
		if err := readFullAt(f, p, pos+from); err != nil {
			return false, eofIsUnexpected(err)
		}
		crc = crc32.Update(crc, table, p)
		from += int64(len(p))
	}
	want := uint32(stored[0])<<24 | uint32(stored[1])<<16 | uint32(stored[2])<<8 | uint32(stored[3])
	return crc == want, nil
}

func eofIsUnexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ignoreDamage leaves the errors of reading: the end of the log and what is wrong in it
// are none.
func ignoreDamage(err error) error {
	if err == io.EOF || errors.Is(err, ErrCorrupt) {
		return nil
	}
	return err
}
