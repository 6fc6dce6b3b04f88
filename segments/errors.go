package segments

import (
	"errors"
	"fmt"
)

// ErrCorrupt is what every *CorruptError wraps: bytes that are not what the format
// allows and that no torn write explains.
var ErrCorrupt = errors.New("damaged data")

// CorruptError says where the damage is. Size is 0 where its end is not known, the
// offsets are -1 where they are not.
type CorruptError struct {
	File        string // path of the file
	Position    int64  // first damaged byte
	Size        int64  // bytes up to the next good batch, or to the end of the file
	FirstOffset int64  // first offset that is lost
	LastOffset  int64  // last one
	Reason      string // what is wrong, in a few words: "bad crc"
	Err         error  // the cause below, may be nil
}

// Error names file, byte and offsets.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("byte %d: %s", e.Position, e.Reason)
	if e.File != "" {
		s = e.File + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	switch {
	case e.FirstOffset >= 0 && e.LastOffset >= e.FirstOffset:
		s += fmt.Sprintf(" (offsets %d to %d)", e.FirstOffset, e.LastOffset)
	case e.FirstOffset >= 0:
		s += fmt.Sprintf(" (from offset %d on)", e.FirstOffset)
	}
	return s
}

// Unwrap makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Unwrap() []error {
	if e.Err != nil {
		return []error{ErrCorrupt, e.Err}
	}
	return []error{ErrCorrupt}
}
