package segments

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash32.
const (
	xxhPrime1 uint32 = 2654435761
	xxhPrime2 uint32 = 2246822519
	xxhPrime3 uint32 = 3266489917
	xxhPrime4 uint32 = 668265263
	xxhPrime5 uint32 = 374761393
)

// xxh32 is xxHash32 with seed 0, the checksum of lz4 frames.
func xxh32(b []byte) uint32 {
	h := xxhPrime5
	size := uint32(len(b))
	if len(b) >= 16 {
		var seed uint32 // adding to a variable wraps, to a constant it would not compile
		v := [4]uint32{seed + xxhPrime1 + xxhPrime2, xxhPrime2, 0, seed - xxhPrime1}
		for ; len(b) >= 16; b = b[16:] {
			for i := range v {
				v[i] += binary.LittleEndian.Uint32(b[4*i:]) * xxhPrime2
				v[i] = bits.RotateLeft32(v[i], 13) * xxhPrime1
			}
		}
		h = bits.RotateLeft32(v[0], 1) + bits.RotateLeft32(v[1], 7) + bits.RotateLeft32(v[2], 12) + bits.RotateLeft32(v[3], 18)
	}
	h += size
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*xxhPrime3, 17) * xxhPrime4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*xxhPrime5, 11) * xxhPrime1
	}
	h = (h ^ h>>15) * xxhPrime2
	h = (h ^ h>>13) * xxhPrime3
	return h ^ h>>16
}
