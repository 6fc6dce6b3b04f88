package value_test

import (
	"math"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no zone data: %v", err)
	}
	return loc
}

// noon is a Tuesday, in winter on the northern half.
func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func TestG097TimeForms(t *testing.T) {
	const d = 1716841440 // 2024-05-27 20:24 UTC
	for in, want := range map[string]int64{
		"2024-05-27T20:24:00Z": d * 1000, "2024-05-27t20:24:00z": d * 1000, "2024-05-27T22:24:00+02:00": d * 1000, "2024-05-27T22:24:00+0200": d * 1000,
		"2024-05-27 22:24 +02": d * 1000, "2024-05-27T15:54-04:30": d * 1000, "2024-05-27T20:24:00.000000000Z": d * 1000, "2024-05-27 20:24": d * 1000,
		"2024-05-27 20:24:01": d*1000 + 1000, "2024-05-27 20:24:00.5": d*1000 + 500, "2024-05-27 20:24:00,123": d*1000 + 123, "2024-05-27 20:24 UTC": d * 1000,
		"@1716841440": d * 1000, "@1716841440.25": d*1000 + 250, "1716841440000": d * 1000, "@1716841440000": d * 1000, "@0": 0, "@-1.5": -1500,
		"2024-05-27": 1716768000000, "2024-02-29": 1709164800000, "0000-01-01": -62167219200000, "9999-12-31T23:59:59.999Z": 253402300799999,
		"10m": noon().UnixMilli() - 600_000, "-10m": noon().UnixMilli() - 600_000, "1h30m": noon().UnixMilli() - 5400_000, "7d": noon().UnixMilli() - 7*86400_000,
		"now": noon().UnixMilli(), "today": noon().UnixMilli() - 12*3600_000, "yesterday": noon().UnixMilli() - 36*3600_000,
		"@253402300800.000": 253402300800000, "@-9223372036854775.807": -math.MaxInt64,
	} {
		got, err := value.ParseTime(in, noon(), time.UTC)
		if err != nil || got.UnixMilli() != want {
			t.Errorf("%q: %v (%d), %v, want %v", in, got, got.UnixMilli(), err, time.UnixMilli(want).UTC())
		}
	}
	for _, in := range []string{
		"", "soon", "12", "0", "171684144", "1716841440", "17168414400000", "@", "@x", "@1.", "@.5", "@1.1234567890", "@171684144000", "@-5", "@@5", "@99999999999999.0000000000",
		"2024-13-01", "2024-00-01", "2024-02-30", "2023-02-29", "2024-05-27 25:00", "2024-05-27 24:00", "2024-05-27 20:60", "2024-05-27T20:24:60", "2024-05-27T20:24:00X", "2024-05-27T", "2024-05-27 ",
		"2024-05-27T20", "2024-05-27T20:2", "2024-05-27T20:24:0", "2024-05-27T20:24:00.", "2024-05-27T20:24:00.1234567890", "2024-05-27T20:24:00+1", "2024-05-27T20:24:00+24:00",
		"2024-05-27T20:24:00+01:60", "2024-05-27T20:24:00 ", " 2024-05-27", "24-05-27", "2024/05/27", "20:24", "10", "-10", "--10m", "+10m", "10m ago", "-0", "2024-05-27-01", "@9223372036854776.000",
		"2024-05-27T20:24:00Zjunk", "２０２４-05-27",
	} {
		_, err := value.ParseTime(in, noon(), time.UTC)
		refused(t, in, err)
	}
}

func TestG097ZonelessIsLocal(t *testing.T) {
	loc := zone(t, "America/New_York")
	got, err := value.ParseTime("2024-05-27 16:24", noon(), loc)
	if err != nil || got.Unix() != 1716841440 {
		t.Errorf("%v, %v", got, err)
	}
	// At noon UTC it is already the next day in Auckland.
	got, err = value.ParseTime("today", noon(), zone(t, "Pacific/Auckland"))
	if want := time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("today in Auckland: %v, %v, want %v", got, err, want)
	}
}

func TestLocalTimesThatComeTwiceOrNever(t *testing.T) {
	for _, c := range []struct{ zone, in, want string }{
		{"Europe/Berlin", "2024-10-27 02:30", "2024-10-27T00:30:00Z"}, // twice: summer time first
		{"Europe/Berlin", "2024-10-27 03:00", "2024-10-27T02:00:00Z"}, // once
		{"Europe/Berlin", "2024-10-27 01:59:59.999", "2024-10-26T23:59:59.999Z"},
		{"Europe/Berlin", "2024-03-31 02:30", "2024-03-31T01:00:00Z"}, // never: clocks go from 2 to 3
		{"Europe/Berlin", "2024-03-31 02:00", "2024-03-31T01:00:00Z"},
		{"Europe/Berlin", "2024-03-31 03:00", "2024-03-31T01:00:00Z"},
		{"Europe/Berlin", "2024-03-31 01:59", "2024-03-31T00:59:00Z"},
		{"America/New_York", "2024-11-03 01:30", "2024-11-03T05:30:00Z"},
		{"America/New_York", "2024-03-10 02:30", "2024-03-10T07:00:00Z"},
		{"Australia/Lord_Howe", "2024-04-07 01:45", "2024-04-06T14:45:00Z"}, // goes back by half an hour
		{"Australia/Lord_Howe", "2024-10-06 02:15", "2024-10-05T15:30:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},  // a day without midnight
		{"Pacific/Apia", "2011-12-30 12:00", "2011-12-30T10:00:00Z"}, // a day that was left out
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
		{"Asia/Kolkata", "2024-01-01", "2023-12-31T18:30:00Z"},
		{"Europe/Berlin", "2060-07-01 12:00", "2060-07-01T10:00:00Z"},    // beyond the table
		{"Europe/Berlin", "1800-01-01 00:53:28", "1800-01-01T00:00:00Z"}, // before it: local mean time
	} {
		got, err := value.ParseTime(c.in, noon(), zone(t, c.zone))
		if err != nil || got.UTC().Format(time.RFC3339Nano) != c.want {
			t.Errorf("%s in %s: %v, %v, want %s", c.in, c.zone, got.UTC().Format(time.RFC3339Nano), err, c.want)
		}
	}
}

func TestG097OwnTimesAreAccepted(t *testing.T) {
	zones := []string{"UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Africa/Monrovia", "Pacific/Apia", "Australia/Lord_Howe"}
	times := []int64{
		0, 1, -1, 999, 1716841440000, 1716841440123, 1729987200000, 1729990800000, 1729989000001, -2208988800000, -62167219200000, -62167219200001,
		253402300799999, 253402300800000, math.MaxInt64, -math.MaxInt64, math.MinInt64, -5_000_000_000_000,
	}
	for _, z := range zones {
		for _, ms := range times {
			s := value.FormatTime(ms, zone(t, z))
			got, err := value.ParseTime(s, noon(), time.UTC)
			if err != nil || got.UnixMilli() != ms {
				t.Errorf("%d in %s is written %s and read %d, %v", ms, z, s, got.UnixMilli(), err)
			}
		}
	}
	if s := value.FormatTime(1716841440123, zone(t, "America/New_York")); s != "2024-05-27T16:24:00.123-04:00" {
		t.Errorf("written %s", s)
	}
	if s := value.FormatTime(1716841440000, time.UTC); s != "2024-05-27T20:24:00.000Z" {
		t.Errorf("written %s", s)
	}
}

func TestMillisRoundsUp(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 1: 1, 999_999: 1, 1_000_000: 1, 1_000_001: 2, -1: 0, -1_000_000: -1, -1_000_001: -1} {
		if got := value.Millis(time.Unix(0, ns)); got != want {
			t.Errorf("%d ns: %d ms, want %d", ns, got, want)
		}
	}
}
