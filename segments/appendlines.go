package segments

import (
	"bytes"
	"encoding/binary"
)

// mostLine is the length from which a line is left to AppendValue: its own length and
// that of its record take two bytes each at most below it.
const mostLine = 1<<13 - recordSlack

// AppendLines adds the lines that data begins with, each up to a delim, as AppendValue
// would one by one, as long as the batch is not larger than limit with them, and returns
// how many it has added and what is left of data. It is for the lines that follow a
// record of the same timestamp: where that is not so, and with a line that is last
// without a delim, long, or that ends the batch, it stops, and AppendValue goes on.
//
// What makes it fast is that nothing is kept in memory from line to line, and that a
// record's framing takes two stores: its length, attributes and timestamp, then offset,
// key and length of the value.
func (b *Builder) AppendLines(ts int64, data []byte, delim byte, limit int) (n int, rest []byte) {
	if b.count == 0 || ts != b.time || b.timeLen > 6 || b.lastDelta < 0 {
		return 0, data
	}
	buf, p := b.buf[:cap(b.buf)], len(b.buf)
	end := limit + b.at
	if b.opts.Codec != None {
		end = limit - HeaderSize
	}
	timeWord, timeLen := b.timeWord, b.timeLen
	delta := uint32(b.lastDelta) + 1
	for delta < 1<<13 {
		size := bytes.IndexByte(data, delim)
		if size < 0 || size > mostLine || p+size > end {
			break
		}
		if len(buf)-p < size+recordSlack {
			b.buf = buf[:p]
			buf = b.room(size)
			buf = buf[:cap(buf)]
		}
		offWord, offLen := spread14(delta << 1)
		valWord, valLen := spread14(uint32(size) << 1)
		lenWord, lenLen := spread14(uint32(timeLen+offLen+1+valLen+size+1) << 1)
		// Each store writes 8 bytes, of which the next one overwrites what is not used.
		binary.LittleEndian.PutUint64(buf[p:], lenWord|timeWord<<(8*uint(lenLen)&63))
		p += lenLen + timeLen
		binary.LittleEndian.PutUint64(buf[p:], offWord|(1|valWord<<8)<<(8*uint(offLen)&63)) // 1: no key
		p += offLen + 1 + valLen
		if size <= shortLine && len(data) >= shortLine {
			copyShort(buf[p:p+shortLine], data[:shortLine])
		} else {
			copy(buf[p:], data[:size])
		}
		p += size
		buf[p] = 0 // no headers
		p++
		data = data[size+1:]
		delta++
	}
	n = int(int32(delta) - 1 - b.lastDelta)
	b.buf = buf[:p]
	b.count += int32(n)
	b.lastDelta = int32(delta) - 1
	return n, data
}
