package segments

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// An lz4 stream is one frame:
//
//	0   uint32  0x184D2204, little endian as all of it
//	4   flags   version 1 in bits 6 and 7; 0x20 independent blocks, 0x10 block
//	            checksums, 0x08 content size, 0x04 content checksum
//	5   block   largest block in bits 4 to 6: 4 is 64 KiB, 5 256 KiB, 6 1 MiB, 7 4 MiB
//	6   uint64  content size, if its flag is set
//	..  byte    header checksum: second byte of the xxHash32 of flags to content size
//	..  blocks: uint32 size, with the top bit set if stored plainly; data; checksum
//	..  uint32  0, the end mark; content checksum
//
// Kafka reads independent blocks alone, checks header and block checksums, not the
// content's, and ignores what follows the end mark. The header checksum of magic 0
// was computed over the wrong bytes and is not checked there.

const (
	lz4Magic = 0x184D2204
	// lz4Header is the start of every frame that klog writes: independent blocks of
	// at most 64 KiB, no sizes, no checksums. Its last byte is the header checksum.
	lz4Header    = "\x04\x22\x4d\x18\x60\x40\x82"
	lz4BlockSize = 64 << 10
	lz4Plain     = 1 << 31 // in a block's size: not compressed
)

const (
	lz4FlagIndependent     = 0x20
	lz4FlagBlockChecksum   = 0x10
	lz4FlagContentSize     = 0x08
	lz4FlagContentChecksum = 0x04
	lz4FlagReserved        = 0x03 // one is a dictionary id today
)

const (
	errLZ4Frame    streamError = "not an lz4 frame that Kafka reads"
	errLZ4Linked   streamError = "lz4 blocks depend on each other"
	errLZ4Checksum streamError = "bad lz4 checksum"
	errLZ4Block    streamError = "bad lz4 block"
)

// lz4Writer compresses with tables that it keeps.
type lz4Writer struct {
	fast *lz4Fast
	high *lz4.CompressorHC
}

// compress appends src as one frame.
func (z *lz4Writer) compress(dst []byte, level int, src []byte) ([]byte, error) {
	block := z.block(level)
	dst = append(dst, lz4Header...)
	for len(src) > 0 {
		chunk := src[:min(len(src), lz4BlockSize)]
		src = src[len(chunk):]
		at := len(dst)
		dst = slices.Grow(dst, 4+lz4.CompressBlockBound(len(chunk)))
		n, err := block(chunk, dst[at+4:at+4+lz4.CompressBlockBound(len(chunk))])
		if err != nil {
			return dst, err
		}
		size := uint32(n)
		if n == 0 || n >= len(chunk) {
			n = copy(dst[at+4:at+4+len(chunk)], chunk)
			size = uint32(n) | lz4Plain
		}
		dst = dst[:at+4+n]
		binary.LittleEndian.PutUint32(dst[at:], size)
	}
	return append(dst, 0, 0, 0, 0), nil
}

// block is the function that compresses one block at a level.
func (z *lz4Writer) block(level int) func(src, dst []byte) (int, error) {
	if level <= 1 {
		if z.fast == nil {
			z.fast = new(lz4Fast)
		}
		return z.fast.compress
	}
	if z.high == nil {
		z.high = new(lz4.CompressorHC)
	}
	// The library's levels are search depths: 1<<9 at the first, doubled each time.
	z.high.Level = lz4.Level1 << min(level-2, 8)
	return z.high.CompressBlock
}

// decompressLZ4 appends the content of the frame that src begins with.
func decompressLZ4(dst, src []byte, limit int, magic0 bool) ([]byte, error) {
	f, err := parseLZ4Frame(src, magic0)
	if err != nil {
		return dst, err
	}
	out := output{b: dst, limit: limit}
	for {
		block, plain, ok, err := f.next()
		if err != nil || !ok {
			return out.b, err
		}
		size := f.largest
		switch {
		case plain:
			size = len(block)
		case size > cap(out.b)-len(out.b):
			// Some clients allow blocks of 4 MiB and fill a few KiB.
			size = min(size, lz4ContentSize(block))
		}
		if err := out.room(size, func() (int, error) { return f.measure(block, plain, limit-len(out.b)) }); err != nil {
			return out.b, err
		}
		free := out.b[len(out.b):min(len(out.b)+size, cap(out.b))]
		n := 0
		if plain {
			n = copy(free, block)
		} else if n, err = lz4.UncompressBlock(block, free); err != nil {
			return out.b, errLZ4Block
		}
		out.b = out.b[:len(out.b)+n]
		if len(out.b) > limit {
			return out.b, ErrDecompressedTooLarge
		}
	}
}

// lz4Frame walks over the blocks of a frame.
type lz4Frame struct {
	rest     []byte // from the next block's size on
	largest  int    // size of the largest block
	checksum bool   // blocks carry one
}

// parseLZ4Frame reads the frame's header.
func parseLZ4Frame(src []byte, magic0 bool) (lz4Frame, error) {
	if len(src) < len(lz4Header) || binary.LittleEndian.Uint32(src) != lz4Magic {
		return lz4Frame{}, errLZ4Frame
	}
	flags, desc := src[4], src[5]
	size := desc >> 4
	if flags>>6 != 1 || flags&lz4FlagReserved != 0 || desc&0x8f != 0 || size < 4 {
		return lz4Frame{}, errLZ4Frame
	}
	if flags&lz4FlagIndependent == 0 {
		return lz4Frame{}, errLZ4Linked
	}
	end := 6
	if flags&lz4FlagContentSize != 0 {
		end += 8
	}
	if len(src) <= end {
		return lz4Frame{}, errStreamCut
	}
	if !magic0 && byte(xxh32(src[4:end])>>8) != src[end] {
		return lz4Frame{}, errLZ4Checksum
	}
	return lz4Frame{
		rest:     src[end+1:],
		largest:  1 << (8 + 2*size),
		checksum: flags&lz4FlagBlockChecksum != 0,
	}, nil
}

// next returns the next block's data; ok is false at the end mark.
func (f *lz4Frame) next() (block []byte, plain, ok bool, err error) {
	if len(f.rest) < 4 {
		return nil, false, false, errStreamCut
	}
	size := binary.LittleEndian.Uint32(f.rest)
	f.rest = f.rest[4:]
	plain = size&lz4Plain != 0
	size &^= lz4Plain
	switch {
	case size == 0:
		return nil, false, false, nil
	case int64(size) > int64(f.largest):
		return nil, false, false, errLZ4Block
	case int64(size) > int64(len(f.rest)):
		return nil, false, false, errStreamCut
	}
	block, f.rest = f.rest[:size], f.rest[size:]
	if f.checksum {
		if len(f.rest) < 4 {
			return nil, false, false, errStreamCut
		}
		if xxh32(block) != binary.LittleEndian.Uint32(f.rest) {
			return nil, false, false, errLZ4Checksum
		}
		f.rest = f.rest[4:]
	}
	return block, plain, true, nil
}

// measure is the size of the block's content and of all that follow, counted no
// further than a little beyond limit.
func (f lz4Frame) measure(block []byte, plain bool, limit int) (int, error) {
	total := 0
	for ok := true; ok && total <= limit; {
		if plain {
			total += len(block)
		} else {
			total += lz4ContentSize(block)
		}
		var err error
		if block, plain, ok, err = f.next(); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// lz4ContentSize adds up the literal and match lengths of a compressed block. Of a
// damaged one it says no more than its bytes account for.
func lz4ContentSize(b []byte) int {
	total := 0
	for len(b) > 0 {
		token := b[0]
		var n int
		n, b = lz4Length(b[1:], token>>4)
		total += n
		if n+2 >= len(b) {
			return total
		}
		n, b = lz4Length(b[n+2:], token&15)
		total += n + 4
	}
	return total
}

// lz4Length reads what goes on of a length whose first 4 bits are n.
func lz4Length(b []byte, n byte) (int, []byte) {
	total := int(n)
	if n < 15 {
		return total, b
	}
	for len(b) > 0 {
		c := b[0]
		b = b[1:]
		total += int(c)
		if c < 255 {
			break
		}
	}
	return total, b
}
