package format_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

func options() format.Options {
	return format.Options{Location: time.UTC, Now: func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }}
}

// ways are the ways in which bytes may arrive.
func ways(in string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)), "with the end": iotest.DataErrReader(strings.NewReader(in)),
	}
}

// rows reads everything and returns it with the error that ended it, nil for io.EOF.
func rows(s *format.Stream) ([]format.Row, error) {
	defer s.Close()
	var got []format.Row
	for {
		var row format.Row
		switch err := s.Next(&row); {
		case err == io.EOF:
			return got, nil
		case err != nil:
			return got, err
		}
		got = append(got, clone(row))
	}
}

// clone is a copy of a row that shares no memory with it.
func clone(r format.Row) format.Row {
	r.Topic, r.Key, r.Value = slices.Clone(r.Topic), slices.Clone(r.Key), slices.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i, h := range r.Headers {
		r.Headers[i] = segments.Header{Key: slices.Clone(h.Key), Value: slices.Clone(h.Value)}
	}
	return r
}

func compileInput(t testing.TB, f string, o format.Options) *format.Input {
	t.Helper()
	in, err := format.CompileInput(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// row is a row of a format that has keys.
func row(key, val any) format.Row {
	return format.Row{Partition: -1, Offset: -1, Timestamp: -1, HasKey: true, Key: toBytes(key), Value: toBytes(val)}
}

// toBytes makes null of nil.
func toBytes(v any) []byte {
	if v == nil {
		return nil
	}
	return []byte(v.(string))
}

// diff compares rows; null and empty bytes differ.
func diff(want, got any) string {
	bytesEqual := cmp.Comparer(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })
	return cmp.Diff(want, got, bytesEqual, cmpopts.IgnoreUnexported(format.Row{}), cmp.Transformer("headers", func(h []segments.Header) map[int]segments.Header {
		m := map[int]segments.Header{}
		for i := range h {
			m[i] = h[i]
		}
		return m
	}))
}

func TestReadByFormat(t *testing.T) {
	at := func(r format.Row, ms int64) format.Row {
		r.Timestamp, r.HasTimestamp = ms, true
		return r
	}
	valueOnly := func(v any) format.Row { r := row(nil, v); r.HasKey = false; return r }
	header := func(r format.Row, kv ...any) format.Row {
		for i := 0; i < len(kv); i += 2 {
			r.Headers = append(r.Headers, segments.Header{Key: toBytes(kv[i]), Value: toBytes(kv[i+1])})
		}
		return r
	}
	placed := row("k", "v")
	placed.Topic, placed.Partition, placed.Offset = []byte("t"), 3, 1<<53+1
	for _, c := range []struct {
		format, in string
		want       []format.Row
	}{
		{`%k %v\n`, "a b c\n d\ne \n", []format.Row{row("a", "b c"), row("", "d"), row("e", "")}},
		{`%k %v\n`, "a b", []format.Row{row("a", "b")}},
		{`%k %v\n`, "", nil},
		{`%v\n`, "\n\nx", []format.Row{valueOnly(""), valueOnly(""), valueOnly("x")}},
		{`%v\0`, "a\nb\x00c", []format.Row{valueOnly("a\nb"), valueOnly("c")}},
		{`%v\r\n`, "a\nb\r\nc\r\n", []format.Row{valueOnly("a\nb"), valueOnly("c")}},
		{`%v--\n`, "a--b--\nc", []format.Row{valueOnly("a--b"), valueOnly("c")}},
		{`[%k]=%v;`, "[a]=b;[]=;[x]=y", []format.Row{row("a", "b"), row("", ""), row("x", "y")}},
		{`%k\n`, "a\n", []format.Row{row("a", nil)}},
		{`%k{hex} %v{base64}\n`, "6bc3a4 dv8A\n \n", []format.Row{row("kä", "v\xff\x00"), row("", "")}},
		{`%T %v\n`, "1700000000123 x\n-1 y\n", []format.Row{at(valueOnly("x"), 1700000000123), at(valueOnly("y"), -1)}},
		{`%d %v\n`, "2023-11-14T22:13:20.123Z x\n- y\n@5 z\n", []format.Row{at(valueOnly("x"), 1700000000123), at(valueOnly("y"), -1), at(valueOnly("z"), 5000)}},
		{`%d,%v\n`, "2023-11-14 22:13:20,x\n", []format.Row{at(valueOnly("x"), 1700000000000)}},
		{`%v %d\n`, "x 2023-11-14T22:13:20Z\n", []format.Row{at(valueOnly("x"), 1700000000000)}},
		{`%d{strftime[%F %T]} %v\n`, "2023-11-14 22:13:20 x\n- y\n", []format.Row{at(valueOnly("x"), 1700000000000), at(valueOnly("y"), -1)}},
		{`%d{strftime[%F %T]}%v\n`, "2023-11-14 22:13:20x\n", []format.Row{at(valueOnly("x"), 1700000000000)}},
		{`%d{big64}%V{big32}%v%d{strftime[%H:%M]}`, "\x00\x00\x01\x8b\xcf\xe5\x68\x7b\x00\x00\x00\x01x00:00", []format.Row{at(valueOnly("x"), 1796083200000)}},
		{`%t %p %o %e %i %k %v\n`, "t 3 9007199254740993 5 1 k v\n", []format.Row{placed}},
		{`%h %k %v\n`, "a=b,c=d,a= k v\n k v\n", []format.Row{header(row("k", "v"), "a", "b", "c", "d", "a", ""), row("k", "v")}},
		{`%H %h{%k=%v }%v\n`, "2 a=b c=d x\n0 y\n", []format.Row{header(valueOnly("x"), "a", "b", "c", "d"), valueOnly("y")}},
		{`%H{big8}%h{%K{big8}%k%V{big8}%v}%V{big8}%v`, "\x02\x01a\x01b\x01n\xff\x01x\x00\x00", []format.Row{header(valueOnly("x"), "a", "b", "n", nil), valueOnly("")}},
		{`%h{json} %v\n`, `[{"key":"a","value":null}] x` + "\n" + `{"a":"b"} y` + "\nnull z\n", []format.Row{header(valueOnly("x"), "a", nil), header(valueOnly("y"), "a", "b"), valueOnly("z")}},
		{`%K{big32}%k%V{big32}%v`, "\x00\x00\x00\x01k\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x02\n\n", []format.Row{row("k", nil), row("", "\n\n")}},
		{`%K{little16}%k%V{hex8}%v\n`, "\x01\x00k02\n\n\n\x00\x0001x\n", []format.Row{row("k", "\n\n"), row("", "x")}},
		{`%K{big8}%k%V{big8}%v\n`, "\x01k\x01v", []format.Row{row("k", "v")}},
		{`%V %v\n`, "3 a\nb\n-1 \n0 ", []format.Row{valueOnly("a\nb"), valueOnly(nil), valueOnly("")}},
		{`%V %v{hex}\n`, "2 0a0b\n", []format.Row{valueOnly("\n\x0b")}},
		{`%V{big8} %v{base64}\n`, "\x01 Cg==\n", []format.Row{valueOnly("\n")}},
		{`%v %V\n`, "ab 2\n -1\n 0\n", []format.Row{valueOnly("ab"), valueOnly(nil), valueOnly("")}},
		{`%v{json}`, `"a" {"x" : [1, "]"]} null 1.50 {"base64":"/w=="} true` + "\n", []format.Row{valueOnly("a"), valueOnly(`{"x" : [1, "]"]}`), valueOnly(nil), valueOnly("1.50"), valueOnly("\xff"), valueOnly("true")}},
		{`%v{json}\n`, "{\n \"a\": \"}\\\"\"\n}\n\n[]\n", []format.Row{valueOnly("{\n \"a\": \"}\\\"\"\n}"), valueOnly("[]")}},
		{`%k %v{json}\n`, "a \"x\"\nb 1", []format.Row{row("a", "x"), row("b", "1")}},
		{`%k{json} %v{json}\n`, "null null\n\"\" \"\"\n", []format.Row{row(nil, nil), row("", "")}},
		{`%V %v{json}\n`, "1 \"a\"\n-1 null\n", []format.Row{valueOnly("a"), valueOnly(nil)}},
		{`\n`, "\n", []format.Row{valueOnly(nil)}},
	} {
		in := compileInput(t, c.format, options())
		for name, r := range ways(c.in) {
			got, err := rows(in.NewStream(r))
			if err != nil {
				t.Errorf("%q of %q, %s: %v", c.in, c.format, name, err)
			} else if d := diff(c.want, got); d != "" {
				t.Errorf("%q of %q, %s:\n%s", c.in, c.format, name, d)
			}
		}
	}
}

func TestG090WrongInputNamesItsRecord(t *testing.T) {
	for _, c := range []struct {
		format, in string
		read       int
		says       string
	}{
		{`%k %v\n`, "k1 v1\nbad\nk3 v3\n", 1, `line 2: no " " behind %k`},
		{`%k:%v\0`, "a:b\x00c", 1, `record 2: no ":" behind %k`},
		{`%k %v{json}\n`, "a 1\nbad\nk3 3\n", 1, `record 2: no " " behind %k`},
		{`x%v\n`, "xa\nb\n", 1, `line 2: "b" stands where "x" should`},
		{`%v{hex}\n`, "6b\n6\n", 1, "line 2: %v"},
		{`%v{hex}\n`, "zz\n", 0, "line 1: %v"},
		{`%v{base64}\n`, "a\n", 0, "line 1: %v"},
		{`%T %v\n`, "12x y\n", 0, `line 1: %T: "12x" is no such number`},
		{`%T %v\n`, "+12 y\n", 0, `line 1: %T`},
		{`%T %v\n`, "99999999999999999999 y\n", 0, `line 1: %T`},
		{`%d %v\n`, "soon y\n", 0, `line 1: time "soon"`},
		{`%p %v\n`, "-1 y\n", 0, `line 1: %p: there is no partition -1`},
		{`%p %v\n`, "2147483648 y\n", 0, `line 1: %p`},
		{`%h %v\n`, "a y\n", 0, `line 1: %h: "a" is not name=value`},
		{`%h{json} %v\n`, "[1] y\n", 0, `record 1: JSON byte 2`},
		{`%h{json} %v\n`, `[{"value":1}] y` + "\n", 0, `record 1: a header without`},
		{`%v{json}\n`, "{} x\n", 0, `record 1: " " stands where "\n" should`},
		{`%v{json}\n`, "{\"a\"\n", 0, `record 1: JSON ends too early`},
		{`%v{json}\n`, "nil\n", 0, `record 1: %v: JSON byte 2`},
		{`%v{json}\n`, "}\n", 0, `record 1: '}' begins no JSON value`},
		{`%V{big32}%v`, "\x00\x00\x00\x02a", 0, "record 1: the input ends inside a field"},
		{`%V{big32}%v`, "\x00\x00", 0, "record 1: the input ends inside a field"},
		{`%V{big32}%v`, "\xff\xff\xff\xfe", 0, "record 1: %v: a length of 4294967294"},
		{`%V{big64}%v`, "\xff\xff\xff\xff\xff\xff\xff\xfe", 0, "record 1: %v: a length of -2"},
		{`%V %v\n`, "1 ab\n", 0, `record 1: "b" stands where "\n" should`},
		{`%v %V\n`, "ab 3\n", 0, `record 1: %v: a length of 3 was given, it has 2`},
		{`%v %V\n`, "ab -1\n", 0, `record 1: %v: a length of -1`},
		{`%V %v{json}\n`, "3 \"a\"\n", 0, `record 1: %v: a length of 3`},
		{`%H %h{%k=%v }%v\n`, "-1 x\n", 0, `record 1: %H: -1 headers`},
		{`%H %h{%k=%v }%v\n`, "2 a=b x\n", 0, `record 1: no "=" behind %k`},
		{`%H{big8}%h{%K{big8}%k}%V{big8}%v`, "\x01\xff\x00", 0, `record 1: %h: a header without a name`},
		{`%k\t%v\n`, "\n", 0, `line 1: no "\t" behind %k`},
		{`%v%d{strftime[%F]}\n`, "", 0, ""},
		{`a%T\n`, "a1\na\n", 1, `line 2: %T: "" is no such number`},
		{`%T\n`, "1 x\n", 0, `line 1: %T`},
		{`%d{strftime[%F]}\n`, "2026-01-01x\n", 0, `line 1: "x" stands behind the last field`},
	} {
		in, err := format.CompileInput(c.format, options())
		if c.says == "" {
			if err == nil {
				t.Errorf("%q is taken", c.format)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range ways(c.in) {
			got, err := rows(in.NewStream(r))
			if _, ok := errors.AsType[*format.InputError](err); !ok || len(got) != c.read || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q of %q, %s: %d rows, %v, want %d and %s", c.in, c.format, name, len(got), err, c.read, c.says)
			}
		}
	}
}

func TestFormatsThatCannotBeReadAreRefused(t *testing.T) {
	for _, f := range []string{
		"", "%v", "%k %v", "%k%v\n", `%v%k\n`, `%T%v\n`, `%v%T\n`, "%V%v", `%V%v\n`, `%h{%k=%v }\n`, `%H %h{%k%v }\n`, `%H %h{%k=%v}\n`, `%h%v\n`, "%t%p\n", `%d%v\n`, `%V %V %v\n`, `%K{hex}%k\n`, "%y", `%v{hex`,
	} {
		_, err := format.CompileInput(f, options())
		if _, ok := errors.AsType[*value.Error](err); !ok {
			t.Errorf("%q: %v", f, err)
		}
	}
}

func TestBrokenInputIsNoWrongRecord(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range []string{`%v\n`, `%V{big8}%v`, `%v{json}\n`, `%V{big8}%v\n`, `%k\n%V{big8}%v`} {
		in := compileInput(t, f, options())
		for _, part := range []string{"", "\x02", "\"a", "\x02ab", "12"} {
			if strings.Contains(f, "json") && strings.HasPrefix(part, "\x02") {
				continue // wrong before the stream breaks
			}
			_, err := rows(in.NewStream(io.MultiReader(strings.NewReader(part), iotest.ErrReader(broken))))
			if err != broken {
				t.Errorf("%q of %q: %v", part, f, err)
			}
		}
	}
}

// A record that is whole is given before the next bytes arrive.
func TestG093RecordsAreNotHeldBack(t *testing.T) {
	for f, in := range map[string]string{
		`%v\n`: "a\n", `%V{big8}%v`: "\x01a", `%v{json}\n`: "\"a\"\n", `%v{json}`: "\"a\"", `%V{big8}%v%d{strftime[%H:%M]}.`: "\x01a00:00.",
	} {
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		go w.Write([]byte(in))
		s := compileInput(t, f, options()).NewStream(r)
		var row format.Row
		if err := s.Next(&row); err != nil || string(row.Value) != "a" {
			t.Errorf("%q: %q, %v", f, row.Value, err)
		}
	}
}

// G089: what a format with lengths writes it reads back, whatever the bytes.
func TestG089RoundTripByLengths(t *testing.T) {
	formats := []string{
		`%K{big32}%k%V{big32}%v%H{big16}%h{%K{big16}%k%V{big32}%v}%T{big64}`, `%K{little64}%V{hex32}%k%v%H %h{%K %k%V %v}%T\n`, `%K %k{hex}%V %v{base64}%H{hex}:%h{%k{hex}=%V %v{hex}}%d{big64}`,
		`%k{json}%v{json}%h{json}%T{hex64}`, `%k{json} %v{json} %h{json} %T\n`,
	}
	records := oddRecords()
	for _, f := range formats {
		p, in := compile(t, f, time.UTC), compileInput(t, f, options())
		var text []byte
		for i := range records {
			var err error
			if text, err = p.Append(text, format.NewSource("t", 0), 1, &records[i]); err != nil {
				t.Fatal(err)
			}
		}
		got, err := rows(in.NewStream(bytes.NewReader(text)))
		if err != nil {
			t.Errorf("%q: %v", f, err)
			continue
		}
		if d := diff(asRows(records), got); d != "" {
			t.Errorf("%q:\n%s", f, d)
		}
	}
}

// oddRecords have every kind of bytes in every field.
func oddRecords() []segments.Record {
	odd := [][]byte{nil, {}, []byte("plain"), []byte("\x00\n\r\t\"\\\x7f"), []byte("ä\u2028\u2029😀"), {0xff, 0xfe}, {0xed, 0xa0, 0x80}, []byte(`{"base64":"AA=="}`), []byte("null"), bytes.Repeat([]byte{0, 0xff, '\n'}, 30_000)}
	var list []segments.Record
	for i, key := range odd {
		for _, val := range odd {
			r := segments.Record{Offset: int64(len(list)), Timestamp: int64(i) * 1_000_003_000, Key: key, Value: val}
			for j := range i % 4 {
				name := odd[(i+j)%len(odd)]
				if name == nil {
					name = []byte{}
				}
				r.Headers = append(r.Headers, segments.Header{Key: name[:min(len(name), 60_000)], Value: val})
			}
			list = append(list, r)
		}
	}
	return list
}

// asRows is what is read of records with their keys, values, headers and timestamps.
func asRows(records []segments.Record) []format.Row {
	list := make([]format.Row, len(records))
	for i, r := range records {
		list[i] = format.Row{Partition: -1, Offset: -1, Timestamp: r.Timestamp, HasTimestamp: true, HasKey: true, Key: r.Key, Value: r.Value, Headers: r.Headers}
	}
	return list
}

func fields(t *testing.T, o format.FieldOptions) *format.Fields {
	t.Helper()
	o.Options.Location, o.Options.Now = time.UTC, options().Now
	f, err := format.NewFields(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFields(t *testing.T) {
	plain := func(v any) format.Row { r := row(nil, v); r.HasKey = false; return r }
	at := func(r format.Row, ms int64) format.Row { r.Timestamp, r.HasTimestamp = ms, true; return r }
	emptyNull := format.Options{EmptyNull: true}
	for _, c := range []struct {
		opts format.FieldOptions
		in   string
		want format.Row
	}{
		{format.FieldOptions{}, "a:b", plain("a:b")},
		{format.FieldOptions{}, "", plain("")},
		{format.FieldOptions{Options: emptyNull}, "", plain(nil)},
		{format.FieldOptions{KeyDelimiter: []byte(":")}, "a:b:c", row("a", "b:c")},
		{format.FieldOptions{KeyDelimiter: []byte(":")}, ":", row("", "")},
		{format.FieldOptions{KeyDelimiter: []byte(":"), Options: emptyNull}, ":", row(nil, nil)},
		{format.FieldOptions{KeyDelimiter: []byte("||")}, "a|||b", row("a", "|b")},
		{format.FieldOptions{KeyJSON: "id"}, `{"id":"a\n1","x":2}`, row("a\n1", `{"id":"a\n1","x":2}`)},
		{format.FieldOptions{KeyJSON: "a.b"}, ` {"a":{"b":1.50}} `, row("1.50", ` {"a":{"b":1.50}} `)},
		{format.FieldOptions{KeyJSON: "a"}, `{"a":{"b":1}}`, row(`{"b":1}`, `{"a":{"b":1}}`)},
		{format.FieldOptions{KeyJSON: "a"}, `{"a":null}`, row(nil, `{"a":null}`)},
		{format.FieldOptions{KeyRegexp: regexp.MustCompile(`id=(\w+)`)}, "x id=a7 y", row("a7", "x id=a7 y")},
		{format.FieldOptions{KeyRegexp: regexp.MustCompile(`^\w+`)}, "ab cd", row("ab", "ab cd")},
		{format.FieldOptions{KeyRegexp: regexp.MustCompile(`a(x)?`)}, "ab", row("", "ab")},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1700000000123}`, at(plain(`{"ts":1700000000123}`), 1700000000123)},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1700000000}`, at(plain(`{"ts":1700000000}`), 1700000000000)},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1700000000.1234567}`, at(plain(`{"ts":1700000000.1234567}`), 1700000000123)},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1.7000000001234567e+09}`, at(plain(`{"ts":1.7000000001234567e+09}`), 1700000000123)},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":"2023-11-14T22:13:20.123Z"}`, at(plain(`{"ts":"2023-11-14T22:13:20.123Z"}`), 1700000000123)},
		{format.FieldOptions{TimestampJSON: "ts", KeyDelimiter: []byte("\t")}, "k\t{\"ts\":1700000000123}", at(row("k", `{"ts":1700000000123}`), 1700000000123)},
		{format.FieldOptions{TimestampJSON: "ts", KeyJSON: "k"}, `{"ts":1700000000123,"k":5}`, at(row("5", `{"ts":1700000000123,"k":5}`), 1700000000123)},
	} {
		var got format.Row
		if err := fields(t, c.opts).ParseRow([]byte(c.in), &got); err != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if d := diff(c.want, got); d != "" {
			t.Errorf("%q:\n%s", c.in, d)
		}
	}
	for _, c := range []struct {
		opts format.FieldOptions
		in   string
	}{
		{format.FieldOptions{KeyDelimiter: []byte(":")}, "bad"},
		{format.FieldOptions{KeyJSON: "id"}, "bad"},
		{format.FieldOptions{KeyJSON: "id"}, "{}"},
		{format.FieldOptions{KeyJSON: "id"}, `{"id":1} x`},
		{format.FieldOptions{KeyJSON: "id"}, `{"id":"\ud800"}`},
		{format.FieldOptions{KeyJSON: "id"}, ""},
		{format.FieldOptions{KeyJSON: "id"}, `{"id":1`},
		{format.FieldOptions{KeyRegexp: regexp.MustCompile("x")}, "bad"},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":"soon"}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":170000000012}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1700000000123456}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":null}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":[1]}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":false}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{"ts":1e300}`},
		{format.FieldOptions{TimestampJSON: "ts"}, `{}`},
	} {
		var got format.Row
		if err := fields(t, c.opts).ParseRow([]byte(c.in), &got); err == nil {
			t.Errorf("%q is taken: %+v", c.in, got)
		}
	}
	if _, err := format.NewFields(format.FieldOptions{KeyJSON: "a", KeyDelimiter: []byte(":")}); err == nil {
		t.Error("two ways to find a key are taken")
	}
	if !fields(t, format.FieldOptions{}).Whole() || fields(t, format.FieldOptions{KeyJSON: "a"}).Whole() || fields(t, format.FieldOptions{Options: emptyNull}).Whole() {
		t.Error("Whole is wrong")
	}
}

func TestG090LineNumbers(t *testing.T) {
	f := fields(t, format.FieldOptions{KeyDelimiter: []byte(":")})
	got, err := rows(format.NewLineStream(strings.NewReader("k1:v1\nbad\nk3:v3\n"), []byte("\n"), f))
	if len(got) != 1 || err == nil || err.Error() != `line 2: no key delimiter ":"` {
		t.Errorf("%d rows, %v", len(got), err)
	}
}
