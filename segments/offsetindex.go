package segments

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sort"
)

// OffsetEntrySize is the size in bytes of one entry of an .index file:
//
//	0  int32  offset, relative to the segment's base offset
//	4  int32  position in the .log file
const OffsetEntrySize = 8

// OffsetEntry says where a batch lies. Offset is the last offset of the batch, Position
// is where the batch starts; every batch that starts before Position has only offsets
// below Offset. (Brokers before 4.1 wrote one entry for several batches appended at
// once: the last offset of all, the position of the first.)
type OffsetEntry struct {
	Offset   int64
	Position int64
}

func parseOffsetEntry(b []byte, base int64) OffsetEntry {
	return OffsetEntry{
		Offset:   base + int64(int32(binary.BigEndian.Uint32(b))),
		Position: int64(int32(binary.BigEndian.Uint32(b[4:]))),
	}
}

func appendOffsetEntry(dst []byte, base int64, e OffsetEntry) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(int32(e.Offset-base)))
	return binary.BigEndian.AppendUint32(dst, uint32(int32(e.Position)))
}

// used reports whether e can be an entry at all. The first batch of a segment is never
// indexed, so position 0 is the mark of preallocated space.
func (e OffsetEntry) used(base int64) bool { return e.Position > 0 && e.Offset >= base }

// LookupOffset finds the last entry with an offset <= target in the .index file f of
// size bytes, which belongs to the segment with the given base offset. ok is false if
// there is none: the search then starts at the segment's first byte.
//
// The file may be preallocated, damaged or from another time: nothing that it says is
// more than a place to start, which the caller checks against the log (CheckOffsetEntry).
// Errors are those of reading f.
func LookupOffset(f io.ReaderAt, size, base, target int64) (e OffsetEntry, ok bool, err error) {
	i, err := searchEntries(f, size, OffsetEntrySize, func(b []byte) bool {
		e := parseOffsetEntry(b, base)
		return !e.used(base) || e.Offset > target
	})
	if err != nil || i == 0 {
		return OffsetEntry{}, false, err
	}
	return offsetEntryAt(f, base, i-1, target)
}

// LastOffsetEntry returns the last entry of an .index file; see LookupOffset.
func LastOffsetEntry(f io.ReaderAt, size, base int64) (e OffsetEntry, ok bool, err error) {
	return LookupOffset(f, size, base, math.MaxInt64)
}

func offsetEntryAt(f io.ReaderAt, base, i, target int64) (OffsetEntry, bool, error) {
	var b [OffsetEntrySize]byte
	if err := readFullAt(f, b[:], i*OffsetEntrySize); err != nil {
		return OffsetEntry{}, false, ignoreShort(err)
	}
	e := parseOffsetEntry(b[:], base)
	return e, e.used(base) && e.Offset <= target, nil
}

// CheckOffsetEntry reports whether a whole, CRC-valid batch whose offsets end at or
// below e.Offset begins at e.Position of the log file f of size bytes, so that a scan
// for an offset >= e.Offset may start there. Errors are those of reading f.
func CheckOffsetEntry(f io.ReaderAt, size, base int64, e OffsetEntry) (bool, error) {
	if !e.used(base) || e.Position >= size {
		return false, nil
	}
	s := NewScanner(f, "", base, e.Position, size, base)
	b, err := s.Next()
	if err != nil {
		return false, ignoreDamage(err)
	}
	return b.LastOffset() <= e.Offset, nil
}

// searchEntries returns the index of the first entry for which past is true, or the
// number of whole entries in the file. past must be false up to some entry and true
// from there on; where damage breaks that, the result is any entry's index. A file
// that is shorter than size says is as long as it is.
func searchEntries(f io.ReaderAt, size, entry int64, past func(b []byte) bool) (int64, error) {
	const block = 512 // entries that are read at once when so few are left
	lo, hi := int64(0), size/entry
	var one [TimeEntrySize]byte
	for hi-lo > block {
		mid := int64(uint64(lo+hi) >> 1)
		err := readFullAt(f, one[:entry], mid*entry)
		if err != nil && ignoreShort(err) != nil {
			return 0, err
		}
		if err != nil || past(one[:entry]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	buf := make([]byte, (hi-lo)*entry)
	n, err := f.ReadAt(buf, lo*entry)
	if err != nil && ignoreShort(err) != nil {
		return 0, err
	}
	got := n / int(entry)
	i := sort.Search(got, func(i int) bool { return past(buf[i*int(entry):][:entry]) })
	return lo + int64(i), nil
}

// readFullAt fills b from off on. A file that ends before gives io.EOF or
// io.ErrUnexpectedEOF.
func readFullAt(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF && n > 0:
		return io.ErrUnexpectedEOF
	case err == nil:
		return fmt.Errorf("read %d of %d bytes: %w", n, len(b), io.ErrNoProgress)
	}
	return err
}

// ignoreShort makes the end of a file no error: files shrink while they are read.
func ignoreShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}
