package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parse puts the value into c, or returns a *ConfigError.
func (d *configDef) parse(c *Config, value string) error {
	switch d.kind {
	case kindInt, kindBytes, kindMillis:
		n, ok := d.parseNumber(value)
		if !ok || n < d.min || n > d.max {
			return d.wrong(value)
		}
		*d.num(c) = n
	case kindRatio:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return d.wrong(value)
		}
		*d.ratio(c) = f
	case kindBool:
		switch strings.ToLower(value) {
		case "true":
			*d.flag(c) = true
		case "false":
			*d.flag(c) = false
		default:
			return d.wrong(value)
		}
	case kindChoice:
		if d.name == "compression.type" && value == "none" {
			value = "uncompressed"
		}
		if !slices.Contains(d.choices, value) {
			return d.wrong(value)
		}
		*d.text(c) = value
	case kindList:
		l, ok := d.parseList(value)
		if !ok {
			return d.wrong(value)
		}
		*d.list(c) = l
	}
	return nil
}

// format is the text of the value in c, which parse reads.
func (d *configDef) format(c *Config) string {
	switch d.kind {
	case kindRatio:
		return strconv.FormatFloat(*d.ratio(c), 'g', -1, 64)
	case kindBool:
		return strconv.FormatBool(*d.flag(c))
	case kindChoice:
		return *d.text(c)
	case kindList:
		return strings.Join(*d.list(c), ",")
	default:
		return strconv.FormatInt(*d.num(c), 10)
	}
}

func (d *configDef) parseNumber(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	switch d.kind {
	case kindBytes:
		return parseUnits(s, sizeUnits[:], false)
	case kindMillis:
		return parseUnits(s, timeUnits[:], true)
	}
	return 0, false
}

// parseList splits at commas, drops what stands twice, and keeps to choices.
func (d *configDef) parseList(s string) ([]string, bool) {
	var l []string
	for w := range strings.SplitSeq(s, ",") {
		w = strings.TrimSpace(w)
		switch {
		case w == "" && d.choices == nil:
			continue
		case d.choices != nil && !slices.Contains(d.choices, w):
			return nil, false
		case !slices.Contains(l, w):
			l = append(l, w)
		}
	}
	return l, true
}

// wrong says what the value should have been.
func (d *configDef) wrong(value string) error {
	var want string
	switch d.kind {
	case kindInt, kindBytes, kindMillis:
		noun := map[configKind]string{kindInt: "a number", kindBytes: "a size (like 64MiB)", kindMillis: "a time (like 7d)"}[d.kind]
		want = fmt.Sprintf("%s from %d on", noun, d.min)
		if d.max != math.MaxInt64 {
			want = fmt.Sprintf("%s from %d to %d", noun, d.min, d.max)
		}
		if d.min == -1 && d.name != "compression.gzip.level" {
			want += ", -1 for none"
		}
	case kindRatio:
		want = "a number from 0 to 1"
	case kindBool:
		want = "true or false"
	case kindChoice:
		want = "one of " + strings.Join(d.choices, ", ")
	case kindList:
		want = "one or more of " + strings.Join(d.choices, ", ")
	}
	return &ConfigError{Name: d.name, Value: value, Want: want}
}

type unit struct {
	name string
	n    int64
}

// A longer name stands before one that it begins with. Case does not matter.
var sizeUnits = [...]unit{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"b", 1},
}

var timeUnits = [...]unit{
	{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}, {"w", 7 * 86_400_000},
}

// parseUnits reads a number with a unit, "64MiB" or "1.5d", or where several may follow
// each other a sequence of them, "1h30m".
func parseUnits(s string, units []unit, several bool) (int64, bool) {
	var sum int64
	for first := true; s != "" || first; first = false {
		if !first && !several {
			return 0, false
		}
		end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end < 1 {
			return 0, false
		}
		number := s[:end]
		s = strings.ToLower(s[end:])
		u := slices.IndexFunc(units, func(u unit) bool { return strings.HasPrefix(s, u.name) })
		if u < 0 {
			return 0, false
		}
		n, ok := multiply(number, units[u].n)
		if !ok || sum > math.MaxInt64-n {
			return 0, false
		}
		sum += n
		s = s[len(units[u].name):]
	}
	return sum, true
}

// multiply is a decimal number times n; what is less than one is dropped.
func multiply(number string, n int64) (int64, bool) {
	const mostDigits = 6 // behind the point, so that nothing overflows
	whole, fraction, point := strings.Cut(number, ".")
	w, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || w > math.MaxInt64/n || point && (fraction == "" || len(fraction) > mostDigits) {
		return 0, false
	}
	product := w * n
	if point {
		f, err := strconv.ParseInt(fraction, 10, 64)
		if err != nil {
			return 0, false
		}
		power := int64(1)
		for range fraction {
			power *= 10
		}
		// n is at most 1 TiB, so that this stays below 2^60.
		part := f * n / power
		if product > math.MaxInt64-part {
			return 0, false
		}
		product += part
	}
	return product, true
}
