package format

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// number says how a number is written.
type number struct {
	base  numberBase
	width int // bytes for big and little, digits for hex; 0: as many as needed
}

type numberBase int8

const (
	decimalBase numberBase = iota
	hexBase
	bigBase
	littleBase
)

// parseNumber reads the modifier of a number directive.
func parseNumber(word string) (number, bool) {
	switch word {
	case "ascii", "number":
		return number{}, true
	case "byte":
		return number{bigBase, 1}, true
	case "hex":
		return number{base: hexBase}, true
	}
	for i, name := range [...]string{"hex", "big", "little"} {
		bits, ok := strings.CutPrefix(word, name)
		if !ok {
			continue
		}
		base := hexBase + numberBase(i)
		switch bits {
		case "8", "16", "32", "64":
			n, _ := strconv.Atoi(bits)
			if base == hexBase {
				return number{base, n / 4}, true
			}
			return number{base, n / 8}, true
		}
	}
	return number{}, false
}

// bits is the width in bits, 64 where there is none.
func (f number) bits() int {
	switch {
	case f.width == 0:
		return 64
	case f.base == hexBase:
		return 4 * f.width
	}
	return 8 * f.width
}

// fits reports whether n can be written. In less than 64 bits all ones mean -1, so
// the highest number is one less than that, and nothing else is negative.
func (f number) fits(n int64) bool {
	bits := f.bits()
	return bits == 64 || n == -1 || n >= 0 && n < 1<<bits-1
}

// append writes n, which fits.
func (f number) append(dst []byte, n int64) []byte {
	switch f.base {
	case hexBase:
		if f.width == 0 {
			return strconv.AppendUint(dst, uint64(n), 16)
		}
		for i := f.width - 1; i >= 0; i-- {
			dst = append(dst, "0123456789abcdef"[uint64(n)>>(4*i)&15])
		}
		return dst
	case bigBase:
		for i := f.width - 1; i >= 0; i-- {
			dst = append(dst, byte(uint64(n)>>(8*i)))
		}
		return dst
	case littleBase:
		for i := range f.width {
			dst = append(dst, byte(uint64(n)>>(8*i)))
		}
		return dst
	}
	return strconv.AppendInt(dst, n, 10)
}

// fixed reports how many bytes the number always takes, 0 if that varies.
func (f number) fixed() int {
	if f.base == decimalBase {
		return 0
	}
	return f.width
}

// binary reports whether the number may be any bytes.
func (f number) binary() bool { return f.base == bigBase || f.base == littleBase }

// read returns the number that b holds, all of b.
func (f number) read(b []byte) (int64, bool) {
	switch f.base {
	case decimalBase:
		n, err := strconv.ParseInt(string(b), 10, 64)
		return n, err == nil && b[0] != '+'
	case hexBase:
		if len(b) == 0 || len(b) > 16 {
			return 0, false
		}
		var u uint64
		for _, c := range b {
			d := unhex(c)
			if d < 0 {
				return 0, false
			}
			u = u<<4 | uint64(d)
		}
		return f.signed(u), true
	}
	var buf [8]byte
	if f.base == bigBase {
		copy(buf[8-len(b):], b)
		return f.signed(binary.BigEndian.Uint64(buf[:])), true
	}
	copy(buf[:], b)
	return f.signed(binary.LittleEndian.Uint64(buf[:])), true
}

// signed undoes what append made of -1.
func (f number) signed(u uint64) int64 {
	if bits := f.bits(); bits < 64 && u == math.MaxUint64>>(64-bits) {
		return -1
	}
	return int64(u)
}

// unhex is the value of a hexadecimal digit, -1 of anything else.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
