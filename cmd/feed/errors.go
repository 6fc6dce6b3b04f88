package feed

import (
	"fmt"
	"strconv"
)

// StopError is returned when a run ends before all its input is in the log.
type StopError struct {
	Safe    int64 // input records that are in the log
	First   int64 // the first so many records of the input are all safe
	Several bool  // the records go to several partitions: Safe may be more than First
	Err     error // why; the cause of the context when that has ended
}

// Error says why, and what is safe.
func (e *StopError) Error() string { return e.Err.Error() + "; " + e.Count() }

// Count says what is safe: "7 records are safe".
func (e *StopError) Count() string {
	s := strconv.FormatInt(e.Safe, 10) + " records are safe"
	if e.Safe == 1 {
		s = "1 record is safe"
	}
	switch {
	case !e.Several:
		return s
	case e.First == 1:
		return s + ", the first record is safe"
	}
	return s + ", the first " + strconv.FormatInt(e.First, 10) + " records are all safe"
}

// Unwrap is the reason.
func (e *StopError) Unwrap() error { return e.Err }

// RecordError is the refusal of one record of the input.
type RecordError struct {
	Unit   string // what a record is called: "line", "record"
	Number int64  // counted from 1 over all inputs
	Err    error
}

// Error names the record.
func (e *RecordError) Error() string { return fmt.Sprintf("%s %d: %v", e.Unit, e.Number, e.Err) }

// Unwrap is what is wrong with it.
func (e *RecordError) Unwrap() error { return e.Err }

// OversizeError is the refusal of a record that is too large.
type OversizeError struct {
	Size  int64 // of the record in the input
	Limit int   // of a stored batch
}

// Error names the size and the limit.
func (e *OversizeError) Error() string {
	return fmt.Sprintf("%d bytes, over max.message.bytes=%d", e.Size, e.Limit)
}

// SyncError is returned when what was appended could not be made durable.
type SyncError struct {
	Durable int64 // input records that are known to be on disk
	Err     error
}

// Error says how far the log is known to be on disk.
func (e *SyncError) Error() string {
	if e.Durable == 1 {
		return fmt.Sprintf("%v; the first record of the input is known to be on disk", e.Err)
	}
	return fmt.Sprintf("%v; the first %d records of the input are known to be on disk", e.Err, e.Durable)
}

// Unwrap is the reason.
func (e *SyncError) Unwrap() error { return e.Err }
