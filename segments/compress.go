package segments

import "fmt"

// compressor holds what the codecs keep between batches. Nothing is made before a
// codec is first used.
type compressor struct{}

// decompressor is the other direction.
type decompressor struct{}

func (c *compressor) compress(dst []byte, codec Codec, level int, src []byte) ([]byte, error) {
	return dst, fmt.Errorf("unknown %v", codec)
}

func (c *decompressor) decompress(dst []byte, h BatchHeader, src []byte, limit int) ([]byte, error) {
	return dst, fmt.Errorf("unknown %v", h.Codec())
}

// keepBytes is the size up to which a buffer is kept from batch to batch whatever is
// in it.
const keepBytes = 1 << 20

// keepBuffer returns b for using it again, or nil when it is large and was not needed
// to be: one huge batch must not hold its memory for the rest of the run.
func keepBuffer(b []byte) []byte {
	if cap(b) > keepBytes && len(b) < cap(b)/4 {
		return nil
	}
	return b
}
