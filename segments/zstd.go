package segments

import (
	"bytes"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdWindow is how far back a written frame refers: more than a usual batch, and
	// little memory for whoever reads it as a stream.
	zstdWindow = 1 << 20
	// zstdMaxWindow is the largest window that is read, window log 27 as in Kafka.
	zstdMaxWindow = 1 << 27
	// zstdBlock is the largest content of one block.
	zstdBlock = 128 << 10
	// zstdSlack behind the content lets the decoder copy in strides.
	zstdSlack = zstdBlock + 64
)

const errZstdFrame streamError = "not a zstd frame that Kafka reads"

// zstdWriter compresses with one encoder that it keeps.
type zstdWriter struct {
	z     *zstd.Encoder
	level int
}

// compress appends src as one frame without a checksum: the batch has one.
func (w *zstdWriter) compress(dst []byte, level int, src []byte) ([]byte, error) {
	if w.z == nil || w.level != level {
		z, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
			zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(zstdWindow),
			zstd.WithEncoderCRC(false))
		if err != nil {
			return dst, err
		}
		w.z, w.level = z, level
	}
	return w.z.EncodeAll(src, dst), nil
}

// zstdReader decompresses with one decoder that it keeps.
type zstdReader struct{ z *zstd.Decoder }

// decompress appends the content of src: frames and skippable frames. The decoder is
// given a buffer that it need not grow.
func (r *zstdReader) decompress(dst, src []byte, limit int) ([]byte, error) {
	room, exact, err := zstdRoom(src)
	if err != nil {
		return dst, err
	}
	if !exact && (room > measureBytes || room > int64(limit)) {
		if room, err = measureZstd(src, int64(limit)); err != nil {
			return dst, err
		}
	}
	if room > int64(limit) {
		return dst, ErrDecompressedTooLarge
	}
	if need := int(room) + zstdSlack; cap(dst)-len(dst) < need {
		dst = append(make([]byte, 0, len(dst)+need), dst...)
	}
	if r.z == nil {
		z, err := newZstdReader(nil)
		if err != nil {
			return dst, err
		}
		r.z = z
	}
	return r.z.DecodeAll(src, dst)
}

// newZstdReader is a decoder that works in the caller's goroutine.
func newZstdReader(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdMaxWindow),
		zstd.WithDecodeBuffersBelow(0))
}

// zstdRoom is what the frames of src can hold at most, as the headers of frames and
// blocks have it. exact says that every frame names its own size.
func zstdRoom(src []byte) (room int64, exact bool, err error) {
	exact = true
	for len(src) > 0 {
		var h zstd.Header
		if err := h.Decode(src); err != nil {
			return 0, false, cutIsError(err)
		}
		skip := int64(h.HeaderSize)
		if h.Skippable {
			skip += int64(h.SkippableSize)
		}
		if skip > int64(len(src)) {
			return 0, false, errStreamCut
		}
		src = src[skip:]
		if h.Skippable {
			continue
		}
		window := max(h.WindowSize, zstd.MinWindowSize)
		if h.SingleSegment {
			window = max(h.FrameContentSize, zstd.MinWindowSize)
		}
		var most int64
		if most, src, err = zstdBlocks(src, window); err != nil {
			return 0, false, err
		}
		if h.HasCheckSum {
			if len(src) < 4 {
				return 0, false, errStreamCut
			}
			src = src[4:]
		}
		switch {
		case !h.HasFCS:
			exact = false
		case h.FrameContentSize > math.MaxInt64 || int64(h.FrameContentSize) > most:
			return 0, false, errZstdFrame
		default:
			most = int64(h.FrameContentSize)
		}
		room += most
	}
	return room, exact, nil
}

// zstdBlocks walks over one frame's blocks, whose headers are 3 bytes: last block in
// bit 0, type in bits 1 and 2, size from bit 3 on. most is what they hold at most.
func zstdBlocks(src []byte, window uint64) (most int64, rest []byte, err error) {
	for last := false; !last; {
		if len(src) < 3 {
			return 0, nil, errStreamCut
		}
		head := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
		src = src[3:]
		last = head&1 != 0
		size := int(head >> 3)
		switch head >> 1 & 3 {
		case 0: // as it is
			most += int64(size)
		case 1: // one byte, repeated
			most += int64(size)
			size = 1
		case 2: // compressed
			most += int64(min(window, zstdBlock))
		default:
			return 0, nil, errZstdFrame
		}
		if size > len(src) {
			return 0, nil, errStreamCut
		}
		src = src[size:]
	}
	return most, src, nil
}

// measureZstd reads src to its end, or to a little beyond limit, and says how much it
// holds.
func measureZstd(src []byte, limit int64) (int64, error) {
	z, err := newZstdReader(bytes.NewReader(src))
	if err != nil {
		return 0, err
	}
	defer z.Close()
	n, err := io.CopyN(io.Discard, z, limit+1)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
