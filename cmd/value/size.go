package value

import (
	"math"
	"strconv"
	"strings"
)

const sizeForm = "want a number with B, KiB, MiB, GiB, KB, MB or GB, as 64KiB"

// ParseSize reads a number of bytes: 512, 512B, 64KiB, 10MB, 1.5GiB. KB, MB … are
// powers of 1000; KiB, MiB … and the bare letters K, M … powers of 1024. Case does
// not matter. Parts of a byte are dropped.
func ParseSize(s string) (int64, error) {
	d, rest, ok := parseDecimal(s)
	if !ok {
		return 0, &Error{"size", s, sizeForm}
	}
	unit, ok := sizeUnit(strings.TrimPrefix(rest, " "))
	if !ok {
		return 0, &Error{"size", s, sizeForm}
	}
	n, ok := d.times(unit)
	if !ok {
		return 0, &Error{"size", s, "too large"}
	}
	return n, nil
}

// sizeUnit says how many bytes a unit means.
func sizeUnit(u string) (int64, bool) {
	if u == "" || u == "B" || u == "b" {
		return 1, true
	}
	power := strings.IndexByte("KMGTPE", upper(u[0])) + 1
	if power == 0 {
		return 0, false
	}
	base := int64(1024)
	switch strings.ToUpper(u[1:]) {
	case "", "IB":
	case "B":
		base = 1000
	default:
		return 0, false
	}
	n := int64(1)
	for range power {
		n *= base
	}
	return n, true
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// FormatSize writes a number of bytes for people, with three digits or so: 512B,
// 64KiB, 1.5GiB. ParseSize reads it, but what was rounded is lost.
func FormatSize(n int64) string {
	if n < 0 {
		if n == math.MinInt64 {
			n++
		}
		return "-" + FormatSize(-n)
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	f, i := float64(n), -1
	for f >= 1024 && i < 5 {
		f /= 1024
		i++
	}
	// What would be rounded up to 1024 of a unit is one of the next.
	if f >= 1023.95 && i < 5 {
		f /= 1024
		i++
	}
	prec := 1
	if f >= 99.95 {
		prec = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', prec, 64), ".0") + "KMGTPE"[i:i+1] + "iB"
}
