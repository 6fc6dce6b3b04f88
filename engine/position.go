package engine

import (
	"errors"
	"fmt"

	"github.com/klog-project/klog/segments"
)

// ErrOffsetOutOfRange is returned when what was asked for lies below the log start or beyond the end.
var ErrOffsetOutOfRange = errors.New("offset out of range")

// RangeError is ErrOffsetOutOfRange and says what would have been in range.
type RangeError struct {
	Topic     string
	Partition int32
	Want      int64
	Start     int64 // the first offset
	End       int64 // the one that the next record will get: also in range
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s: offset %d is out of range: there are %d to %d", segments.PartitionDir(e.Topic, e.Partition), e.Want, e.Start, e.End)
}

// Unwrap makes errors.Is(err, ErrOffsetOutOfRange) true.
func (e *RangeError) Unwrap() error { return ErrOffsetOutOfRange }

// Anchor is what a Position counts from.
type Anchor int8

// The anchors.
const (
	AtEarliest Anchor = iota // the log start
	AtLatest                 // the end
	AtOffset                 // offset N
	AtLast                   // so that the last N records that exist are ahead
	AtForward                // N offsets behind the log start
	AtTime                   // the first record with a timestamp >= N, in ms
)

// Position is a place in a partition as a user says it.
type Position struct {
	Anchor Anchor
	N      int64 // for AtOffset, AtLast and AtForward not negative
}

// Resolve is the offset that a position stands for. The error is a *RangeError for an
// offset below the start or beyond the end; the end itself is in range.
func (v *View) Resolve(pos Position) (int64, error) {
	switch pos.Anchor {
	case AtEarliest:
		return v.start, nil
	case AtLatest:
		return v.end, nil
	case AtLast:
		offset, _, err := v.LastN(pos.N, nil)
		return offset, err
	case AtTime:
		return v.OffsetForTime(pos.N)
	case AtForward:
		return v.inRange(addOffset(v.start, pos.N))
	}
	return v.inRange(pos.N)
}

func (v *View) inRange(offset int64) (int64, error) {
	if offset < v.start || offset > v.end {
		return 0, &RangeError{Topic: v.p.topic, Partition: v.p.number, Want: offset, Start: v.start, End: v.end}
	}
	return offset, nil
}

// Until is the offset where a read ends that is to end at pos, which it does not
// include: beyond the end of the partition means its end, below the start its start.
func (v *View) Until(pos Position) (int64, error) {
	offset, err := v.Resolve(pos)
	var out *RangeError
	if errors.As(err, &out) {
		return min(max(out.Want, v.start), v.end), nil
	}
	return offset, err
}

// Range is a run of offsets of one partition.
type Range struct {
	View  *View
	From  int64
	Until int64 // not included
}

// Selection is what to read of several partitions.
type Selection struct {
	Ranges []Range // one for each view, in their order; some may be empty
	// Surplus is how many records to leave out first when the ranges are merged: "the
	// last N" is the last N of each partition, merged, and of that the last N.
	Surplus int64
	// Notes are lines for the user: what could not be given exactly as it was asked
	// for.
	Notes []string
}

// Select resolves the two ends of a read in each of several partitions. A number
// counts in each: a partition that does not reach it is empty, one that begins above
// it is read from its start, and it is a *RangeError if none holds it. keep is as for
// View.LastN.
func Select(views []*View, from, until Position, keep func(*segments.Record) bool) (*Selection, error) {
	s := &Selection{Ranges: make([]Range, len(views))}
	total, held := int64(0), 0
	var out *RangeError
	for i, v := range views {
		r := Range{View: v}
		var err error
		if from.Anchor == AtLast {
			var n int64
			r.From, n, err = v.LastN(from.N, keep)
			total += n
		} else {
			r.From, err = v.Resolve(from)
		}
		var miss *RangeError
		switch {
		case errors.As(err, &miss):
			if out == nil {
				out = miss
			}
			r.From = min(max(miss.Want, v.start), v.end)
			if miss.Want < v.start {
				s.Notes = append(s.Notes, fmt.Sprintf("%s: offset %d is gone, it begins at %d", v.p, miss.Want, v.start))
			}
		case err != nil:
			return nil, err
		default:
			held++
		}
		if r.Until, err = v.Until(until); err != nil {
			return nil, err
		}
		r.Until = max(r.Until, r.From)
		s.Ranges[i] = r
	}
	if held == 0 && out != nil {
		return nil, out
	}
	if from.Anchor == AtLast {
		s.Surplus = max(0, total-from.N)
	}
	return s, nil
}
