package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// The expected texts are those of `LC_ALL=C TZ=America/New_York date -d TIME +FORMAT`.
func TestStrftime(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err)
	}
	at := time.Date(2026, 1, 4, 15, 5, 9, 123456789, loc) // a Sunday
	r := &segments.Record{Timestamp: at.UnixMilli()}
	for f, want := range map[string]string{
		"%a %A %b %B %h": "Sun Sunday Jan January Jan", "%c": "Sun Jan  4 15:05:09 2026", "%C %y %Y %G %g": "20 26 2026 2026 26", "%d|%e|%-d|%_d|%0e": "04| 4|4| 4|04",
		"%D %F %x": "01/04/26 2026-01-04 01/04/26", "%H %I %k|%l|%-I": "15 03 15| 3|3", "%j %m %M %S": "004 01 05 09", "%p %P %r": "PM pm 03:05:09 PM", "%R %T %X": "15:05 15:05:09 15:05:09",
		"%s": "1767557109", "%N %3N %6N %f %L": "123000000 123 123000 123000 123", "%u %w %U %V %W": "7 0 01 01 00", "%z %:z %Z": "-0500 -05:00 EST", "%n%t%%": "\n\t%", "100%% %Hh": "100% 15h", "": "",
	} {
		if got := write(t, "%d{strftime["+f+"]}", r, loc); got != want {
			t.Errorf("%q: %q, want %q", f, got, want)
		}
	}
	for f, want := range map[string]string{"%d{strftime#%H]#}": "15]", "%d{strftime##%H#%M##}": "15#05", "%d{strftime{%H}}": "15", "%d{strftime(%H)}": "15", "%d{strftime[[%H]%M]]}": "15]05"} {
		if got := write(t, f, r, loc); got != want {
			t.Errorf("%q: %q, want %q", f, got, want)
		}
	}
	early := &segments.Record{Timestamp: time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC).UnixMilli()}
	if got := write(t, "%d{strftime[%Y %C %y]}", early, time.UTC); got != "-0044 -01 56" {
		t.Errorf("before our era: %q", got)
	}
}

func TestStrftimeIsReadBack(t *testing.T) {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, loc) }
	for _, c := range []struct{ format, in, want string }{
		{"%F %T", "2026-11-30 14:05:09", "2026-11-30T14:05:09+01:00"},
		{"%Y%m%d%H%M%S%L", "20261130140509123", "2026-11-30T14:05:09.123+01:00"},
		{"%b %e %H:%M:%S", "Dec  1 14:05:09", "2026-12-01T14:05:09+01:00"},
		{"%b %e %H:%M:%S", "Nov 30 14:05:09", "2026-11-30T14:05:09+01:00"},
		{"%b %e %H:%M:%S", "Dec 30 14:05:09", "2025-12-30T14:05:09+01:00"}, // next year's is more than a day ahead
		{"%b %d %H:%M:%S", "december 01 14:05:09", "2026-12-01T14:05:09+01:00"},
		{"%T", "14:05:09", "2026-12-01T14:05:09+01:00"},
		{"%a, %d %b %Y %T %z", "Mon, 30 Nov 2026 14:05:09 -0500", "2026-11-30T20:05:09+01:00"},
		{"%d/%b/%Y:%H:%M:%S %z", "30/Nov/2026:14:05:09 +0000", "2026-11-30T15:05:09+01:00"},
		{"%FT%T.%f%:z", "2026-11-30T14:05:09.120000+05:30", "2026-11-30T09:35:09.12+01:00"},
		{"%FT%T.%fZ", "2026-11-30T14:05:09.5Z", "2026-11-30T14:05:09.5+01:00"},
		{"%FT%T%z", "2026-11-30T14:05:09Z", "2026-11-30T15:05:09+01:00"},
		{"%F %T %Z", "2026-11-30 14:05:09 UTC", "2026-11-30T15:05:09+01:00"},
		{"%m/%d/%y %I:%M %p", "11/30/26 02:05 pm", "2026-11-30T14:05:00+01:00"},
		{"%m/%d/%y %I:%M %p", "11/30/70 12:05 AM", "1970-11-30T00:05:00+01:00"},
		{"%Y-%j", "2024-366", "2024-12-31T00:00:00+01:00"},
		{"%s.%3N", "1764547200.250", "2025-12-01T01:00:00.25+01:00"},
		{"%s", "-1", "1970-01-01T00:59:59+01:00"},
		{"%F %T", "2024-10-27 02:30:00", "2024-10-27T02:30:00+02:00"}, // comes twice: the earlier
		{"%F %T", "2024-03-31 02:30:00", "2024-03-31T03:00:00+02:00"}, // does not come: the next
		{"%Y", "2026", "2026-01-01T00:00:00+01:00"},
		{"%F %T", "2026-11-30 14:05:60", "2026-11-30T14:06:00+01:00"},
	} {
		in, err := format.CompileInput("%d{strftime["+c.format+"]}|%v\\n", format.Options{Location: loc, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var row format.Row
		err = in.ParseRow([]byte(c.in+"|x"), &row)
		if got := time.UnixMilli(row.Timestamp).In(loc).Format(time.RFC3339Nano); err != nil || got != c.want || string(row.Value) != "x" {
			t.Errorf("%q with %q: %s, %v, want %s", c.in, c.format, got, err, c.want)
		}
	}
	for _, c := range []struct{ format, in string }{
		{"%F", "2026-02-30"}, {"%F", "2026-13-01"}, {"%F", "x"}, {"%F", ""}, {"%T", "24:00:00"}, {"%b", "foo"}, {"%p", "xm"}, {"%z", "+1"}, {"%z", "+25:00"}, {"%Z", "CET"}, {"%Y-%j", "2025-366"}, {"%s", "99999999999999999999"}, {"%H:%M", "14-05"},
	} {
		in, err := format.CompileInput("%d{strftime["+c.format+"]}|%v\\n", format.Options{Location: loc, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.ParseRow([]byte(c.in+"|x"), new(format.Row)); err == nil {
			t.Errorf("%q with %q is taken", c.in, c.format)
		}
	}
	for _, f := range []string{"%U", "%V", "%W", "%G", "%g", "%C"} {
		if _, err := format.CompileInput("%d{strftime["+f+"]}|%v\\n", format.Options{}); err == nil || !strings.Contains(err.Error(), f) {
			t.Errorf("%s can be read: %v", f, err)
		}
	}
}
