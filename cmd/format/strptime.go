package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

// unreadable returns a directive of c that writes but cannot be read, "" if there is
// none: weeks and centuries alone do not make a date.
func (c clock) unreadable() string {
	for i := range c {
		if strings.IndexByte("CgGUVW", c[i].verb) >= 0 && c[i].verb != 0 {
			return "%" + string(c[i].verb)
		}
	}
	return ""
}

// widest is more than any readable clock item takes, text apart.
const widest = 24

// maxLen is how many bytes the longest time takes that c reads.
func (c clock) maxLen() int {
	n := 0
	for i := range c {
		if c[i].verb == 0 {
			n += len(c[i].text)
			continue
		}
		n += widest
	}
	return n
}

// moment collects what was read of a time.
type moment struct {
	year, month, day, yearDay int // 0: not read, but for year, which has hasYear
	hour, minute, second      int
	nanos                     int64
	hasYear, hasZone, pm, am  bool
	zone                      int // seconds ahead of UTC
	epoch                     int64
	hasEpoch                  bool
}

// parse reads a time that b begins with and returns how many bytes it takes. What was
// not written is taken from now: its day, or its year, the one before where that would
// lie more than a day ahead. Times without a zone are in loc.
func (c clock) parse(b []byte, now time.Time, loc *time.Location) (time.Time, int, error) {
	var m moment
	rest := b
	for i := range c {
		n, ok := c[i].parse(rest, &m)
		if !ok {
			return time.Time{}, 0, c[i].mismatch(rest)
		}
		rest = rest[n:]
	}
	t, err := m.time(now.In(loc), loc)
	return t, len(b) - len(rest), err
}

func (it *clockItem) mismatch(rest []byte) error {
	want := "%" + string(it.verb)
	if it.verb == 0 {
		want = strconv.Quote(it.text)
	}
	return fmt.Errorf("time: %q is not %s of strftime", rest[:min(len(rest), 24)], want)
}

// parse reads one item that b begins with and returns how many bytes it takes.
func (it *clockItem) parse(b []byte, m *moment) (int, bool) {
	switch it.verb {
	case 0:
		return len(it.text), len(b) >= len(it.text) && string(b[:len(it.text)]) == it.text
	case 'a', 'A':
		_, n := readName(b, 7, func(i int) string { return time.Weekday(i).String() })
		return n, n > 0
	case 'b', 'h', 'B':
		i, n := readName(b, 12, func(i int) string { return time.Month(i + 1).String() })
		m.month = i + 1
		return n, n > 0
	case 'p', 'P':
		return 2, readHalf(b, m)
	case 'N', 'f', 'L':
		return readFraction(b, it.fractionDigits(), &m.nanos)
	case 's':
		return readEpoch(b, m)
	case 'z':
		return readZone(b, m)
	case 'Z':
		return readZoneName(b, m)
	}
	return it.parseNumber(b, m)
}

// clockField says where a numeric directive is kept, in how many digits and in which
// range.
type clockField struct {
	to          *int
	digits      int
	least, most int
}

// parseNumber reads a numeric directive.
func (it *clockItem) parseNumber(b []byte, m *moment) (int, bool) {
	var year2, weekday int
	f := clockField{digits: 2}
	switch it.verb {
	case 'Y':
		m.hasYear = true
		f = clockField{to: &m.year, digits: 4, most: 9999}
	case 'y':
		f.to, f.most = &year2, 99
	case 'm':
		f.to, f.least, f.most = &m.month, 1, 12
	case 'd', 'e':
		f.to, f.least, f.most = &m.day, 1, 31
	case 'j':
		f = clockField{to: &m.yearDay, digits: 3, least: 1, most: 366}
	case 'H', 'k':
		f.to, f.most = &m.hour, 23
	case 'I', 'l':
		f.to, f.least, f.most = &m.hour, 1, 12
	case 'M':
		f.to, f.most = &m.minute, 59
	case 'S':
		f.to, f.most = &m.second, 60 // a leap second is the next second
	default: // u, w
		f = clockField{to: &weekday, digits: 1, most: 7}
	}
	n, ok := f.read(b)
	switch {
	case it.verb == 'y' && year2 < 69:
		m.year, m.hasYear = 2000+year2, true
	case it.verb == 'y':
		m.year, m.hasYear = 1900+year2, true
	case it.verb == 'I' || it.verb == 'l':
		m.hour %= 12
	}
	return n, ok
}

// read reads the field's number; spaces may stand for leading zeros.
func (f *clockField) read(b []byte) (int, bool) {
	n := 0
	for n < f.digits-1 && n < len(b) && b[n] == ' ' {
		n++
	}
	begin := n
	*f.to = 0
	for n < f.digits && n < len(b) && '0' <= b[n] && b[n] <= '9' {
		*f.to = 10**f.to + int(b[n]-'0')
		n++
	}
	return n, n > begin && f.least <= *f.to && *f.to <= f.most
}

// readName finds the name, or its first three letters, that b begins with, in any
// case.
func readName(b []byte, count int, name func(int) string) (i, n int) {
	for i := range count {
		full := name(i)
		switch {
		case len(b) >= len(full) && strings.EqualFold(string(b[:len(full)]), full):
			return i, len(full)
		case len(b) >= 3 && strings.EqualFold(string(b[:3]), full[:3]):
			return i, 3
		}
	}
	return 0, 0
}

func readHalf(b []byte, m *moment) bool {
	if len(b) < 2 || b[1]|0x20 != 'm' {
		return false
	}
	m.am, m.pm = b[0]|0x20 == 'a', b[0]|0x20 == 'p'
	return m.am || m.pm
}

// readFraction reads up to so many digits of a second's fraction.
func readFraction(b []byte, digits int, nanos *int64) (int, bool) {
	*nanos = 0
	n := 0
	unit := int64(1e8)
	for n < digits && n < len(b) && '0' <= b[n] && b[n] <= '9' {
		*nanos += int64(b[n]-'0') * unit
		unit /= 10
		n++
	}
	return n, n > 0
}

func readEpoch(b []byte, m *moment) (int, bool) {
	n := 0
	if n < len(b) && b[n] == '-' {
		n++
	}
	for n < len(b) && n < widest && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	sec, err := strconv.ParseInt(string(b[:n]), 10, 64)
	m.epoch, m.hasEpoch = sec, true
	const most = 1 << 53 // seconds; far beyond what has milliseconds in 64 bits
	return n, err == nil && -most < sec && sec < most
}

// readZone reads +0100, +01:00, +01 or Z.
func readZone(b []byte, m *moment) (int, bool) {
	m.hasZone, m.zone = true, 0
	if len(b) > 0 && b[0]|0x20 == 'z' {
		return 1, true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	var h, min int
	hours := clockField{to: &h, digits: 2, most: 23}
	minutes := clockField{to: &min, digits: 2, most: 59}
	n := 3
	if k, ok := hours.read(b[1:3]); k != 2 || !ok || b[1] == ' ' {
		return 0, false
	}
	more := b[3:]
	if len(more) > 0 && more[0] == ':' {
		more = more[1:]
	}
	if len(more) >= 2 && more[0] != ' ' {
		if k, ok := minutes.read(more[:2]); k == 2 && ok {
			n = len(b) - len(more) + 2
		}
	}
	m.zone = h*3600 + min*60
	if b[0] == '-' {
		m.zone = -m.zone
	}
	return n, true
}

// readZoneName reads the only names that mean the same everywhere.
func readZoneName(b []byte, m *moment) (int, bool) {
	m.hasZone, m.zone = true, 0
	for _, name := range [...]string{"UTC", "GMT", "Z"} {
		if len(b) >= len(name) && string(b[:len(name)]) == name {
			return len(name), true
		}
	}
	return 0, false
}

// time puts the parts together. now is in loc.
func (m *moment) time(now time.Time, loc *time.Location) (time.Time, error) {
	if m.hasEpoch {
		return time.Unix(m.epoch, m.nanos).In(loc), nil
	}
	if m.pm {
		m.hour = m.hour%12 + 12
	} else if m.am {
		m.hour %= 12
	}
	guessed := !m.hasYear
	if guessed {
		m.year = now.Year()
	}
	switch {
	case m.yearDay > 0:
		m.month, m.day = 1, m.yearDay // carried on into the months
	case m.month == 0 && m.day == 0 && guessed:
		guessed, m.month, m.day = false, int(now.Month()), now.Day()
	default:
		m.month, m.day = max(m.month, 1), max(m.day, 1)
	}
	t := m.in(m.year, loc)
	if guessed && t.After(now.AddDate(0, 0, 1)) {
		m.year--
		t = m.in(m.year, loc)
	}
	if last := lastDay(m.year, m.month); m.yearDay == 0 && m.day > last || m.yearDay > yearDays(m.year) {
		return t, errors.New("time: there is no such day in that month or year")
	}
	return t, nil
}

// in is the moment in the given year.
func (m *moment) in(year int, loc *time.Location) time.Time {
	if m.hasZone {
		loc = time.FixedZone("", m.zone)
	}
	return value.LocalTime(year, m.month, m.day, m.hour, m.minute, m.second, m.nanos, loc)
}

func lastDay(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func yearDays(year int) int { return time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay() }
