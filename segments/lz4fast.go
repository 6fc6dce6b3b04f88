package segments

import (
	"encoding/binary"
	"math/bits"
)

// The fastest level of lz4 is made here: pierrec/lz4 looks at each position three times,
// and takes five times the time for values that do not repeat themselves. The framing of
// records does, so that a search which slows down with each match never becomes fast.
//
// A block is a row of sequences: a token, whose upper half is the number of literals and
// whose lower half is the length of the match less 4, each with further bytes from 15 on;
// the literals; two bytes of how far back the match lies. The last sequence is literals
// alone, at least 5, and no match begins in the last 12 bytes.

const (
	lz4HashBits     = 13
	lz4MinMatch     = 4
	lz4LastLiterals = 5
	lz4MatchLimit   = 12
	// lz4Patience is how many positions are tried one by one before the search goes in
	// strides, which grow as long as nothing is found. 64 would save 1 % of the bytes.
	lz4Patience = 16
)

// lz4Fast compresses blocks of at most lz4BlockSize bytes. Its table says where bytes of
// a hash were seen last.
type lz4Fast struct{ table [1 << lz4HashBits]uint16 }

// lz4Hash is of the first 5 bytes of v: 4 would find more matches, too short to pay.
func lz4Hash(v uint64) uint32 { return uint32((v << 24) * 889523592379 >> (64 - lz4HashBits)) }

// compress writes src as a block to dst, which has room for lz4.CompressBlockBound bytes,
// and returns how many it wrote.
func (z *lz4Fast) compress(src, dst []byte) (int, error) {
	clear(z.table[:])
	anchor, out := 0, 0
	for s := 1; ; {
		at, ref, found := z.find(src, s)
		if !found {
			break
		}
		for at > anchor && ref > 0 && src[at-1] == src[ref-1] {
			at--
			ref--
		}
		length := lz4MinMatch + matching(src, at+lz4MinMatch, ref+lz4MinMatch)
		out = lz4Sequence(dst, out, src[anchor:at], at-ref, length)
		s = at + length
		anchor = s
		if s < len(src)-lz4MatchLimit {
			z.table[lz4Hash(binary.LittleEndian.Uint64(src[s-2:]))] = uint16(s - 2)
		}
	}
	token := out
	out = lz4Literals(dst, out+1, src[anchor:])
	dst[token] = byte(min(len(src)-anchor, 15) << 4)
	return out, nil
}

// find searches from src[s] on for four bytes that were there before.
func (z *lz4Fast) find(src []byte, s int) (at, ref int, found bool) {
	last := len(src) - lz4MatchLimit
	for tries := lz4Patience; s < last; tries++ {
		v := binary.LittleEndian.Uint64(src[s:])
		h := lz4Hash(v)
		ref := int(z.table[h])
		z.table[h] = uint16(s)
		if ref < s && binary.LittleEndian.Uint32(src[ref:]) == uint32(v) {
			return s, ref, true
		}
		s += tries / lz4Patience
	}
	return 0, 0, false
}

// matching is how many bytes from a on are the same as those from b on, b being the
// lower, as far as a match may go.
func matching(src []byte, a, b int) int {
	from, end := a, len(src)-lz4LastLiterals
	for a+8 <= end {
		if x := binary.LittleEndian.Uint64(src[a:]) ^ binary.LittleEndian.Uint64(src[b:]); x != 0 {
			return a - from + bits.TrailingZeros64(x)/8
		}
		a, b = a+8, b+8
	}
	for a < end && src[a] == src[b] {
		a, b = a+1, b+1
	}
	return a - from
}

// lz4Sequence writes a sequence at dst[out:] and returns where it ends.
func lz4Sequence(dst []byte, out int, literals []byte, offset, length int) int {
	token := out
	out = lz4Literals(dst, out+1, literals)
	binary.LittleEndian.PutUint16(dst[out:], uint16(offset))
	out += 2
	length -= lz4MinMatch
	dst[token] = byte(min(len(literals), 15)<<4 | min(length, 15))
	if length >= 15 {
		out = lz4Rest(dst, out, length-15)
	}
	return out
}

// lz4Literals writes literals, and what their token does not tell of their number.
func lz4Literals(dst []byte, out int, literals []byte) int {
	if len(literals) >= 15 {
		out = lz4Rest(dst, out, len(literals)-15)
	}
	return out + copy(dst[out:], literals)
}

// lz4Rest writes a length: bytes of 255 and one that is less.
func lz4Rest(dst []byte, out, n int) int {
	for ; n >= 255; n -= 255 {
		dst[out] = 255
		out++
	}
	dst[out] = byte(n)
	return out + 1
}
