package value

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is so many of something in a span of time. The zero value stands for no limit.
type Rate struct {
	Count float64       // more than 0
	Per   time.Duration // more than 0
}

// IsZero reports whether there is no limit.
func (r Rate) IsZero() bool { return r.Count == 0 }

// PerSecond is the rate in a second.
func (r Rate) PerSecond() float64 { return r.Count / r.Per.Seconds() }

// String writes the rate as ParseRate reads it.
func (r Rate) String() string {
	if r.IsZero() {
		return ""
	}
	return strconv.FormatFloat(r.Count, 'f', -1, 64) + "/" + exactSpan(r.Per)
}

// exactSpan writes d as a number of the largest unit that divides it, without the 1
// of a single one.
func exactSpan(d time.Duration) string {
	names := [...]string{"w", "d", "h", "m", "s", "ms", "us", "ns"}
	for i, unit := range [...]time.Duration{week, day, time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		switch {
		case d == unit:
			return names[i]
		case d%unit == 0:
			return strconv.FormatInt(int64(d/unit), 10) + names[i]
		}
	}
	return d.String() // not reached: a nanosecond divides everything
}

const rateForm = "want a number and a span, as 500/s, 10/m or 1/5s"

// ParseRate reads 500/s, 10/m, 0.5/h: a number above 0, and a unit of time or a
// duration.
func ParseRate(s string) (Rate, error) {
	num, per, ok := strings.Cut(s, "/")
	if !ok {
		return Rate{}, &Error{"rate", s, rateForm}
	}
	if _, rest, ok := parseDecimal(num); !ok || rest != "" {
		return Rate{}, &Error{"rate", s, rateForm}
	}
	n, err := strconv.ParseFloat(num, 64)
	if err != nil || n <= 0 || math.IsInf(n, 0) {
		return Rate{}, &Error{"rate", s, rateForm}
	}
	if digits(per) == 0 {
		per = "1" + per
	}
	d, err := ParseDuration(per)
	if err != nil || d <= 0 {
		return Rate{}, &Error{"rate", s, rateForm}
	}
	return Rate{Count: n, Per: d}, nil
}
