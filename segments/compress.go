package segments

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"
)

// The records of a compressed batch are one stream of the batch's codec. What is
// written is what every known client reads: one gzip member, snappy blocks of 32 KiB in
// xerial framing, one lz4 frame of independent blocks without checksums, one zstd
// frame without checksum. What is read is what Kafka reads, which is more.

// compressor holds what the codecs keep between batches. Nothing is made before a
// codec is first used.
type compressor struct {
	gzip gzipWriter
	lz4  lz4Writer
	zstd zstdWriter
}

// compress appends src to dst as one stream of the codec.
func (c *compressor) compress(dst []byte, codec Codec, level int, src []byte) ([]byte, error) {
	if len(src) > DefaultMaxDecompressed {
		return dst, fmt.Errorf("%w: %d bytes to compress into one batch", ErrBatchTooLarge, len(src))
	}
	switch codec {
	case Gzip:
		return c.gzip.compress(dst, level, src)
	case Snappy:
		return compressSnappy(dst, src), nil
	case LZ4:
		return c.lz4.compress(dst, level, src)
	case Zstd:
		return c.zstd.compress(dst, level, src)
	}
	return dst, fmt.Errorf("unknown %v", codec)
}

// decompressor holds what the codecs keep between batches for reading.
type decompressor struct {
	gzip gzipReader
	zstd zstdReader
}

// decompress appends the content of src, a stream of the batch's codec, to dst. It
// stops with ErrDecompressedTooLarge where that would be more than limit bytes, and
// takes no more memory than what the stream has been seen to hold: no length that a
// stream announces is believed.
func (c *decompressor) decompress(dst []byte, h BatchHeader, src []byte, limit int) ([]byte, error) {
	switch h.Codec() {
	case Gzip:
		return c.gzip.decompress(dst, src, limit)
	case Snappy:
		return decompressSnappy(dst, src, limit)
	case LZ4:
		return decompressLZ4(dst, src, limit, h.Magic == 0)
	case Zstd:
		return c.zstd.decompress(dst, src, limit)
	}
	return dst, errUnknownCodec
}

// streamError is what is wrong with a compressed stream, where no codec says it.
type streamError string

const (
	errUnknownCodec streamError = "unknown codec"
	errStreamCut    streamError = "stream ends too early"
)

// Error says it.
func (e streamError) Error() string { return string(e) }

const (
	// keepBytes is the size up to which a buffer is kept from batch to batch whatever
	// is in it.
	keepBytes = 1 << 20
	// measureBytes is the size from which a stream is measured to its end before more
	// memory is taken for it: growing a buffer of that size step by step would need
	// twice the memory and more.
	measureBytes = 32 << 20
	// hugeBytes is the size from which a buffer that is given up goes back to the system
	// at once: the collector would come only when as much again has been taken.
	hugeBytes = 32 << 20
)

// keepBuffer returns b for using it again, or nil when it is large and was not needed
// to be: one huge batch must not hold its memory for the rest of the run.
func keepBuffer(b []byte) []byte {
	if cap(b) > keepBytes && len(b) < cap(b)/4 {
		return nil
	}
	return b
}

// taken empties a variable and returns what it held: nobody else holds it then.
func taken(b *[]byte) []byte {
	v := *b
	*b = nil
	return v
}

// newBuffer returns a buffer with room for size bytes that begins with keep, in place
// of old, which keep may be a part of and nobody else holds any more.
func newBuffer(old, keep []byte, size int) []byte {
	if cap(old) >= hugeBytes && len(keep) < cap(old)/4 {
		keep = bytes.Clone(keep)
		old = nil
		debug.FreeOSMemory()
	}
	return append(make([]byte, 0, size), keep...)
}

// output is the buffer that a stream of unknown size is decompressed into.
type output struct {
	b        []byte
	limit    int
	measured bool // b has room for all that will come
}

// room makes space for n more bytes. When that needs a large buffer, measure says how
// many more bytes there will be in all, so that the buffer is the last one.
func (o *output) room(n int, measure func() (int, error)) error {
	switch {
	case o.measured || n <= cap(o.b)-len(o.b):
		return nil
	case len(o.b)+n <= measureBytes:
		o.b = slices.Grow(o.b, max(n, min(cap(o.b), measureBytes-len(o.b))))
		return nil
	}
	rest, err := measure()
	if err != nil {
		return err
	}
	if rest > o.limit-len(o.b) {
		return ErrDecompressedTooLarge
	}
	if rest > cap(o.b)-len(o.b) {
		size := len(o.b) + rest
		b := taken(&o.b)
		o.b = newBuffer(b, b, size)
	}
	o.measured = true
	return nil
}
