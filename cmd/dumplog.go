package cmd

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// batchColumns are those of a segment, one row a batch. What scripts may rely on comes
// first.
func batchColumns() []dumpColumn {
	return []dumpColumn{
		{column{name: "position"}, false},
		{column{name: "size"}, false},
		{column{name: "base_offset"}, false},
		{column{name: "last_offset"}, false},
		{column{name: "count"}, false},
		{column{name: "epoch"}, false},
		{column{name: "producer_id"}, true},
		{column{name: "producer_epoch"}, true},
		{column{name: "base_sequence"}, true},
		{column{name: "magic"}, true},
		{column{name: "codec"}, false},
		{column{name: "timestamp_type"}, true},
		{column{name: "max_timestamp", kind: timeColumn}, false},
		{column{name: "transactional"}, true},
		{column{name: "control"}, false},
		{column{name: "crc"}, true},
		{column{name: "valid"}, false},
		{column{name: "base_timestamp", kind: timeColumn}, true},
		{column{name: "delete_horizon"}, true},
		{column{name: "error"}, false},
	}
}

// recordColumns are those of a segment, one row a record.
func recordColumns() []dumpColumn {
	return []dumpColumn{
		{column{name: "position"}, true},
		{column{name: "size"}, true},
		{column{name: "base_offset"}, true},
		{column{name: "offset"}, false},
		{column{name: "timestamp", kind: timeColumn}, false},
		{column{name: "timestamp_type"}, true},
		{column{name: "epoch"}, true},
		{column{name: "producer_id"}, true},
		{column{name: "producer_epoch"}, true},
		{column{name: "sequence"}, true},
		{column{name: "codec"}, true},
		{column{name: "transactional"}, true},
		{column{name: "control"}, true},
		{column{name: "control_type"}, false},
		{column{name: "key_size"}, true},
		{column{name: "value_size"}, false},
		{column{name: "key"}, false},
		{column{name: "value"}, false},
		{column{name: "headers"}, false},
		{column{name: "valid"}, false},
		{column{name: "error"}, false},
	}
}

// logDump dumps one segment.
type logDump struct {
	*dumper
	src     dumpSource
	base    int64
	scanner *segments.Scanner
	decoder segments.Decoder
	record  segments.Record
}

// log dumps a segment, and goes on behind damage.
func (d *dumper) log(ctx context.Context, src dumpSource) error {
	columns := batchColumns()
	if d.o.deep {
		columns = recordColumns()
	}
	if err := d.begin(columns); err != nil {
		return err
	}
	base, err := src.segmentBase()
	if err != nil {
		return err
	}
	l := logDump{dumper: d, src: src, base: base, scanner: segments.NewScanner(src, d.name, base, 0, src.size, base)}
	for ctx.Err() == nil {
		b, err := l.scanner.Next()
		var corrupt *segments.CorruptError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &corrupt):
			err = l.damage(corrupt)
		case err == nil && d.o.deep:
			err = l.records(b)
		case err == nil:
			err = l.batch(b.BatchHeader, b.Position, b.Size(), nil)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// segmentBase is the base offset that the file's name says, else that of its first
// batch: a segment that was copied under another name.
func (s dumpSource) segmentBase() (int64, error) {
	if s.strict {
		return s.base, nil
	}
	var b [8]byte
	if _, err := s.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return 0, err
	}
	return max(0, int64(binary.BigEndian.Uint64(b[:]))), nil
}

// laterSegment reports whether the segment's directory holds one behind it.
func (s dumpSource) laterSegment() (bool, error) {
	if _, suffix, ok := segments.ParseSegmentName(filepath.Base(s.Name())); !ok || suffix != segments.LogSuffix {
		return false, nil
	}
	entries, err := vfs.OS.ReadDir(filepath.Dir(s.Name()))
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if base, suffix, ok := segments.ParseSegmentName(e.Name()); ok && suffix == segments.LogSuffix && base > s.base {
			return true, nil
		}
	}
	return false, nil
}

// damage prints a row for the bytes where no good batch begins, and goes on behind.
func (l *logDump) damage(corrupt *segments.CorruptError) error {
	later, err := l.src.laterSegment()
	if err != nil {
		return err
	}
	pos, next := l.scanner.Position(), l.scanner.NextOffset()
	tail, err := segments.ExamineTail(l.src, l.base, pos, l.src.size, next, later)
	if err != nil {
		return err
	}
	reason := corrupt.Reason
	if tail.Torn {
		reason = "torn tail: " + reason
	} else {
		l.damaged++
	}
	l.scanner.Resume(tail.End, next+tail.Offsets)
	head := make([]byte, min(segments.HeaderSize, l.src.size-pos))
	if _, err := l.src.ReadAt(head, pos); err != nil && err != io.EOF {
		return err
	}
	h, ok := segments.PeekHeader(head)
	switch {
	case l.o.deep:
		return l.badBatch(h, ok, pos, tail.End-pos, reason)
	case !ok:
		return l.noBatch(pos, tail.End-pos, reason)
	}
	return l.batch(h, pos, tail.End-pos, reason)
}

// batch prints a batch's row. bad is the reason why it is none, or nil.
func (l *logDump) batch(h segments.BatchHeader, pos, size int64, bad any) error {
	return l.row(pos, size, h.BaseOffset, h.LastOffset(), count(h), h.LeaderEpoch,
		h.ProducerID, h.ProducerEpoch, h.BaseSequence, int(h.Magic), h.Codec().String(),
		h.TimestampType().String(), h.MaxTimestamp, h.Transactional(), h.Control(), int64(h.CRC),
		bad == nil, h.BaseTimestamp, h.HasDeleteHorizon(), bad)
}

// count is the number of records, null for a compressed entry of magic 0 or 1, whose
// header does not tell.
func count(h segments.BatchHeader) any {
	if h.Magic < 2 && h.Codec() != segments.None {
		return nil
	}
	return h.Count
}

// noBatch prints the row of bytes that have no header.
func (l *logDump) noBatch(pos, size int64, reason string) error {
	cells := make([]any, len(l.columns))
	cells[0], cells[1] = pos, size
	for i, c := range l.columns {
		switch c.name {
		case "valid":
			cells[i] = false
		case "error":
			cells[i] = reason
		}
	}
	return l.row(cells...)
}

// records prints a row for each record of a batch.
func (l *logDump) records(b segments.Batch) error {
	l.decoder.Open(b) // the error comes again behind the records
	for l.decoder.Next(&l.record) {
		if err := l.recordRow(b, &l.record); err != nil {
			return err
		}
	}
	err := l.decoder.Err()
	if err == nil {
		return nil
	}
	l.damaged++
	reason := err.Error()
	var corrupt *segments.CorruptError
	if errors.As(err, &corrupt) {
		reason = corrupt.Reason
		if corrupt.Err != nil {
			reason += ": " + corrupt.Err.Error()
		}
	}
	return l.badBatch(b.BatchHeader, true, b.Position, b.Size(), reason)
}

func (l *logDump) recordRow(b segments.Batch, r *segments.Record) error {
	var kind, bad any
	valid := true
	if b.Control() {
		c, err := segments.ParseControl(*r)
		kind = c.Type.String()
		if err != nil {
			l.damaged++
			kind, bad, valid = nil, err.Error(), false
		}
	}
	return l.row(b.Position, b.Size(), b.BaseOffset, r.Offset, r.Timestamp, r.TimestampType.String(), r.LeaderEpoch,
		b.ProducerID, b.ProducerEpoch, sequence(b.BatchHeader, r.Offset), b.Codec().String(),
		b.Transactional(), b.Control(), kind,
		sizeCell(r.Key), sizeCell(r.Value), textCell(r.Key), textCell(r.Value), headersCell(r.Headers), valid, bad)
}

// sequence is a record's sequence number, which goes on with 0 behind the largest
// int32; -1 for none.
func sequence(h segments.BatchHeader, offset int64) int64 {
	if h.ProducerID < 0 || h.BaseSequence < 0 {
		return -1
	}
	return (int64(h.BaseSequence) + offset - h.BaseOffset) & 0x7fffffff
}

// badBatch prints the row of a batch whose records cannot be read, or not all.
func (l *logDump) badBatch(h segments.BatchHeader, header bool, pos, size int64, reason string) error {
	cells := make([]any, len(l.columns))
	for i, c := range l.columns {
		switch c.name {
		case "position":
			cells[i] = pos
		case "size":
			cells[i] = size
		case "base_offset":
			if header {
				cells[i] = h.BaseOffset
			}
		case "codec":
			if header {
				cells[i] = h.Codec().String()
			}
		case "valid":
			cells[i] = false
		case "error":
			cells[i] = reason
		}
	}
	return l.row(cells...)
}

// textCell is a byte string as a cell; nil is null.
func textCell(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

// sizeCell is a byte string's length, -1 for null as on disk.
func sizeCell(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

// headersCell is a record's headers: name=value,name=value in rows, a list of objects in
// JSON.
type headersCell []segments.Header

func (h headersCell) text() string {
	return joinCell(len(h), func(i int) string {
		if h[i].Value == nil {
			return escapeCell(string(h[i].Key))
		}
		return escapeCell(string(h[i].Key) + "=" + string(h[i].Value))
	})
}

func (h headersCell) appendJSON(b []byte) []byte {
	return appendJSONList(b, len(h), func(b []byte, i int) []byte {
		b = append(b, `{"key":`...)
		b = appendJSONString(b, string(h[i].Key))
		b = append(b, `,"value":`...)
		b = appendJSONCell(b, textCell(h[i].Value))
		return append(b, '}')
	})
}
