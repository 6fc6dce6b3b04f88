package format_test

import (
	"errors"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

// sample is a record with something in every field.
func sample() *segments.Record {
	return &segments.Record{
		Offset: 7, Timestamp: 1700000000123, LeaderEpoch: 3, Key: []byte("kä"), Value: []byte("v\xff\x00"),
		Headers: []segments.Header{{Key: []byte("a"), Value: []byte("b")}, {Key: []byte("c"), Value: []byte("d")}, {Key: []byte("a"), Value: []byte{}}, {Key: []byte("n")}},
	}
}

// write formats a record of partition 4 of topic f, the second of the output.
func write(t *testing.T, f string, r *segments.Record, loc *time.Location) string {
	t.Helper()
	p, err := format.Compile(f, loc)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Append([]byte("> "), format.NewSource("f", 4), 2, r)
	if err != nil {
		t.Fatalf("%q: %v", f, err)
	}
	return string(out[2:])
}

func TestDirectives(t *testing.T) {
	for f, want := range map[string]string{
		"": "", `%t %p %o %e %i\n`: "f 4 7 3 2\n", "%k": "kä", "%s": "v\xff\x00", "%v": "v\xff\x00", "%T": "1700000000123",
		"%d": "2023-11-14T22:13:20.123Z", "%d{strftime[%F %T]}": "2023-11-14 22:13:20", "%d{big64}": "\x00\x00\x01\x8b\xcf\xe5\x68\x7b", "%d{ascii}": "1700000000123",
		"%h": "a=b,c=d,a=,n=", "%h{%k=%v }": "a=b c=d a= n= ", "%h{%K:%V,}": "1:1,1:1,1:0,1:-1,", "%H": "4", "%h{[%k{hex}%%%}]}": "[61%}][63%}][61%}][6e%}]",
		"%h{json}":         `[{"key":"a","value":"b"},{"key":"c","value":"d"},{"key":"a","value":""},{"key":"n","value":null}]`,
		"%K %S %V":         "3 3 3",
		`%%\n\r\t\0\x41\\`: "%\n\r\t\x00A\\", "%v{hex}": "76ff00", "%v{base64}": "dv8A", "%v{json}": `{"base64":"dv8A"}`, "%k{json}": `"kä"`, "%k{hex}": "6bc3a4", "%t{json}": `"f"`, "%t{hex}": "66",
		"%K{big32}": "\x00\x00\x00\x03", "%K{big8}": "\x03", "%K{byte}": "\x03", "%K{big16}": "\x00\x03", "%K{big64}": "\x00\x00\x00\x00\x00\x00\x00\x03", "%K{little32}": "\x03\x00\x00\x00",
		"%K{little16}": "\x03\x00", "%K{little64}": "\x03\x00\x00\x00\x00\x00\x00\x00", "%T{hex}": "18bcfe5687b", "%T{hex64}": "0000018bcfe5687b", "%o{hex8}": "07", "%o{hex16}": "0007", "%o{hex32}": "00000007", "%o{number}": "7",
		`x%ox\n`: "x7x\n", "%v%{}": "v\xff\x00{}", "{%o}": "{7}", "%t%%%o": "f%7", "ä%oö": "ä7ö",
	} {
		if got := write(t, f, sample(), time.UTC); got != want {
			t.Errorf("%q: %q, want %q", f, got, want)
		}
	}
}

func TestNullAndMissing(t *testing.T) {
	null := &segments.Record{Timestamp: -1, TimestampType: segments.NoTimestamp, LeaderEpoch: -1}
	for f, want := range map[string]string{
		"%K %S %V": "-1 -1 -1", "[%k][%v]": "[][]", "%k{hex}%v{base64}": "", "%v{json}": "null", "%K{big32}": "\xff\xff\xff\xff", "%V{hex16}": "ffff", "%V{little16}": "\xff\xff",
		"%T": "-1", "%d": "-", "%d{strftime[%F]}": "-", "%T{big64}": "\xff\xff\xff\xff\xff\xff\xff\xff", "%h": "", "%h{%k}": "", "%h{json}": "[]", "%H": "0", "%e": "-1", "%V{hex}": "ffffffffffffffff",
	} {
		if got := write(t, f, null, time.UTC); got != want {
			t.Errorf("%q: %q, want %q", f, got, want)
		}
	}
	empty := &segments.Record{Key: []byte{}, Value: []byte{}}
	if got := write(t, "%K %V %v{json}", empty, time.UTC); got != `0 0 ""` {
		t.Errorf("empty is not null: %q", got)
	}
}

func TestWrongFormatsAreRefused(t *testing.T) {
	for _, f := range []string{
		"%", "%y", "%x", "%a", "%T %", "%v{nope}", "%v{hex", "%v{", "%K{", "%v{}", "%v{big32}", "%K{base64}", "%K{big24}", "%K{hex4}", "%o{bool}", `\q`, `\`, `\x`, `\xg0`, `\x4`, "%d{strftime}", "%d{strftime[%F}",
		"%d{strftime[%F]", "%d{strftime[%Q]}", "%d{strftime[%]}", "%d{strftime", "%d{go[x]}", "%h{", "%h{%k", "%h{}", "%h{x}", "%h{%o}", "%h{%h{%k}}", "%h{%k{hex}", "%t{big8}", "%!", "%\x00", "%ä",
	} {
		_, err := format.Compile(f, time.UTC)
		if e, ok := errors.AsType[*value.Error](err); !ok || e.Error() == "" {
			t.Errorf("%q: error is %v, want a *value.Error", f, err)
		}
	}
}

func TestNumberThatDoesNotFit(t *testing.T) {
	r := &segments.Record{Offset: 255, Value: make([]byte, 70_000), Timestamp: 1 << 40}
	for _, f := range []string{"%o{big8}", "%o{hex8}", "%V{big16}", "%V{little16}", "%T{big32}", "%h%V{byte}"} {
		p, err := format.Compile("x"+f, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Append([]byte("before"), format.NewSource("t", 0), 1, r)
		if err == nil || string(out) != "before" {
			t.Errorf("%q wrote %q, %v", f, out, err)
		}
	}
	r = &segments.Record{Offset: 254, Value: make([]byte, 65534)}
	if got := write(t, "%o{big8}%V{big16}", r, time.UTC); got != "\xfe\xff\xfe" {
		t.Errorf("the highest numbers that fit: %q", got)
	}
}

func TestProgramPlain(t *testing.T) {
	for f, want := range map[string]string{`%v\n`: "\n", `%s\n`: "\n", "%v": "", `%v, \0`: ", \x00"} {
		p, _ := format.Compile(f, time.UTC)
		if d, ok := p.Plain(); !ok || string(d) != want {
			t.Errorf("%q: %q, %v", f, d, ok)
		}
	}
	for _, f := range []string{"", "x", "%v{hex}", "%v%v", `%k\n`, `x%v`, `%v\n%v`} {
		p, _ := format.Compile(f, time.UTC)
		if d, ok := p.Plain(); ok {
			t.Errorf("%q is plain with %q", f, d)
		}
	}
}

func TestPlainOutput(t *testing.T) {
	for want, p := range map[string]format.Plain{
		"v\xff\x00\n":       {Delimiter: []byte("\n")},
		"kä\tv\xff\x00\x00": {Key: true, KeyDelimiter: []byte("\t"), Delimiter: []byte{0}},
		"v\xff\x00":         {},
	} {
		got, err := p.Append(nil, nil, 1, sample())
		if err != nil || string(got) != want {
			t.Errorf("%+v: %q, %v, want %q", p, got, err, want)
		}
	}
}

func TestFormattingDoesNotAllocate(t *testing.T) {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	src, r := format.NewSource("orders", 3), sample()
	for name, f := range map[string]format.Formatter{
		"json": format.JSON{}, "plain": &format.Plain{Delimiter: []byte("\n")},
		"program": compile(t, `%t %p %o %k %v{hex} %s{base64} %T %d %d{strftime[%F %T.%3N %z]} %h %h{%k=%v{json} } %K{big32}\n`, loc),
	} {
		dst := make([]byte, 0, 4096)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := f.Append(dst, src, 1, r); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a record", name, n)
		}
	}
}

func compile(t testing.TB, f string, loc *time.Location) *format.Program {
	t.Helper()
	p, err := format.Compile(f, loc)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
