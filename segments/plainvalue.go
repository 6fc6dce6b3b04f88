package segments

import (
	"encoding/binary"
	"slices"
)

// Most records are plain: a value under 8 KiB without key and headers, in a batch of few
// enough records that their offset deltas take two bytes. Both ways of reading values
// take these first.

// plainBytes is more than all of a plain record but its value.
const plainBytes = 32

// plainRecord reads the plain record at b[at:]: its value is b[start:end-1], and behind
// it is b[end:]. It reads no further than plainBytes before it knows the record's end.
// Whatever is different, and what is wrong, is not ok.
func plainRecord(b []byte, at int) (start, end, delta int, ok bool) {
	if len(b)-at < plainBytes {
		return 0, 0, 0, false
	}
	i := at
	size := int(b[i])
	if i++; size >= 0x80 {
		size = size&0x7f | int(b[i])<<7
		i++
	}
	end = i + size>>1
	i++ // attributes
	for last := i + maxVarint64 - 1; b[i] >= 0x80 && i < last; i++ {
	}
	if b[i] >= 0x80 {
		return 0, 0, 0, false
	}
	i++ // timestamp delta
	delta = int(b[i])
	if i++; delta >= 0x80 {
		delta = delta&0x7f | int(b[i])<<7
		i++
	}
	noKey := b[i] == 1
	n := int(b[i+1])
	if i += 2; n >= 0x80 {
		n = n&0x7f | int(b[i])<<7
		i++
	}
	// A second byte with its high bit set has made the number too large, an odd one
	// means a negative length.
	last := i + n>>1
	if size|delta|n >= 1<<14 || (size|delta|n)&1 != 0 || !noKey || last != end-1 || end > len(b) || b[last] != 0 {
		return 0, 0, 0, false
	}
	return i, end, delta >> 1, true
}

// plainValue is NextValue for a plain record.
func (d *Decoder) plainValue() (value []byte, ok bool) {
	if d.left <= 0 || d.header.Magic < 2 {
		return nil, false
	}
	start, end, delta, ok := plainRecord(d.buf, d.at)
	if !ok || !d.inOrder(int32(delta)) {
		return nil, false
	}
	d.at, d.left, d.next = end, d.left-1, d.header.BaseOffset+int64(delta)+1
	return d.buf[start : end-1 : end-1], true
}

// AppendValues appends the values of the next records to dst, delim behind each, until
// dst has most bytes or more, and returns how many these were and the offset behind the
// last one. It stops at the first record that is not plain, which is for NextValue to
// read: n is then 0.
func (d *Decoder) AppendValues(dst, delim []byte, most int) (_ []byte, n int, next int64) {
	if d.header.Magic < 2 {
		return dst, 0, d.next
	}
	b, at, left := d.buf, d.at, d.left
	// Deltas rise from record to record, to the last that the batch may have.
	lowest, highest := d.next-d.header.BaseOffset, int64(d.header.LastOffsetDelta)
	for left > 0 && len(dst) < most {
		start, end, delta, ok := plainRecord(b, at)
		if !ok || int64(delta) < lowest || int64(delta) > highest {
			break
		}
		size := end - 1 - start
		if cap(dst)-len(dst) < size+len(delim)+shortLine {
			dst = slices.Grow(dst, size+len(delim)+shortLine)
		}
		p := len(dst)
		if size <= shortLine && len(b)-start >= shortLine {
			copyShort(dst[p:p+shortLine], b[start:start+shortLine])
			dst = dst[:p+size]
		} else {
			dst = append(dst, b[start:end-1]...)
		}
		if len(delim) == 1 {
			dst = append(dst, delim[0])
		} else {
			dst = append(dst, delim...)
		}
		at, lowest = end, int64(delta)+1
		left--
		n++
	}
	d.at, d.left, d.next = at, left, d.header.BaseOffset+lowest
	return dst, n, d.next
}

// shortLine is up to where bytes are copied in words and not by a call.
const shortLine = 32

// copyShort copies shortLine bytes.
func copyShort(to, from []byte) {
	_, _ = to[shortLine-1], from[shortLine-1]
	binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
	binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(from[8:]))
	binary.LittleEndian.PutUint64(to[16:], binary.LittleEndian.Uint64(from[16:]))
	binary.LittleEndian.PutUint64(to[24:], binary.LittleEndian.Uint64(from[24:]))
}
