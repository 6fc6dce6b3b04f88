package segments

import (
	"errors"
	"fmt"
)

// ErrGone is what a reader returns when the partition's directory was removed or
// renamed, or another one has taken its place, since the Log was opened.
var ErrGone = errors.New("partition directory was removed or replaced")

// GapError says that offsets which a reader wanted are not there any more. Holes
// between records are no gap: compaction and mirrors leave them, and nobody is told.
// The reader that returned it stands behind the gap and goes on.
type GapError struct {
	Dir   string // the partition's directory
	First int64  // first offset that is gone
	Last  int64  // last one; -1: everything up to the end
	// Missing: the list of segments names files that none of klog's commands removed.
	// That is damage, and the error is ErrCorrupt. Otherwise retention was faster than
	// the reader.
	Missing bool
}

// Error names the directory and the offsets.
func (e *GapError) Error() string {
	var what string
	switch {
	case e.Last < 0:
		what = fmt.Sprintf("the offsets from %d on ", e.First)
	default:
		what = fmt.Sprintf("the offsets %d to %d ", e.First, e.Last)
	}
	if e.Missing {
		return e.Dir + ": " + what + "are missing: the list of segments names files that are not there"
	}
	return e.Dir + ": " + what + "were removed before they were read"
}

// Unwrap makes errors.Is(err, ErrCorrupt) true for missing files.
func (e *GapError) Unwrap() error {
	if e.Missing {
		return ErrCorrupt
	}
	return nil
}

func isGap(err error) bool {
	var gap *GapError
	return errors.As(err, &gap)
}
