package value

import (
	"strings"
	"time"
)

// civil is a date and a time of day as a wall shows them, without a zone.
type civil struct {
	year, month, day     int
	hour, minute, second int
	nanos                int64
}

// parseCalendar reads a date, or a date and a time of day with or without a zone.
func parseCalendar(s string, loc *time.Location) (time.Time, bool) {
	var c civil
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	ok1, ok2, ok3 := number(s[:4], 0, 9999, &c.year), number(s[5:7], 1, 12, &c.month), number(s[8:10], 1, 31, &c.day)
	if !ok1 || !ok2 || !ok3 || c.day > daysIn(c.year, c.month) {
		return time.Time{}, false
	}
	if len(s) == 10 {
		return c.in(loc), true
	}
	if s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return time.Time{}, false
	}
	rest, ok := c.parseClock(s[11:])
	if !ok {
		return time.Time{}, false
	}
	if rest == "" {
		return c.in(loc), true
	}
	off, ok := parseZone(rest)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(c.seconds()-int64(off), c.nanos).In(loc), true
}

// parseClock reads 14:05, 14:05:09 or 14:05:09.123 (also with a comma) and returns
// what stands behind it.
func (c *civil) parseClock(s string) (rest string, ok bool) {
	if len(s) < 5 || s[2] != ':' || !number(s[:2], 0, 23, &c.hour) || !number(s[3:5], 0, 59, &c.minute) {
		return s, false
	}
	s = s[5:]
	if s == "" || s[0] != ':' {
		return s, true
	}
	if len(s) < 3 || !number(s[1:3], 0, 59, &c.second) {
		return s, false
	}
	s = s[3:]
	if s == "" || s[0] != '.' && s[0] != ',' {
		return s, true
	}
	n := digits(s[1:])
	c.nanos, ok = parseNanos(s[1 : 1+n])
	return s[1+n:], ok
}

// parseZone reads Z, +01:00, +0100 or +01, with or without a space before it, and
// returns the seconds that the zone is ahead of UTC.
func parseZone(s string) (int, bool) {
	s = strings.TrimPrefix(s, " ")
	if s == "Z" || s == "z" || s == "UTC" {
		return 0, true
	}
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	var h, m int
	ok := number(s[1:3], 0, 23, &h)
	switch len(s) {
	case 3:
	case 5:
		ok = ok && number(s[3:], 0, 59, &m)
	case 6:
		ok = ok && s[3] == ':' && number(s[4:], 0, 59, &m)
	default:
		return 0, false
	}
	off := h*3600 + m*60
	if s[0] == '-' {
		off = -off
	}
	return off, ok
}

// number reads a field of digits and checks its range.
func number(s string, least, most int, to *int) bool {
	n, ok := parseNatural(s)
	*to = int(n)
	return ok && int64(least) <= n && n <= int64(most)
}

// daysIn is the length of a month. The zeroth day of the next month is the last of this.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// seconds counts from 1970 to c as if its zone were UTC.
func (c civil) seconds() int64 {
	return time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, 0, time.UTC).Unix()
}

// farthest is more than any zone has ever been ahead of or behind UTC, in seconds.
const farthest = 26 * 3600

// in finds the moment when clocks in loc show c: the first one if there are two, the
// next that they do show if there is none. time.Date promises neither.
//
// It walks through the periods of constant offset in order of time, beginning in one
// where clocks still show less than c.
func (c civil) in(loc *time.Location) time.Time {
	wall := c.seconds()
	t := time.Unix(wall-farthest, 0).In(loc)
	for {
		start, end := t.ZoneBounds()
		_, off := t.Zone()
		at := wall - int64(off)
		if !start.IsZero() && at < start.Unix() {
			return start.In(loc)
		}
		if end.IsZero() || at < end.Unix() {
			return time.Unix(at, c.nanos).In(loc)
		}
		t = end.In(loc)
	}
}

// LocalTime is the moment when clocks in loc show the date and time given: the first
// such moment if there are two, the next that they do show if there is none. Fields
// beyond their range are carried on, as time.Date does.
func LocalTime(year, month, day, hour, minute, second int, nanos int64, loc *time.Location) time.Time {
	return civil{year, month, day, hour, minute, second, nanos}.in(loc)
}

// midnight is the first moment of the day that is some days away from now's.
func midnight(now time.Time, loc *time.Location, days int) time.Time {
	y, m, d := now.In(loc).Date()
	day := time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC)
	return civil{year: day.Year(), month: int(day.Month()), day: day.Day()}.in(loc)
}
