package segments

import "math"

// IndexState is what decides when a segment's indexes get an entry. It is plain values,
// so that it can be kept beside a log and taken up again by another process.
//
// A segment's indexes depend on nothing but its batches and the interval: appending,
// recovery and verification come to the same bytes, which are also Kafka's.
type IndexState struct {
	SinceEntry    int64 // bytes of log since the last .index entry
	MaxTimestamp  int64 // largest timestamp in the segment; -1: none
	OffsetOfMax   int64 // last offset of the first batch that reached it; -1: none
	LastTimeEntry int64 // timestamp of the last .timeindex entry; -1: none
	OffsetEntries int64 // entries in .index
	TimeEntries   int64 // entries in .timeindex
}

// NewIndexState is the state of an empty segment.
func NewIndexState() IndexState {
	return IndexState{MaxTimestamp: -1, OffsetOfMax: -1, LastTimeEntry: -1}
}

// Add takes note of a batch that lies at position pos of the segment with the given
// base offset, and appends the entries that are due to idx and tidx, encoded.
// interval is index.interval.bytes.
//
// The bytes since the last entry are compared before the batch is counted, so the
// first batch of a segment never gets one.
func (s *IndexState) Add(h BatchHeader, base, pos int64, interval int, idx, tidx []byte) (index, timeIndex []byte) {
	if h.MaxTimestamp > s.MaxTimestamp {
		s.MaxTimestamp, s.OffsetOfMax = h.MaxTimestamp, h.LastOffset()
	}
	if s.SinceEntry > int64(interval) && indexable(h.LastOffset(), base, pos) {
		idx = appendOffsetEntry(idx, base, OffsetEntry{Offset: h.LastOffset(), Position: pos})
		s.OffsetEntries++
		tidx = s.timeEntry(base, tidx)
		s.SinceEntry = 0
	}
	s.SinceEntry += h.Size()
	return idx, tidx
}

// indexable reports whether offset and position fit the 31 bits that an entry has for
// each. What does not fit is found by scanning from the last entry that did.
func indexable(offset, base, pos int64) bool {
	return offset-base <= math.MaxInt32 && pos <= math.MaxInt32
}

// Seal appends the last entry of .timeindex, which a segment gets when it is rolled,
// closed or recovered: its largest timestamp, if that is not the last entry already.
func (s *IndexState) Seal(base int64, tidx []byte) []byte {
	return s.timeEntry(base, tidx)
}

// timeEntry appends an entry for the largest timestamp if it is larger than that of
// the last entry.
func (s *IndexState) timeEntry(base int64, tidx []byte) []byte {
	if s.MaxTimestamp <= s.LastTimeEntry || s.OffsetOfMax-base > math.MaxInt32 {
		return tidx
	}
	s.LastTimeEntry = s.MaxTimestamp
	s.TimeEntries++
	return appendTimeEntry(tidx, base, TimeEntry{Timestamp: s.MaxTimestamp, Offset: s.OffsetOfMax})
}

// Full reports whether an index of at most size bytes (segment.index.bytes) has no
// room for another entry; the segment is then rolled before the next append. One slot
// of .timeindex is kept for the entry that Seal writes.
func (s IndexState) Full(size int64) bool {
	return s.OffsetEntries >= size/OffsetEntrySize || s.TimeEntries >= size/TimeEntrySize-1
}
