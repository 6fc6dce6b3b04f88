package value_test

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-12-01T14:05:09.123+01:00", "2024-10-27 02:30", "@1764547200.5", "1764547200000", "10m", "yesterday", "@-1.000"} {
		f.Add(s)
	}
	loc := zone(f, "Europe/Berlin")
	// Package time also takes an hour of one digit, any number of digits behind the
	// seconds, and an offset of 24 hours or 60 minutes.
	strict := regexp.MustCompile(`^.{10}T\d\d:\d\d:\d\d([.,]\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := value.ParseTime(s, noon(), loc)
		if want, e := time.Parse(time.RFC3339Nano, s); e == nil && strict.MatchString(s) && (err != nil || !got.Equal(want)) {
			t.Fatalf("%q: %v, %v, RFC 3339 says %v", s, got, err, want)
		}
		if err != nil {
			refused(t, s, err)
			return
		}
		again, err := value.ParseTime(value.FormatTime(got.UnixMilli(), loc), noon(), loc)
		if err != nil || again.UnixMilli() != got.UnixMilli() {
			t.Fatalf("%q is %v, written %s, read %v, %v", s, got, value.FormatTime(got.UnixMilli(), loc), again, err)
		}
	})
}

func FuzzPosition(f *testing.F) {
	for _, s := range []string{"earliest", "-5", "+3", "10:13", "@2026-12-01 14:05:2026-12-02", "@-20m:10m", "@:today", "stored", "@1.5:2.5"} {
		f.Add(s)
	}
	loc := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := value.ParsePosition(s, noon(), loc)
		if err != nil {
			refused(t, s, err)
			return
		}
		if p.IsZero() || p.Start.N < 0 || p.End.N < 0 {
			t.Fatalf("%q: %+v", s, p)
		}
		again, err := value.ParsePosition(p.String(), noon(), loc)
		if err != nil || !samePosition(p, again) {
			t.Fatalf("%q is %+v, written %q, read %+v, %v", s, p, p, again, err)
		}
	})
}

func FuzzSmallValues(f *testing.F) {
	for _, s := range []string{"64KiB", "1.5GiB", "1h30m", "500/s", "0,2-5", `a\x00b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := value.ParseSize(s); err != nil {
			refused(t, s, err)
		} else if again, err := value.ParseSize(value.FormatSize(n)); n < 0 || err != nil && n < 7<<60 || n < 1024 && again != n {
			t.Fatalf("size %q: %d, written %s, read %d, %v", s, n, value.FormatSize(n), again, err)
		}
		if d, err := value.ParseDuration(s); err != nil {
			refused(t, s, err)
		} else if again, err := value.ParseDuration(value.FormatDuration(d)); d < 0 || err != nil || again > d {
			t.Fatalf("duration %q: %v, written %s, read %v, %v", s, d, value.FormatDuration(d), again, err)
		}
		if r, err := value.ParseRate(s); err != nil {
			refused(t, s, err)
		} else if again, err := value.ParseRate(r.String()); err != nil || again != r {
			t.Fatalf("rate %q: %v, read %v, %v", s, r, again, err)
		}
		if p, err := value.ParsePartitions(s); err != nil {
			refused(t, s, err)
		} else if again, err := value.ParsePartitions(p.String()); err != nil || again.String() != p.String() || p.Max() < 0 {
			t.Fatalf("partitions %q: %v, read %v, %v", s, p, again, err)
		}
		if d, err := value.ParseDelimiter(s); err != nil {
			refused(t, s, err)
		} else if !bytes.ContainsRune([]byte(s), '\\') && string(d) != s {
			t.Fatalf("delimiter %q: %q", s, d)
		}
	})
}
