package value

import (
	"math"
	"math/bits"
	"strconv"
)

// digits returns how many decimal digits s begins with.
func digits(s string) int {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// allDigits reports whether s is made of digits alone, of at least one.
func allDigits(s string) bool { return s != "" && digits(s) == len(s) }

// parseNatural reads a number without sign that fits 63 bits.
func parseNatural(s string) (int64, bool) {
	if !allDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// maxFraction is how many digits behind the point are read; more are refused, since
// they would be dropped in silence.
const maxFraction = 18

// decimal is a number without sign as it was written: whole + fraction/scale.
type decimal struct {
	whole    uint64
	fraction uint64
	scale    uint64 // a power of ten, 1 without a fraction
}

// parseDecimal reads digits, optionally a point and digits, and returns what stands
// behind them. It wants at least one digit before the point and one behind it.
func parseDecimal(s string) (d decimal, rest string, ok bool) {
	n := digits(s)
	whole, err := strconv.ParseUint(s[:n], 10, 64)
	if n == 0 || err != nil {
		return d, s, false
	}
	d = decimal{whole: whole, scale: 1}
	if n == len(s) || s[n] != '.' {
		return d, s[n:], true
	}
	f := digits(s[n+1:])
	if f == 0 || f > maxFraction {
		return d, s, false
	}
	d.fraction, _ = strconv.ParseUint(s[n+1:n+1+f], 10, 64)
	for range f {
		d.scale *= 10
	}
	return d, s[n+1+f:], true
}

// times multiplies by unit, dropping what is less than one. It is exact and fails
// when the result does not fit 63 bits.
func (d decimal) times(unit int64) (int64, bool) {
	over, n := bits.Mul64(d.whole, uint64(unit))
	if over != 0 || n > math.MaxInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(d.fraction, uint64(unit))
	part, _ := bits.Div64(hi, lo, d.scale) // fraction < scale, so hi < scale
	n += part
	if n > math.MaxInt64 {
		return 0, false
	}
	return int64(n), true
}

// ParseCount reads a number of records or partitions: digits, no sign.
func ParseCount(s string) (int64, error) {
	n, ok := parseNatural(s)
	if !ok {
		return 0, &Error{"count", s, "want a whole number"}
	}
	return n, nil
}
