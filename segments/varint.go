package segments

import "math/bits"

// Varints are zigzag numbers in groups of seven bits, least significant group first,
// the high bit set on all but the last: what encoding/binary calls Varint. A length,
// a count or an offset delta takes at most 5 bytes, a timestamp delta at most 10.

// Longest varints.
const (
	maxVarint32 = 5
	maxVarint64 = 10
)

// zigzag32 and zigzag64 fold the sign into the lowest bit.
func zigzag32(v int32) uint32 { return uint32(v<<1) ^ uint32(v>>31) }
func zigzag64(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// varintSize32 is the number of bytes that zigzag32's result u takes.
func varintSize32(u uint32) int { return (bits.Len32(u|1) + 6) / 7 }

// varintSize64 is the number of bytes that zigzag64's result u takes.
func varintSize64(u uint64) int { return (bits.Len64(u|1) + 6) / 7 }

// spread32 is the varint of u as a little endian word: a caller stores all 8 bytes at
// once and goes on n bytes further, which beats a loop over bytes several times.
func spread32(u uint32) (word uint64, n int) {
	if u < 1<<14 {
		return spread14(u)
	}
	w := uint64(u)
	n = varintSize32(u)
	word = w&0x7f | w<<1&(0x7f<<8) | w<<2&(0x7f<<16) | w<<3&(0x7f<<24) | w<<4&(0x7f<<32)
	return word | 0x8080808080&(1<<(8*uint(n-1))-1), n
}

// spread14 is spread32 for u below 1<<14, without a branch and inlined.
func spread14(u uint32) (word uint64, n int) {
	more := uint32(0)
	if u >= 1<<7 {
		more = 1
	}
	return uint64(u&0x7f | more<<7 | u>>7<<8), int(1 + more)
}

// appendVarint64 appends the varint of u.
func appendVarint64(dst []byte, u uint64) []byte {
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// varint32 reads a varint of at most 5 bytes from b[i:] as Kafka does: overlong forms
// and surplus bits of the fifth byte pass. It returns where it ends, or -1 where the
// bytes run out or the fifth asks for a sixth.
func varint32(b []byte, i int) (v int32, next int) {
	if i < len(b) && b[i] < 0x80 {
		u := uint32(b[i])
		return int32(u>>1) ^ -int32(u&1), i + 1
	}
	return varintLong32(b, i)
}

// varintLong32 is kept out of line so that varint32 is inlined.
//
//go:noinline
func varintLong32(b []byte, i int) (v int32, next int) {
	var u uint32
	for shift := uint(0); shift < 7*maxVarint32 && i < len(b); shift += 7 {
		c := b[i]
		i++
		u |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return int32(u>>1) ^ -int32(u&1), i
		}
	}
	return 0, -1
}

// varint64 reads a varint of at most 10 bytes from b[i:], as lenient as varint32.
func varint64(b []byte, i int) (v int64, next int) {
	var u uint64
	for shift := uint(0); shift < 7*maxVarint64 && i < len(b); shift += 7 {
		c := b[i]
		i++
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i
		}
	}
	return 0, -1
}
