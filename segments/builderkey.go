package segments

import (
	"encoding/binary"
	"math"
)

// AppendKeyValue adds a record of a key and a value, with the next offset: what Append
// does without headers, about twice as fast.
func (b *Builder) AppendKeyValue(ts int64, key, value []byte) {
	delta := b.lastDelta + 1
	size := len(key) + len(value)
	if ts != b.time || b.count == 0 || key == nil || value == nil || b.timeLen > 8 || size > math.MaxInt32/2 || delta < 0 {
		b.Append(ts, key, value, nil)
		return
	}
	offWord, offLen := spread32(uint32(delta) << 1)
	keyWord, keyLen := spread32(uint32(len(key)) << 1)
	valWord, valLen := spread32(uint32(len(value)) << 1)
	body := b.timeLen + offLen + keyLen + valLen + size + 1
	lenWord, lenLen := spread32(uint32(body) << 1)
	if cap(b.buf)-len(b.buf) < size+recordSlack {
		b.buf = b.room(size)
	}
	p := len(b.buf)
	buf := b.buf[:cap(b.buf)]
	// Each store writes 8 bytes, of which the next one overwrites what is not used.
	binary.LittleEndian.PutUint64(buf[p:], lenWord)
	p += lenLen
	binary.LittleEndian.PutUint64(buf[p:], b.timeWord)
	p += b.timeLen
	binary.LittleEndian.PutUint64(buf[p:], offWord)
	p += offLen
	binary.LittleEndian.PutUint64(buf[p:], keyWord)
	p += keyLen
	p += copy(buf[p:], key)
	binary.LittleEndian.PutUint64(buf[p:], valWord)
	p += valLen
	p += copy(buf[p:], value)
	buf[p] = 0 // no headers
	b.buf = buf[:p+1]
	b.count++
	b.lastDelta = delta
}
