package value

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Place says how one end of a Position is meant.
type Place int8

// The places.
const (
	Unset     Place = iota // nothing was said
	Earliest               // the log start
	Latest                 // the end of the log
	Offset                 // offset N
	Last                   // so that the last N records that exist are ahead
	FromStart              // the log start and N on
	AtTime                 // the first offset whose timestamp is at or after Time
	Stored                 // where the group or the cursor stands
)

// Point is one end of a Position.
type Point struct {
	Place Place
	N     int64     // for Offset, Last and FromStart; not negative
	Time  time.Time // for AtTime; Millis gives what timestamps compare with
}

// Position is where to begin and, for a range, where to end: what -o takes. The zero
// value means that nothing was said.
type Position struct {
	Start Point
	// End is the first record not wanted: Offset or AtTime, or Unset for everything
	// that follows.
	End Point
}

// IsZero reports whether nothing was said.
func (p Position) IsZero() bool { return p == Position{} }

// IsRange reports whether an end was given, or left open by a final colon.
func (p Position) IsRange() bool { return p.End.Place != Unset }

const positionForm = "want earliest, latest, N, -N (the last N), +N, A:B, @TIME, @T1:T2 or stored"

// ParsePosition reads a position or range:
//
//	earliest, start   the log start
//	latest, end       the end
//	N                 offset N
//	-N                the last N records that exist (-0: the end)
//	+N                the log start and N on
//	A:B, A:, :B       from offset A up to, not including, B
//	@TIME             the first offset whose timestamp is at or after TIME
//	@T1:T2, @T1:, @:T2
//	stored            where the group or the cursor stands
//
// TIME is what ParseTime reads, and a number of up to 11 digits is seconds without
// another @. A range of times is split at the one colon where both sides are times;
// what is a time as a whole is no range. A range that ends before it begins is refused.
func ParsePosition(s string, now time.Time, loc *time.Location) (Position, error) {
	switch s {
	case "earliest", "start":
		return Position{Start: Point{Place: Earliest}}, nil
	case "latest", "end":
		return Position{Start: Point{Place: Latest}}, nil
	case "stored":
		return Position{Start: Point{Place: Stored}}, nil
	}
	if t, ok := strings.CutPrefix(s, "@"); ok {
		return parseTimes(s, t, now, loc)
	}
	if a, b, ok := strings.Cut(s, ":"); ok {
		return parseOffsets(s, a, b)
	}
	place, num := Offset, s
	switch {
	case strings.HasPrefix(s, "-"):
		place, num = Last, s[1:]
	case strings.HasPrefix(s, "+"):
		place, num = FromStart, s[1:]
	}
	n, err := positionNumber(s, num)
	return Position{Start: Point{Place: place, N: n}}, err
}

// positionNumber reads the number num, which is part of the position s.
func positionNumber(s, num string) (int64, error) {
	n, ok := parseNatural(num)
	switch {
	case ok:
		return n, nil
	case allDigits(num):
		return 0, &Error{"position", s, "the highest offset is " + strconv.FormatInt(math.MaxInt64, 10)}
	}
	return 0, &Error{"position", s, positionForm}
}

// parseOffsets reads A:B, of which either side may be missing, not both.
func parseOffsets(s, a, b string) (p Position, err error) {
	if a == "" && b == "" {
		return p, &Error{"position", s, positionForm}
	}
	p.Start.Place = Earliest
	if a != "" {
		p.Start.Place = Offset
		if p.Start.N, err = positionNumber(s, a); err != nil {
			return Position{}, err
		}
	}
	if b != "" {
		p.End.Place = Offset
		if p.End.N, err = positionNumber(s, b); err != nil {
			return Position{}, err
		}
		if p.End.N < p.Start.N {
			return Position{}, &Error{"position", s, "the range ends before it begins"}
		}
	}
	return p, nil
}

// parseTimes reads what stands behind the @ of s.
func parseTimes(s, t string, now time.Time, loc *time.Location) (Position, error) {
	if at, ok := positionTime(t, now, loc); ok {
		return Position{Start: Point{Place: AtTime, Time: at}}, nil
	}
	var found Position
	n := 0
	for i := range len(t) {
		if t[i] != ':' {
			continue
		}
		if p, ok := timeRange(t[:i], t[i+1:], now, loc); ok {
			found = p
			n++
		}
	}
	switch {
	case n > 1:
		return Position{}, &Error{"position", s, "more than one colon may divide these times"}
	case n == 0:
		return Position{}, &Error{"position", s, "behind @ " + timeForm + ", or two of them with a colon between"}
	case found.End.Place == AtTime && found.Start.Place == AtTime && found.End.Time.Before(found.Start.Time):
		return Position{}, &Error{"position", s, "the range ends before it begins"}
	}
	return found, nil
}

// timeRange reads the two sides of a range of times; one of them may be empty.
func timeRange(a, b string, now time.Time, loc *time.Location) (p Position, ok bool) {
	if a == "" && b == "" {
		return p, false
	}
	p.Start.Place = Earliest
	if a != "" {
		p.Start.Place = AtTime
		if p.Start.Time, ok = positionTime(a, now, loc); !ok {
			return p, false
		}
	}
	if b != "" {
		p.End.Place = AtTime
		if p.End.Time, ok = positionTime(b, now, loc); !ok {
			return p, false
		}
	}
	return p, true
}

// positionTime reads a time whose @ was already there.
func positionTime(s string, now time.Time, loc *time.Location) (time.Time, bool) {
	t, ok := parseTime(s, now, loc)
	if !ok {
		t, ok = parseEpoch(s)
	}
	return t.In(loc), ok
}

// String writes the position so that ParsePosition reads the same one. Times are
// absolute in it.
func (p Position) String() string {
	if p.End.Place == Unset {
		return p.Start.String()
	}
	start, end := p.Start.String(), strings.TrimPrefix(p.End.String(), "@")
	switch {
	case p.Start.Place == Earliest && p.End.Place == AtTime:
		start = "@"
	case p.Start.Place == Earliest:
		start = ""
	}
	return start + ":" + end
}

// String writes the point as it stands in a position.
func (p Point) String() string {
	switch p.Place {
	case Earliest:
		return "earliest"
	case Latest:
		return "latest"
	case Offset:
		return strconv.FormatInt(p.N, 10)
	case Last:
		return "-" + strconv.FormatInt(p.N, 10)
	case FromStart:
		return "+" + strconv.FormatInt(p.N, 10)
	case AtTime:
		return "@" + exactTime(p.Time)
	case Stored:
		return "stored"
	}
	return ""
}

// exactTime writes a moment to the nanosecond as it stands behind the @ of a position.
func exactTime(t time.Time) string {
	if _, off := t.Zone(); off%60 != 0 {
		t = t.UTC()
	}
	if y := t.Year(); y >= 0 && y <= 9999 {
		return t.Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	return string(appendEpoch(nil, t, 9)[1:])
}
