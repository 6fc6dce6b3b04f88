package format

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// appendJSON writes b as the JSON value that stands for bytes in a row: null, a string,
// or {"base64":"…"} where b is not UTF-8. An encoded surrogate is not UTF-8.
func appendJSON(dst, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	if isPlain(b) {
		dst = slices.Grow(dst, len(b)+2)
		return append(append(append(dst, '"'), b...), '"')
	}
	if !utf8.Valid(b) {
		dst = append(dst, `{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, b)
		return append(dst, `"}`...)
	}
	return appendJSONString(dst, b)
}

// appendJSONString writes b, which is UTF-8, as a JSON string. Line separators that
// JavaScript does not allow in a string are escaped like control characters.
func appendJSONString(dst, b []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(b)
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return append(dst, '"')
		}
		n = 1
		if b[0] >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRune(b)
			if r != '\u2028' && r != '\u2029' {
				dst = append(dst, b[:n]...)
			} else {
				dst = append(dst, `\u202`...)
				dst = append(dst, hexDigits[r&15])
			}
		} else {
			dst = appendJSONEscape(dst, b[0])
		}
		b = b[n:]
	}
}

const hexDigits = "0123456789abcdef"

func appendJSONEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Every byte of a word repeated.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit of each byte of w set that is a control character, a quote
// or a backslash: there subtracting wraps around. A borrow may set it in a byte above
// such a one too, and it may be set in a byte that is not ASCII; it is never missing.
func special(w uint64) uint64 {
	return (w - 0x20*ones) | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)
}

// firstByte is which byte of a word has the lowest bit of marks, the high bits of its
// bytes. A mark that a borrow left is never the lowest one.
func firstByte(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }

// isPlain reports whether all of b is ASCII that stands for itself in a JSON string. The
// last sixteen bytes overlap those before them.
func isPlain(b []byte) bool {
	if len(b) < 16 {
		return plainPrefix(b) == len(b)
	}
	plain := func(b []byte) bool {
		w1, w2 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		return (w1|w2|special(w1)|special(w2))&highs == 0
	}
	for i := 0; i+16 < len(b); i += 16 {
		if !plain(b[i:]) {
			return false
		}
	}
	return plain(b[len(b)-16:])
}

// plainPrefix counts the bytes at the beginning of b that stand for themselves in a
// JSON string and are ASCII.
func plainPrefix(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := (w | special(w)) & highs; odd != 0 {
			return i + firstByte(odd)
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}
