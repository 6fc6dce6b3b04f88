package format

import (
	"strconv"
	"strings"
	"time"
)

// clock is a compiled strftime format, as strftime(3) has it in the C locale.
type clock []clockItem

// clockItem is one directive of it, or text.
type clockItem struct {
	verb  byte   // 0 for text
	text  string // of a piece of text
	pad   byte   // '0', ' ' or '-' for none; 0 for the directive's own
	width int    // digits of %N; 0 for all
	colon bool   // %:z
}

// clockShort are directives that stand for several others.
func clockShort(verb byte) string {
	switch verb {
	case 'c':
		return "%a %b %e %H:%M:%S %Y"
	case 'D', 'x':
		return "%m/%d/%y"
	case 'F':
		return "%Y-%m-%d"
	case 'R':
		return "%H:%M"
	case 'r':
		return "%I:%M:%S %p"
	case 'T', 'X':
		return "%H:%M:%S"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	}
	return ""
}

// clockVerbs are all others.
const clockVerbs = "aAbBhCdeGgHIjklLMmNfpPsSuUVwWyYzZ"

// parseClock compiles a strftime format. When it does not know a directive it returns
// that.
func parseClock(s string) (c clock, unknown string) {
	c = clock{}
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i != 0 {
			if i < 0 {
				i = len(s)
			}
			c = append(c, clockItem{text: s[:i]})
			s = s[i:]
			continue
		}
		it, n := clockDirective(s)
		if n == 0 {
			return nil, s
		}
		s = s[n:]
		if short := clockShort(it.verb); short != "" {
			more, _ := parseClock(short)
			c = append(c, more...)
			continue
		}
		if it.verb == '%' {
			it = clockItem{text: "%"}
		}
		c = append(c, it)
	}
	return c, ""
}

// clockDirective reads the directive that s begins with and returns its length, 0 when
// it is none.
func clockDirective(s string) (it clockItem, n int) {
	n = 1
	if n < len(s) && (s[n] == '-' || s[n] == '_' || s[n] == '0') {
		it.pad = s[n]
		if it.pad == '_' {
			it.pad = ' '
		}
		n++
	}
	if n < len(s) && '1' <= s[n] && s[n] <= '9' {
		it.width = int(s[n] - '0')
		n++
	}
	if n < len(s) && s[n] == ':' {
		it.colon = true
		n++
	}
	if n == len(s) {
		return it, 0
	}
	it.verb = s[n]
	switch {
	case it.width > 0 && it.verb != 'N', it.colon && it.verb != 'z':
		return it, 0
	case it.verb == '%' || clockShort(it.verb) != "":
		if it.pad != 0 {
			return it, 0
		}
	case strings.IndexByte(clockVerbs, it.verb) < 0:
		return it, 0
	}
	return it, n + 1
}

// append writes t.
func (c clock) append(dst []byte, t time.Time) []byte {
	for i := range c {
		dst = c[i].append(dst, t)
	}
	return dst
}

func (it *clockItem) append(dst []byte, t time.Time) []byte {
	switch it.verb {
	case 0:
		return append(dst, it.text...)
	case 'a':
		return append(dst, t.Weekday().String()[:3]...)
	case 'A':
		return append(dst, t.Weekday().String()...)
	case 'b', 'h':
		return append(dst, t.Month().String()[:3]...)
	case 'B':
		return append(dst, t.Month().String()...)
	case 'p':
		return append(dst, halfDay(t, "AM", "PM")...)
	case 'P':
		return append(dst, halfDay(t, "am", "pm")...)
	case 'N', 'f', 'L':
		return appendFraction(dst, t.Nanosecond(), it.fractionDigits())
	case 's':
		return strconv.AppendInt(dst, t.Unix(), 10)
	case 'z':
		return appendZone(dst, t, it.colon)
	case 'Z':
		name, _ := t.Zone()
		return append(dst, name...)
	}
	n, width, pad := clockNumber(it.verb, t)
	if it.pad != 0 {
		pad = it.pad
	}
	return appendPadded(dst, n, width, pad)
}

// clockNumber is the value of a numeric directive, its width and what fills that.
func clockNumber(verb byte, t time.Time) (n, width int, pad byte) {
	switch verb {
	case 'Y':
		return t.Year(), 4, '0'
	case 'C':
		return floorDiv(t.Year(), 100), 2, '0'
	case 'y':
		return t.Year() - 100*floorDiv(t.Year(), 100), 2, '0'
	case 'G':
		y, _ := t.ISOWeek()
		return y, 4, '0'
	case 'g':
		y, _ := t.ISOWeek()
		return y - 100*floorDiv(y, 100), 2, '0'
	case 'V':
		_, w := t.ISOWeek()
		return w, 2, '0'
	case 'm':
		return int(t.Month()), 2, '0'
	case 'd':
		return t.Day(), 2, '0'
	case 'e':
		return t.Day(), 2, ' '
	case 'j':
		return t.YearDay(), 3, '0'
	case 'H':
		return t.Hour(), 2, '0'
	case 'k':
		return t.Hour(), 2, ' '
	case 'I':
		return hour12(t), 2, '0'
	case 'l':
		return hour12(t), 2, ' '
	case 'M':
		return t.Minute(), 2, '0'
	case 'S':
		return t.Second(), 2, '0'
	case 'u':
		return (int(t.Weekday())+6)%7 + 1, 1, '0'
	case 'w':
		return int(t.Weekday()), 1, '0'
	case 'U': // weeks begin on Sunday
		return (t.YearDay() + 6 - int(t.Weekday())) / 7, 2, '0'
	}
	// 'W': weeks begin on Monday
	return (t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7, 2, '0'
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func hour12(t time.Time) int { return (t.Hour()+11)%12 + 1 }

func halfDay(t time.Time, am, pm string) string {
	if t.Hour() < 12 {
		return am
	}
	return pm
}

// fractionDigits is how many digits of a second's fraction the directive has.
func (it *clockItem) fractionDigits() int {
	switch {
	case it.verb == 'L':
		return 3
	case it.verb == 'f':
		return 6
	case it.width == 0:
		return 9
	}
	return it.width
}

// appendFraction writes the first digits of a fraction that is in nanoseconds.
func appendFraction(dst []byte, nanos, digits int) []byte {
	for unit := int(1e8); digits > 0; digits-- {
		dst = append(dst, '0'+byte(nanos/unit%10))
		unit /= 10
	}
	return dst
}

func appendZone(dst []byte, t time.Time, colon bool) []byte {
	_, off := t.Zone()
	sign := byte('+')
	if off < 0 {
		sign, off = '-', -off
	}
	dst = appendPadded(append(dst, sign), off/3600, 2, '0')
	if colon {
		dst = append(dst, ':')
	}
	return appendPadded(dst, off/60%60, 2, '0')
}

// appendPadded writes n, filled up to width; a pad of '-' fills nothing.
func appendPadded(dst []byte, n, width int, pad byte) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	digits := 1
	for rest := n / 10; rest > 0; rest /= 10 {
		digits++
	}
	for ; pad != '-' && digits < width; digits++ {
		dst = append(dst, pad)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
