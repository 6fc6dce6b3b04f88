package feed

import (
	"bytes"
	"errors"

	"github.com/klog-project/klog/segments"
)

// Row is one record as it was read.
type Row struct {
	Key, Value []byte // nil: null
	Headers    []segments.Header
	Timestamp  int64 // in ms, when HasTime is set
	HasTime    bool
	Partition  int32 // -1: the row names none
}

// Parser takes records apart. One goroutine at a time.
type Parser interface {
	// Parse reads one record, given without its delimiter. Row is empty but for
	// Partition, which is -1. Its bytes may be those of record or of the parser: they
	// live until the next call.
	Parse(record []byte, row *Row) error
}

// ErrNoKey is the refusal of a record without the key delimiter.
var ErrNoKey = errors.New("no key delimiter")

// keyParser divides records at the first key delimiter.
type keyParser struct{ delim []byte }

func (p keyParser) Parse(record []byte, row *Row) error {
	i := bytes.Index(record, p.delim)
	if i < 0 {
		return ErrNoKey
	}
	row.Key, row.Value = record[:i:i], record[i+len(p.delim):]
	return nil
}

// recordBound is more than a record takes in a batch.
func recordBound(key, value []byte, headers []segments.Header) int {
	n := recordOverhead + len(key) + len(value)
	for i := range headers {
		n += 10 + len(headers[i].Key) + len(headers[i].Value)
	}
	return n
}

// recordOverhead is more than what a record takes beside key, value and headers:
// six lengths and deltas and its attributes.
const recordOverhead = 5 + 1 + 10 + 5 + 5 + 5 + 5
