package value_test

import (
	"math"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

func at(s string) value.Point {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return value.Point{Place: value.AtTime, Time: t.UTC()}
}

// samePoint compares two points, times as moments.
func samePoint(a, b value.Point) bool {
	return a.Place == b.Place && a.N == b.N && a.Time.Equal(b.Time)
}

func samePosition(a, b value.Position) bool {
	return samePoint(a.Start, b.Start) && samePoint(a.End, b.End)
}

func TestParsePosition(t *testing.T) {
	type point = value.Point
	earliest := point{Place: value.Earliest}
	offset := func(n int64) point { return point{Place: value.Offset, N: n} }
	for in, want := range map[string]value.Position{
		"earliest": {Start: earliest}, "start": {Start: earliest}, "latest": {Start: point{Place: value.Latest}}, "end": {Start: point{Place: value.Latest}},
		"stored": {Start: point{Place: value.Stored}}, "0": {Start: offset(0)}, "150": {Start: offset(150)}, "9223372036854775807": {Start: offset(math.MaxInt64)},
		"-0": {Start: point{Place: value.Last}}, "-5": {Start: point{Place: value.Last, N: 5}}, "+3": {Start: point{Place: value.FromStart, N: 3}}, "+0": {Start: point{Place: value.FromStart}},
		"10:13": {Start: offset(10), End: offset(13)}, "10:10": {Start: offset(10), End: offset(10)}, ":4": {Start: earliest, End: offset(4)}, "146:": {Start: offset(146)},
		"@1764547200": {Start: at("2025-12-01T00:00:00Z")}, "@1764547200000": {Start: at("2025-12-01T00:00:00Z")}, "@@1764547200": {Start: at("2025-12-01T00:00:00Z")},
		"@2026-12-01 14:05": {Start: at("2026-12-01T14:05:00Z")}, "@2026-12-01 14:05:30": {Start: at("2026-12-01T14:05:30Z")}, "@10m": {Start: at("2026-12-01T11:50:00Z")},
		"@-10m": {Start: at("2026-12-01T11:50:00Z")}, "@yesterday": {Start: at("2026-11-30T00:00:00Z")},
		"@2026-12-01:2026-12-02":                           {Start: at("2026-12-01T00:00:00Z"), End: at("2026-12-02T00:00:00Z")},
		"@2026-12-01T14:05:00Z:2026-12-02T00:00:00+01:00":  {Start: at("2026-12-01T14:05:00Z"), End: at("2026-12-01T23:00:00Z")},
		"@2026-12-01 14:05:2026-12-01 14:06":               {Start: at("2026-12-01T14:05:00Z"), End: at("2026-12-01T14:06:00Z")},
		"@2026-12-01 14:05:30:2026-12-01 14:06":            {Start: at("2026-12-01T14:05:30Z"), End: at("2026-12-01T14:06:00Z")},
		"@2026-12-01 14:05:00+02:00:2026-12-01T14:06+0200": {Start: at("2026-12-01T12:05:00Z"), End: at("2026-12-01T12:06:00Z")},
		"@20m:10m":                           {Start: at("2026-12-01T11:40:00Z"), End: at("2026-12-01T11:50:00Z")},
		"@-20m:-10m":                         {Start: at("2026-12-01T11:40:00Z"), End: at("2026-12-01T11:50:00Z")},
		"@yesterday:today":                   {Start: at("2026-11-30T00:00:00Z"), End: at("2026-12-01T00:00:00Z")},
		"@1764547200:1764547201":             {Start: at("2025-12-01T00:00:00Z"), End: at("2025-12-01T00:00:01Z")},
		"@1764547200:2026-12-01 14:05":       {Start: at("2025-12-01T00:00:00Z"), End: at("2026-12-01T14:05:00Z")},
		"@2025-12-01 00:00:00:1764547201000": {Start: at("2025-12-01T00:00:00Z"), End: at("2025-12-01T00:00:01Z")},
		"@today:":                            {Start: at("2026-12-01T00:00:00Z")},
		"@:today":                            {Start: earliest, End: at("2026-12-01T00:00:00Z")},
		"@today:today":                       {Start: at("2026-12-01T00:00:00Z"), End: at("2026-12-01T00:00:00Z")},
	} {
		got, err := value.ParsePosition(in, noon(), time.UTC)
		if err != nil || !samePosition(got, want) {
			t.Errorf("%q: %v %+v, %v, want %v", in, got, got, err, want)
		}
	}
}

func TestG056WrongPositionsAreRefused(t *testing.T) {
	for _, in := range []string{
		"", "abc", "1x", "5:x", "x:5", "--1", "-", "+", "+-1", "-+1", "@nonsense", "@", "@:", ":", "99999999999999999999", "-9223372036854775808", "9223372036854775808", "1.5", " 5", "5 ", "-5 ",
		"10:5", "1:2:3", "-5:", "+5:", "earliest:", ":latest", "Earliest", "@today:yesterday", "@1:2:3", "@171684144012", "@nonsense:today", "@today:nonsense", "0x10", "1_000", "５",
	} {
		_, err := value.ParsePosition(in, noon(), time.UTC)
		refused(t, in, err)
	}
}

func TestPositionStringIsReadBack(t *testing.T) {
	for in, want := range map[string]string{
		"start": "earliest", "end": "latest", "stored": "stored", "-0": "-0", "+7": "+7", "12": "12", "1:2": "1:2", ":5": ":5", "5:": "5",
		"@today": "@2026-12-01T00:00:00Z", "@:today": "@:2026-12-01T00:00:00Z", "@yesterday:today": "@2026-11-30T00:00:00Z:2026-12-01T00:00:00Z", "@0.5": "@1970-01-01T00:00:00.5Z", "@999999999999.25": "@999999999999.250000000",
	} {
		p, err := value.ParsePosition(in, noon(), time.UTC)
		if err != nil || p.String() != want {
			t.Errorf("%q is written %q, %v, want %q", in, p, err, want)
		}
		again, err := value.ParsePosition(p.String(), noon(), time.UTC)
		if err != nil || !samePosition(p, again) {
			t.Errorf("%q is written %q and read %+v, %v", in, p, again, err)
		}
	}
	var none value.Position
	if !none.IsZero() || none.String() != "" || none.IsRange() {
		t.Error("the zero position is not empty")
	}
}
