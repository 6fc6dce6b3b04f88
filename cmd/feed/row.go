package feed

import (
	"bytes"
	"errors"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// ErrNoKey is the refusal of a record without the key delimiter.
var ErrNoKey = errors.New("no key delimiter")

// keyParser divides records at the first key delimiter, and does nothing else that
// format.Fields does.
type keyParser struct{ delim []byte }

// ParseRow reads one record.
func (p keyParser) ParseRow(record []byte, row *format.Row) error {
	i := bytes.Index(record, p.delim)
	if i < 0 {
		return ErrNoKey
	}
	row.Key, row.Value = record[:i:i], record[i+len(p.delim):]
	row.Headers, row.Partition, row.HasTimestamp = row.Headers[:0], -1, false
	return nil
}

// valueParser takes a record as a value.
type valueParser struct{}

// ParseRow reads one record.
func (valueParser) ParseRow(record []byte, row *format.Row) error {
	row.Key, row.Value = nil, record
	row.Headers, row.Partition, row.HasTimestamp = row.Headers[:0], -1, false
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

// recordOverhead is more than what a record takes beside key, value and headers: six
// lengths and deltas, and its attributes.
const recordOverhead = 5 + 1 + 10 + 5 + 5 + 5 + 5
