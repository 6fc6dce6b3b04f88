package segments

import (
	"encoding/binary"
	"io"
	"math"
)

// TimeEntrySize is the size in bytes of one entry of a .timeindex file:
//
//	0  int64  timestamp in ms since the epoch
//	8  int32  offset, relative to the segment's base offset
const TimeEntrySize = 12

// TimeEntry says how far a segment reaches in time. Timestamp is the largest one in the
// segment up to the batch that was appended when the entry was made, Offset is the last
// offset of the first batch that reached it (older brokers: of the record itself), so
// every record with a larger timestamp has a larger offset.
type TimeEntry struct {
	Timestamp int64 // ms since the epoch
	Offset    int64
}

func parseTimeEntry(b []byte, base int64) TimeEntry {
	return TimeEntry{
		Timestamp: int64(binary.BigEndian.Uint64(b)),
		Offset:    base + int64(int32(binary.BigEndian.Uint32(b[8:]))),
	}
}

func appendTimeEntry(dst []byte, base int64, e TimeEntry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Timestamp))
	return binary.BigEndian.AppendUint32(dst, uint32(int32(e.Offset-base)))
}

// blank reports whether e is what preallocated space looks like. The very first entry
// of a file may be blank and yet mean something (a record of 1970-01-01 at the base
// offset); none behind it may, as timestamps rise.
func (e TimeEntry) blank(base int64) bool { return e.Timestamp == 0 && e.Offset == base }

func (e TimeEntry) used(base int64) bool { return e.Timestamp >= 0 && e.Offset >= base }

// LookupTime finds the last entry with a timestamp <= ts in the .timeindex file f of
// size bytes, which belongs to the segment with the given base offset. ok is false if
// there is none: the search then starts at the segment's base offset.
//
// As with LookupOffset the answer is a place to start. Errors are those of reading f.
func LookupTime(f io.ReaderAt, size, base, ts int64) (e TimeEntry, ok bool, err error) {
	i, err := searchEntries(f, size, TimeEntrySize, func(b []byte) bool {
		e := parseTimeEntry(b, base)
		return !e.used(base) || e.blank(base) || e.Timestamp > ts
	})
	if err != nil {
		return TimeEntry{}, false, err
	}
	if i > 0 {
		i--
	}
	// An index of 0 may also stand for a first entry that looks blank, or for a first
	// entry beyond ts: timeEntryAt tells them apart.
	return timeEntryAt(f, size, base, i, ts)
}

// LastTimeEntry returns the last entry of a .timeindex file: of a sealed segment, its
// largest timestamp. See LookupTime; a missing or empty file says nothing about the
// segment.
func LastTimeEntry(f io.ReaderAt, size, base int64) (e TimeEntry, ok bool, err error) {
	return LookupTime(f, size, base, math.MaxInt64)
}

func timeEntryAt(f io.ReaderAt, size, base, i, ts int64) (TimeEntry, bool, error) {
	if size < (i+1)*TimeEntrySize {
		return TimeEntry{}, false, nil
	}
	var b [TimeEntrySize]byte
	if err := readFullAt(f, b[:], i*TimeEntrySize); err != nil {
		return TimeEntry{}, false, ignoreShort(err)
	}
	e := parseTimeEntry(b[:], base)
	if !e.used(base) || e.Timestamp > ts {
		return TimeEntry{}, false, nil
	}
	// Preallocated space is longer than one entry.
	if e.blank(base) && (i > 0 || size > TimeEntrySize) {
		return TimeEntry{}, false, nil
	}
	return e, true, nil
}
