package segments

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/s2"
)

// Two framings of snappy are in use. Java's and others' is that of the xerial library:
//
//	0   8 bytes  0x82 "SNAPPY" 0x00
//	8   int32    version, 1
//	12  int32    oldest version that can read it, 1
//	16  chunks:  int32 size, one raw snappy block of that size
//
// A chunk holds 32 KiB of records, or what is left; where it ends has nothing to do
// with records. Others write one raw block and nothing else. Kafka reads both, any
// version, and another such header where a chunk's size is due.

const (
	xerialMagic  = "\x82SNAPPY\x00"
	xerialHeader = xerialMagic + "\x00\x00\x00\x01\x00\x00\x00\x01"
	xerialChunk  = 32 << 10
)

// compressSnappy appends src in xerial framing.
func compressSnappy(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		chunk := src[:min(len(src), xerialChunk)]
		src = src[len(chunk):]
		at := len(dst)
		dst = slices.Grow(dst, 4+s2.MaxEncodedLen(len(chunk)))[:at+4]
		block := s2.EncodeSnappy(dst[at+4:cap(dst)], chunk)
		dst = dst[:at+4+len(block)]
		binary.BigEndian.PutUint32(dst[at:], uint32(len(block)))
	}
	return dst
}

// decompressSnappy appends the content of src, in either framing.
func decompressSnappy(dst, src []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, []byte(xerialMagic)) {
		return snappyBlock(dst, src, limit)
	}
	// The chunks' sizes are known beforehand, so that one buffer does.
	total := 0
	if err := xerialChunks(src, func(block []byte) error {
		n, err := snappySize(block)
		total += n
		if err == nil && total > limit {
			return ErrDecompressedTooLarge
		}
		return err
	}); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, total)
	err := xerialChunks(src, func(block []byte) (err error) {
		dst, err = snappyBlock(dst, block, limit)
		return err
	})
	return dst, err
}

// xerialChunks calls f for each chunk of src. One to three bytes behind the last chunk
// are ignored, as in Kafka.
func xerialChunks(src []byte, f func(block []byte) error) error {
	for len(src) >= 4 {
		if bytes.HasPrefix(src, []byte(xerialMagic)) {
			if len(src) < len(xerialHeader) {
				return errStreamCut
			}
			src = src[len(xerialHeader):]
			continue
		}
		size := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if size > int64(len(src)) {
			return errStreamCut
		}
		if err := f(src[:size]); err != nil {
			return err
		}
		src = src[size:]
	}
	return nil
}

// snappySize is the size that a raw block announces, if its bytes can hold as much: an
// element of 3 bytes yields at most 64.
func snappySize(block []byte) (int, error) {
	n, err := s2.DecodedLen(block)
	if err == nil && n > 22*len(block) {
		err = s2.ErrCorrupt
	}
	return n, err
}

// snappyBlock appends the content of a raw block.
func snappyBlock(dst, block []byte, limit int) ([]byte, error) {
	n, err := snappySize(block)
	if err != nil {
		return dst, err
	}
	if n > limit-len(dst) {
		return dst, ErrDecompressedTooLarge
	}
	dst = slices.Grow(dst, n)
	at := len(dst)
	out, err := s2.Decode(dst[at:at+n], block)
	return dst[:at+len(out)], err
}
