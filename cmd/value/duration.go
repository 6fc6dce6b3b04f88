package value

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// A day and a week are spans of 24 and 168 hours, whatever a clock does meanwhile.
const (
	day  = 24 * time.Hour
	week = 7 * day
)

const durationForm = "want a number with ms, s, m, h, d or w, as 250ms or 7d"

// ParseDuration reads a span of time: 250ms, 10s, 5m, 36h, 7d, 2w, and several of
// them in a row (1h30m). A number needs its unit, except 0. There is no sign.
func ParseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	sum, rest := int64(0), s
	for {
		d, r, ok := parseDecimal(rest)
		if !ok {
			return 0, &Error{"duration", s, durationForm}
		}
		unit, n := durationUnit(r)
		if n == 0 {
			return 0, &Error{"duration", s, durationForm}
		}
		part, ok := d.times(int64(unit))
		if !ok || part > math.MaxInt64-sum {
			return 0, &Error{"duration", s, "too long, the most is 292 years"}
		}
		sum += part
		if rest = r[n:]; rest == "" {
			return time.Duration(sum), nil
		}
	}
}

// durationUnit reads the unit that s begins with, and says how long its name is.
func durationUnit(s string) (time.Duration, int) {
	n := 0
	for n < len(s) && s[n] != '.' && (s[n] < '0' || s[n] > '9') {
		n++
	}
	switch s[:n] {
	case "ns":
		return time.Nanosecond, n
	case "us", "µs", "μs":
		return time.Microsecond, n
	case "ms":
		return time.Millisecond, n
	case "s":
		return time.Second, n
	case "m":
		return time.Minute, n
	case "h":
		return time.Hour, n
	case "d":
		return day, n
	case "w":
		return week, n
	}
	return 0, 0
}

// FormatDuration writes a span for people in its two largest units: 250ms, 1.5s,
// 2m5s, 3h20m, 7d, 12d6h. ParseDuration reads it, but what was rounded is lost.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 0 && d == math.MinInt64:
		return "-" + FormatDuration(math.MaxInt64)
	case d < 0:
		return "-" + FormatDuration(-d)
	case d == 0:
		return "0s"
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + "ns"
	case d < time.Millisecond:
		return small(d, time.Microsecond, "us")
	case d < time.Second:
		return small(d, time.Millisecond, "ms")
	case d < time.Minute:
		return small(d, time.Second, "s")
	case d < time.Hour:
		return pair(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return pair(d, time.Hour, "h", time.Minute, "m")
	}
	return pair(d, day, "d", time.Hour, "h")
}

// small writes d in one unit with at most one digit behind the point, cut, not
// rounded, so that it never reaches the next unit.
func small(d, unit time.Duration, name string) string {
	tenths := int64(d / (unit / 10))
	s := strconv.FormatInt(tenths/10, 10)
	if t := tenths % 10; t != 0 && tenths < 1000 {
		s += "." + strconv.FormatInt(t, 10)
	}
	return s + name
}

func pair(d, big time.Duration, bigName string, unit time.Duration, name string) string {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(int64(d/big), 10))
	b.WriteString(bigName)
	if n := d % big / unit; n != 0 {
		b.WriteString(strconv.FormatInt(int64(n), 10))
		b.WriteString(name)
	}
	return b.String()
}
