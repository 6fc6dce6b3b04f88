package segments

// The varint codec for the tests outside of the package.
var (
	Varint32 = varint32
	Varint64 = varint64
	XXH32    = xxh32
)

// AppendVarint32 and AppendVarint64 are the two ways in which the Builder writes.
func AppendVarint32(dst []byte, v int32) []byte {
	word, n := spread32(zigzag32(v))
	for range n {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return dst
}

func AppendVarint64(dst []byte, v int64) []byte { return appendVarint64(dst, zigzag64(v)) }

func VarintSize32(v int32) int { return varintSize32(zigzag32(v)) }
func VarintSize64(v int64) int { return varintSize64(zigzag64(v)) }

// Compress and Decompress are a codec alone, without a batch around its stream.
func Compress(codec Codec, level int, src []byte) ([]byte, error) {
	var c compressor
	return c.compress(nil, codec, level, src)
}

// Decompress also says how large the buffer has become.
func Decompress(codec Codec, src []byte, limit int) (out []byte, capacity int, err error) {
	var d decompressor
	out, err = d.decompress(nil, BatchHeader{Magic: 2, Attributes: int16(codec)}, src, limit)
	return out, cap(out), err
}
