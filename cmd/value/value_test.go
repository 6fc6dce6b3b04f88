package value_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

// refused fails the test unless err is a value.Error.
func refused(t *testing.T, in string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*value.Error](err); !ok || e.Error() == "" {
		t.Errorf("%q: error is %v, want a *value.Error", in, err)
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "512": 512, "512B": 512, "64KiB": 65536, "64k": 65536, "64K": 65536, "1MiB": 1 << 20, "1M": 1 << 20,
		"10MB": 10_000_000, "10mb": 10_000_000, "1.5GiB": 3 << 29, "1 GB": 1_000_000_000, "2TiB": 2 << 40, "1PiB": 1 << 50,
		"7EiB": 7 << 60, "9223372036854775807": math.MaxInt64, "0.1KiB": 102, "1.000000000000000000KB": 1000,
	} {
		if got, err := value.ParseSize(in); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "+1", "1.", ".5", "1..5", "64KiBs", "64 KiB ", "1e9", "8EiB", "9223372036854775808", "1_000", "1.0000000000000000000KB", "１", "1iB", "0x10", "1  K"} {
		_, err := value.ParseSize(in)
		refused(t, in, err)
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1KiB", 1536: "1.5KiB", 65536: "64KiB", 102400: "100KiB", 1<<20 - 1: "1MiB", 1 << 20: "1MiB",
		1 << 30: "1GiB", 1<<30 + 1<<29: "1.5GiB", math.MaxInt64: "8EiB", -1536: "-1.5KiB", math.MinInt64: "-8EiB", 1023 * 1024: "1023KiB",
	} {
		if got := value.FormatSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "250ms": 250 * time.Millisecond, "10s": 10 * time.Second, "5m": 5 * time.Minute, "36h": 36 * time.Hour,
		"7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "3us": 3000, "3µs": 3000, "7ns": 7,
		"0.0000000001s": 0, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := value.ParseDuration(in); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "10", "-5m", "5 m", "5M", "5min", "h", "1h30", "1h-30m", "soon", "106752d", "99999999999999999999s", "1.s", "9e99s", "5m "} {
		_, err := value.ParseDuration(in)
		refused(t, in, err)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 1500: "1.5us", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s", 59999 * time.Millisecond: "59.9s",
		125 * time.Second: "2m5s", 2 * time.Minute: "2m", 200 * time.Minute: "3h20m", 7 * 24 * time.Hour: "7d", 294 * time.Hour: "12d6h",
		-90 * time.Second: "-1m30s", 999_999_999: "999ms",
	} {
		if got := value.FormatDuration(d); got != want {
			t.Errorf("%v: %s, want %s", int64(d), got, want)
		}
	}
	if got := value.FormatDuration(math.MinInt64); got != "-106751d23h" {
		t.Errorf("the least duration: %s", got)
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string]float64{"500/s": 500, "10/m": 10.0 / 60, "0.5/h": 0.5 / 3600, "1/5s": 0.2, "1000/d": 1000.0 / 86400, "2/ms": 2000} {
		r, err := value.ParseRate(in)
		if err != nil || math.Abs(r.PerSecond()-want) > 1e-12*want {
			t.Errorf("%q: %v a second, %v, want %v", in, r.PerSecond(), err, want)
		}
		if r.String() != in {
			t.Errorf("%q is written %q", in, r.String())
		}
	}
	for _, in := range []string{"", "500", "0/s", "-1/s", "x/s", "5/x", "5/", "/s", "5/0s", "1e3/s", "NaN/s", "5/s/s"} {
		_, err := value.ParseRate(in)
		refused(t, in, err)
	}
	if (value.Rate{}).String() != "" || !(value.Rate{}).IsZero() {
		t.Error("the zero rate is not empty")
	}
}

func TestParsePartitions(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "0,3": "0,3", "2-5": "2-5", "5,3,4": "3-5", "0,0": "0", "0-2,1-9,20": "0-9,20", "7-7": "7", "0,2147483647": "0,2147483647",
		"0-2147483647,5": "0-2147483647", "00,01": "0-1",
	} {
		p, err := value.ParsePartitions(in)
		if err != nil || p.String() != want {
			t.Errorf("%q: %s, %v, want %s", in, p, err, want)
		}
	}
	for _, in := range []string{"", ",", "0,", "x", "-1", "1-", "5-2", "0 ,1", "2147483648", "1-2-3", "99999999999999999999"} {
		_, err := value.ParsePartitions(in)
		refused(t, in, err)
	}
	p, _ := value.ParsePartitions("1,4-5")
	if got := slices.Collect(p.All()); !slices.Equal(got, []int32{1, 4, 5}) || p.Max() != 5 {
		t.Errorf("1,4-5 holds %v, highest %d", got, p.Max())
	}
	if !p.Has(4) || p.Has(2) || p.Has(6) || value.Partitions(nil).Max() != -1 {
		t.Error("Has or Max is wrong")
	}
}

func TestParseDelimiter(t *testing.T) {
	for in, want := range map[string]string{"": "", ":": ":", `\n`: "\n", `\t`: "\t", `\0`: "\x00", `\x7C|`: "||", `\r\n`: "\r\n", `\\n`: `\n`, "ä": "ä", `\xff`: "\xff", "\t": "\t"} {
		if got, err := value.ParseDelimiter(in); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{`\`, `\q`, `a\`, `\x`, `\x4`, `\xg0`, `\x0`} {
		_, err := value.ParseDelimiter(in)
		refused(t, in, err)
	}
}

func TestSmallValues(t *testing.T) {
	if k, v, err := value.ParsePair("config", "a=b=c"); k != "a" || v != "b=c" || err != nil {
		t.Errorf("a=b=c: %q, %q, %v", k, v, err)
	}
	if k, v, err := value.ParsePair("config", "a="); k != "a" || v != "" || err != nil {
		t.Errorf("a=: %q, %q, %v", k, v, err)
	}
	for _, in := range []string{"", "a", "=b"} {
		_, _, err := value.ParsePair("config", in)
		refused(t, in, err)
	}
	for in, want := range map[string]bool{"true": true, "Yes": true, "on": true, "1": true, "FALSE": false, "no": false, "off": false, "0": false} {
		if got, err := value.ParseBool(in); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	_, err := value.ParseBool("maybe")
	refused(t, "maybe", err)
	if n, err := value.ParseCount("10"); n != 10 || err != nil {
		t.Errorf("10: %d, %v", n, err)
	}
	for _, in := range []string{"", "x", "-1", "1.5", "10k", "9223372036854775808"} {
		_, err := value.ParseCount(in)
		refused(t, in, err)
	}
}

func TestErrorIsShortAndSafe(t *testing.T) {
	_, err := value.ParseSize(string(slices.Repeat([]byte("\x1b["), 500)))
	if s := err.Error(); len(s) > 600 || slices.Contains([]byte(s), 0x1b) {
		t.Errorf("message of %d bytes: %s", len(s), s)
	}
}
