package segments

import (
	"io"
	"math"
)

// OffsetForTime finds the first record at or behind offset from whose timestamp, in ms,
// is at or after ts, in the order of offsets: timestamps need not rise. found is false
// if there is none up to the end as it is now. Control records do not count, nor do
// damaged ones.
//
// Segments whose largest timestamp is known to be too small are not opened; in the
// others the time index says where to begin, where it is found to be right.
func (l *Log) OffsetForTime(ts, from int64) (offset int64, found bool, err error) {
	r := l.Reader(from)
	defer r.Close()
	for {
		s, end, ok, err := l.segmentReaching(from, ts)
		if err != nil || !ok {
			return 0, false, err
		}
		offset, found, err = l.firstInSegment(r, s, end, ts, from)
		if found || err != nil || end == math.MaxInt64 {
			return offset, found, err
		}
		from = end
	}
}

// firstInSegment looks for the record in one segment, which ends at the offset end, or
// behind it where that was the last one.
func (l *Log) firstInSegment(r *LogReader, s SegmentInfo, end, ts, from int64) (offset int64, found bool, err error) {
	past, err := l.allBefore(s, end, ts)
	if past || err != nil {
		return 0, false, err
	}
	start, err := l.timeStart(s.Base, ts)
	if err != nil {
		return 0, false, err
	}
	start = max(from, start)
	r.SeekTo(start)
	return r.firstSince(ts, start, end)
}

// firstSince reads on up to the offset end for a record at or behind from with a
// timestamp >= ts.
func (r *LogReader) firstSince(ts, from, end int64) (int64, bool, error) {
	var d Decoder
	var rec Record
	for {
		b, err := r.Next()
		switch {
		case err == io.EOF:
			return 0, false, nil
		case err != nil:
			if err := r.skip(err); err != nil {
				return 0, false, err
			}
			continue
		case b.BaseOffset >= end && b.Magic == 2:
			return 0, false, nil
		case b.Control() || b.MaxTimestamp < ts:
			continue
		}
		for d.Open(b); d.Next(&rec); {
			if rec.Timestamp >= ts && rec.Offset >= from {
				return rec.Offset, true, nil
			}
		}
	}
}

// allBefore reports whether every timestamp of the segment is known to be below ts.
// end is where the next segment begins, MaxInt64 if there is none: such a segment
// still grows.
func (l *Log) allBefore(s SegmentInfo, end, ts int64) (bool, error) {
	switch {
	case end == math.MaxInt64:
		return false, nil
	case s.MaxTimestamp != UnknownTimestamp:
		return false, nil // or it would not have come here
	}
	e, ok, err := l.timeEntry(s.Base, math.MaxInt64)
	if err != nil || !ok || e.Timestamp >= ts {
		return false, err
	}
	// The last entry speaks for the whole segment if it was written when that was
	// sealed. A shorter index does not say so: what lies behind its last offset is
	// looked at, from the last entry of the offset index on.
	r := l.Reader(max(e.Offset, end-1))
	defer r.Close()
	return r.quietSince(e.Timestamp)
}

// quietSince reports whether no batch from the last index entry of the wanted
// offset's segment up to that segment's end is younger than ts.
func (r *LogReader) quietSince(ts int64) (bool, error) {
	if err := r.enter(); err != nil {
		return false, orEOF(r.skip(err))
	}
	for {
		b, err := r.scan.Next()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, ignoreDamage(err)
		case b.MaxTimestamp > ts:
			return false, nil
		}
	}
}

// timeStart is an offset of the segment at base below which every timestamp is below
// ts: the segment's first one if nothing better is known.
func (l *Log) timeStart(base, ts int64) (int64, error) {
	e, ok, err := l.timeEntry(base, ts-1)
	if err != nil || !ok {
		return base, err
	}
	return e.Offset, nil
}

// timeEntry is the last entry with a timestamp <= ts of a segment's time index, if the
// log bears it out: the batch that holds its offset has its timestamp as the largest.
// Of an index from another time, or a damaged one, that is not to be expected.
func (l *Log) timeEntry(base, ts int64) (e TimeEntry, ok bool, err error) {
	f, err := openRegular(l.fs, l.path(base, TimeIndexSuffix))
	if err != nil {
		return TimeEntry{}, false, passOver(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return TimeEntry{}, false, err
	}
	e, ok, err = LookupTime(f, info.Size(), base, ts)
	if err != nil || !ok {
		return TimeEntry{}, false, err
	}
	r := l.Reader(e.Offset)
	defer r.Close()
	b, err := r.Next()
	if err != nil {
		return TimeEntry{}, false, orEOF(r.skip(err))
	}
	return e, b.BaseOffset <= e.Offset && b.MaxTimestamp == e.Timestamp, nil
}

// orEOF makes the end of the log no error.
func orEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
