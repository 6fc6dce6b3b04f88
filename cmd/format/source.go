package format

import (
	"strconv"

	"github.com/klog-project/klog/segments"
)

// Source is the partition that records come from. It is made once for many records
// and not changed.
type Source struct {
	Topic     string
	Partition int32
	jsonHead  []byte // a JSON row up to its offset
}

// NewSource describes a partition of a topic.
func NewSource(topic string, partition int32) *Source {
	head := appendJSONString(append([]byte(nil), `{"topic":`...), []byte(topic))
	head = append(head, `,"partition":`...)
	head = strconv.AppendInt(head, int64(partition), 10)
	return &Source{Topic: topic, Partition: partition, jsonHead: append(head, `,"offset":`...)}
}

// Formatter writes records as text. It does not change and may be used by several
// goroutines at once.
type Formatter interface {
	// Append appends the record r of src to dst. number counts the records of the
	// output from 1. On an error nothing of the record is appended.
	Append(dst []byte, src *Source, number int64, r *segments.Record) ([]byte, error)
	// Pieces hands the same text to write, piece by piece: that of a large record may be
	// many times as long and is never in memory as a whole. A piece lives until write
	// returns. What is wrong with the record is found before the first piece.
	Pieces(src *Source, number int64, r *segments.Record, write func(piece []byte) error) error
}

// Own returns a Formatter that writes what f does and belongs to one goroutine, which
// may make it faster.
func Own(f Formatter) Formatter {
	if _, ok := f.(JSON); ok {
		return &ownJSON{}
	}
	return f
}

// Plain writes the value and a delimiter, and before them the key and another
// delimiter where that is wanted. Null is written as nothing.
type Plain struct {
	Key          bool   // write the key too
	KeyDelimiter []byte // behind the key
	Delimiter    []byte // behind the value; may be empty
}

// Append appends one record; it does not fail.
func (p *Plain) Append(dst []byte, _ *Source, _ int64, r *segments.Record) ([]byte, error) {
	if p.Key {
		dst = append(append(dst, r.Key...), p.KeyDelimiter...)
	}
	return append(append(dst, r.Value...), p.Delimiter...), nil
}
