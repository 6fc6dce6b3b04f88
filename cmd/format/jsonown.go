package format

import (
	"strconv"

	"github.com/klog-project/klog/segments"
)

// ownJSON writes what JSON does. It remembers how the last record's offset and
// timestamp were written: the next ones are mostly one more, and the same.
type ownJSON struct {
	offset, ts         int64
	offsetText, tsText [20]byte // right-aligned
	offsetLen, tsLen   int      // 0: none yet
}

// Append appends one record; it does not fail.
func (j *ownJSON) Append(dst []byte, src *Source, number int64, r *segments.Record) ([]byte, error) {
	if r.TimestampType == segments.NoTimestamp {
		return JSON{}.Append(dst, src, number, r)
	}
	j.count(r.Offset)
	if j.tsLen == 0 || j.ts != r.Timestamp {
		j.ts, j.tsLen = r.Timestamp, write(&j.tsText, r.Timestamp)
	}
	dst = append(dst, src.jsonHead...)
	dst = append(dst, j.offsetText[len(j.offsetText)-j.offsetLen:]...)
	dst = append(dst, timestampHead(r.TimestampType)...)
	dst = append(dst, j.tsText[len(j.tsText)-j.tsLen:]...)
	return appendJSONTail(dst, r), nil
}

// count writes an offset: in the one before it the digits from the last one up that are
// not 9 turn over.
func (j *ownJSON) count(offset int64) {
	if j.offsetLen == 0 || offset-1 != j.offset || offset <= 0 {
		j.offset, j.offsetLen = offset, write(&j.offsetText, offset)
		return
	}
	j.offset = offset
	for i := len(j.offsetText) - 1; i >= len(j.offsetText)-j.offsetLen; i-- {
		if j.offsetText[i] != '9' {
			j.offsetText[i]++
			return
		}
		j.offsetText[i] = '0'
	}
	j.offsetLen = write(&j.offsetText, offset) // one digit more
}

// write writes n at the end of text and returns its length.
func write(text *[20]byte, n int64) int {
	var buf [20]byte
	s := strconv.AppendInt(buf[:0], n, 10)
	copy(text[len(text)-len(s):], s)
	return len(s)
}
