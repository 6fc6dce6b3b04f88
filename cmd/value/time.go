package value

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const timeForm = `want 2026-12-01, "2026-12-01 14:05", RFC 3339, @seconds, 13 digits (ms), 10m (ago), today or yesterday`

// ParseTime reads a moment. It may be written as
//
//	2026-12-01T14:05:09.123+01:00   RFC 3339, also with a space for the T
//	2026-12-01 14:05[:09[.123]]     local time in loc
//	2026-12-01                      its first moment in loc
//	@1764547200[.123]               seconds since 1970; 13 digits are milliseconds
//	1764547200000                   13 digits: milliseconds since 1970
//	10m, -10m, 7d                   that long before now; a day is 24 hours
//	now, today, yesterday           the latter two begin at midnight in loc
//
// A number of any other count of digits is refused, because seconds and milliseconds
// cannot be told apart: seconds need the @. A local time that comes twice, when
// clocks go back, is the earlier one; one that is left out, when they go forward, is
// the first moment behind the gap. The result is in loc.
func ParseTime(s string, now time.Time, loc *time.Location) (time.Time, error) {
	if t, ok := parseTime(s, now, loc); ok {
		return t.In(loc), nil
	}
	if allDigits(s) {
		return time.Time{}, &Error{"time", s, "a number is milliseconds with 13 digits, or seconds behind an @"}
	}
	return time.Time{}, &Error{"time", s, timeForm}
}

func parseTime(s string, now time.Time, loc *time.Location) (time.Time, bool) {
	switch {
	case s == "":
		return time.Time{}, false
	case s == "now":
		return now, true
	case s == "today":
		return midnight(now, loc, 0), true
	case s == "yesterday":
		return midnight(now, loc, -1), true
	case s[0] == '@':
		return parseEpoch(s[1:])
	case len(s) == msDigits && allDigits(s):
		return parseEpoch(s)
	}
	if ago := strings.TrimPrefix(s, "-"); ago != "0" {
		if d, err := ParseDuration(ago); err == nil {
			return now.Add(-d), true
		}
	}
	return parseCalendar(s, loc)
}

// msDigits is the length of a time in milliseconds between 2001 and 2286.
const msDigits = 13

// maxSecondDigits is the length of a time in seconds up to the year 5138; a longer
// number without a fraction is more likely in another unit.
const maxSecondDigits = 11

// parseEpoch reads a number of seconds since 1970, or of milliseconds when it has 13
// digits and no fraction. With a fraction it may have a sign and any length, which
// is how FormatTime writes moments that RFC 3339 cannot say.
func parseEpoch(s string) (time.Time, bool) {
	whole, fraction, hasFraction := strings.Cut(s, ".")
	if !hasFraction {
		n, ok := parseNatural(s)
		switch {
		case ok && len(s) == msDigits:
			return time.UnixMilli(n), true
		case ok && len(s) <= maxSecondDigits:
			return time.Unix(n, 0), true
		}
		return time.Time{}, false
	}
	ns, ok := parseNanos(fraction)
	if !ok {
		return time.Time{}, false
	}
	abs := strings.TrimPrefix(whole, "-")
	sec, ok := parseNatural(abs)
	// Beyond this a moment has no number of milliseconds.
	if !ok || sec > math.MaxInt64/1000 {
		return time.Time{}, false
	}
	if abs != whole {
		return time.Unix(-sec, -ns), true
	}
	return time.Unix(sec, ns), true
}

// parseNanos reads the one to nine digits behind a point.
func parseNanos(s string) (int64, bool) {
	if !allDigits(s) || len(s) > 9 {
		return 0, false
	}
	n, _ := strconv.ParseInt(s+"000000000"[len(s):], 10, 64)
	return n, true
}

// Millis is the first millisecond since 1970 that is not before t. A record's
// timestamp, which is in milliseconds, is at or after t exactly when it is at least
// Millis(t), and before t exactly when it is less.
func Millis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

// FormatTime writes milliseconds since 1970 as RFC 3339 with milliseconds and the
// offset of loc, in a form that ParseTime reads back exactly.
func FormatTime(ms int64, loc *time.Location) string {
	return string(AppendTime(nil, ms, loc))
}

// AppendTime appends what FormatTime returns.
func AppendTime(b []byte, ms int64, loc *time.Location) []byte {
	t := time.UnixMilli(ms).In(loc)
	_, off := t.Zone()
	if off%60 != 0 {
		t, off = t.UTC(), 0 // RFC 3339 has no seconds in an offset; local mean times do
	}
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return appendEpoch(b, t, 3)
	}
	hour, minute, second := t.Clock()
	b = append(two(two(b, year/100), year%100), '-')
	b = append(two(b, int(month)), '-')
	b = append(two(b, day), 'T')
	b = append(two(b, hour), ':')
	b = append(two(b, minute), ':')
	b = append(two(b, second), '.')
	f := t.Nanosecond() / 1e6
	b = two(append(b, '0'+byte(f/100)), f%100)
	switch {
	case off == 0:
		return append(b, 'Z')
	case off < 0:
		b, off = append(b, '-'), -off
	default:
		b = append(b, '+')
	}
	return two(append(two(b, off/3600), ':'), off/60%60)
}

// two appends two digits.
func two(b []byte, n int) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// appendEpoch writes @seconds.fraction, for years that RFC 3339 does not have. The
// fraction has so many digits, and a moment before 1970 counts backwards in both.
func appendEpoch(b []byte, t time.Time, fraction int) []byte {
	sec, ns := t.Unix(), t.Nanosecond()
	b = append(b, '@')
	if sec < 0 {
		b = append(b, '-')
		if ns > 0 {
			sec, ns = sec+1, 1e9-ns
		}
		sec = -sec
	}
	b = append(strconv.AppendInt(b, sec, 10), '.')
	for unit := int(1e8); fraction > 0; fraction-- {
		b = append(b, '0'+byte(ns/unit%10))
		unit /= 10
	}
	return b
}

// ParseEpochMillis reads a number as programs write it into JSON: milliseconds since
// 1970 when it has 13 digits, else seconds, which may have a fraction and an exponent.
// The result is in milliseconds; what is less than one is dropped.
func ParseEpochMillis(s string) (int64, error) {
	if t, ok := parseEpoch(s); ok {
		return t.UnixMilli(), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= 1e11 || !strings.ContainsAny(s, ".eE") || strings.ContainsAny(s, "xX_") {
		return 0, &Error{"time", s, "want milliseconds with 13 digits, or seconds"}
	}
	return int64(math.Floor(f*1000 + epsilon)), nil
}

// epsilon is less than the spacing of floats that are milliseconds of our time, and
// makes up for decimal fractions that a float does not hit.
const epsilon = 1e-3
