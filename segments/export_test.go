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
