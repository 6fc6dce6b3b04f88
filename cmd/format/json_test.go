package format_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

func toJSON(t testing.TB, topic string, partition int32, r *segments.Record) string {
	t.Helper()
	out, err := format.JSON{}.Append(nil, format.NewSource(topic, partition), 1, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestJSONRow(t *testing.T) {
	for want, r := range map[string]*segments.Record{
		`{"topic":"f","partition":4,"offset":7,"tstype":"create","ts":1700000000123,"headers":[{"key":"a","value":"b"},{"key":"c","value":"d"},{"key":"a","value":""},{"key":"n","value":null}],"key":"kä","value":{"base64":"dv8A"}}`: sample(),
		`{"topic":"f","partition":4,"offset":9007199254740993,"tstype":"logappend","ts":5,"headers":[],"key":null,"value":null}`:                                                                                                       {Offset: 9007199254740993, Timestamp: 5, TimestampType: segments.LogAppendTime},
		`{"topic":"f","partition":4,"offset":9223372036854775807,"tstype":"unknown","ts":null,"headers":[],"key":"","value":""}`:                                                                                                       {Offset: math.MaxInt64, Timestamp: -1, TimestampType: segments.NoTimestamp, Key: []byte{}, Value: []byte{}},
		`{"topic":"f","partition":4,"offset":0,"tstype":"create","ts":-1,"headers":[],"key":"\"\\\n\r\t\u0000\u001f/<>&'\u2028\u2029` + "\x7f" + `","value":"12345678\"1234567\\12345678\n😀é"}`:                                        {Timestamp: -1, Key: []byte("\"\\\n\r\t\x00\x1f/<>&'\u2028\u2029\x7f"), Value: []byte("12345678\"1234567\\12345678\n😀é")},
	} {
		if got := toJSON(t, "f", 4, r); got != want+"\n" {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// bytesOf reads a field of a row as encoding/json decodes it.
func bytesOf(t testing.TB, v any) []byte {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	case map[string]any:
		b, err := base64.StdEncoding.DecodeString(v["base64"].(string))
		if err != nil || len(v) != 1 {
			t.Fatalf("%v, %v", v, err)
		}
		return append([]byte{}, b...)
	}
	t.Fatalf("a field is %T", v)
	return nil
}

func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// checkJSON says what is wrong with the row of a record: it has to be one line of valid
// JSON, in UTF-8, that holds the record for encoding/json and for us.
func checkJSON(t testing.TB, r *segments.Record) {
	t.Helper()
	text := toJSON(t, "t\"\n", 1, r)
	line, ok := strings.CutSuffix(text, "\n")
	if !ok || strings.ContainsAny(line, "\n\r\u2028\u2029\x00") || !utf8.ValidString(line) || !json.Valid([]byte(line)) {
		t.Fatalf("%q is no line of JSON", text)
	}
	var got struct {
		Topic      string
		Offset, Ts int64
		Key, Value any
		Headers    []struct{ Key, Value any }
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	if got.Topic != "t\"\n" || got.Offset != r.Offset || got.Ts != r.Timestamp || !sameBytes(bytesOf(t, got.Key), r.Key) || !sameBytes(bytesOf(t, got.Value), r.Value) || len(got.Headers) != len(r.Headers) {
		t.Fatalf("%s holds another record for encoding/json", line)
	}
	var row format.Row
	if err := format.NewJSONRows(options()).ParseRow([]byte(line), &row); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if string(row.Topic) != "t\"\n" || row.Partition != 1 || row.Offset != r.Offset || row.Timestamp != r.Timestamp || !row.HasTimestamp || !row.HasKey || !sameBytes(row.Key, r.Key) || !sameBytes(row.Value, r.Value) || len(row.Headers) != len(r.Headers) {
		t.Fatalf("%s is read as %+v", line, row)
	}
	for i, h := range r.Headers {
		if !sameBytes(bytesOf(t, got.Headers[i].Key), h.Key) || !sameBytes(bytesOf(t, got.Headers[i].Value), h.Value) || !sameBytes(row.Headers[i].Key, h.Key) || !sameBytes(row.Headers[i].Value, h.Value) {
			t.Fatalf("%s: header %d is another", line, i)
		}
	}
}

func TestG096JSONIsValidAndLossless(t *testing.T) {
	for i := range 256 {
		for _, before := range []string{"", "1234567", "12345678", "ä"} {
			v := append([]byte(before), byte(i))
			checkJSON(t, &segments.Record{Value: v, Key: append(v, "xxxxxxxx"...)})
		}
	}
	for n := range 50 { // a byte that is not plain at each place of a value
		for at := range n {
			for _, c := range []byte{0x1f, '"', '\\', 0x80} {
				v := bytes.Repeat([]byte("~"), n)
				v[at] = c
				checkJSON(t, &segments.Record{Value: v})
			}
		}
	}
	for _, r := range oddRecords() {
		checkJSON(t, &r)
	}
}

// hasRow is a row that says what its key is.
func jsonRow(key, val any, ts int64, headers ...segments.Header) format.Row {
	r := row(key, val)
	r.Timestamp, r.HasTimestamp, r.Headers = ts, true, headers
	return r
}

func TestReadJSONRows(t *testing.T) {
	h := func(k string, v any) segments.Header { return segments.Header{Key: []byte(k), Value: toBytes(v)} }
	nothing := row(nil, nil)
	nothing.HasKey = false
	val := func(v any) format.Row { r := row(nil, v); r.HasKey = false; return r }
	placed := jsonRow("k", "v", 5, h("a", "b"))
	placed.Topic, placed.Partition, placed.Offset = []byte("t"), 3, 9007199254740993
	none := jsonRow(nil, nil, -1)
	none.HasKey = false
	for in, want := range map[string]format.Row{
		`{}`: nothing,
		`{"topic":"t","partition":3,"offset":9007199254740993,"tstype":"create","ts":5,"headers":[{"key":"a","value":"b"}],"key":"k","value":"v"}`: placed,
		` { "value" : "v" , "x" : [ 1 , { "y" : null } , -1.5e+3 , true , false ] } ` + "\r":                                                       val("v"),
		// kcat
		`{"topic":"t","partition":3,"offset":9007199254740993,"tstype":"create","ts":5,"broker":1,"headers":["a","b"],"key":"k","payload":"v"}`: placed,
		`{"headers":["a","1","a","2","n",null,"o",{"base64":"/w=="}],"key":null,"payload":null,"ts":5}`:                                         jsonRow(nil, nil, 5, h("a", "1"), h("a", "2"), h("n", nil), h("o", "\xff")),
		// kaf
		`{"topic":"t","partition":3,"offset":9007199254740993,"timestamp":"1970-01-01T00:00:00.005Z","headers":[{"key":"a","value":"b"}],"key":"k","payload":"v"}`: placed,
		`{"headers":{"a":"b","c":null},"timestamp":5,"key":"k"}`: jsonRow("k", nil, 5, h("a", "b"), h("c", nil)),
		`{"headers":null,"value":"v"}`:                           val("v"), `{"headers":[],"value":"v"}`: val("v"), `{"headers":{},"value":"v"}`: val("v"),
		`{"headers":[{"value":"b","key":{"base64":"/w=="},"more":1},{"key":"x"}],"value":"v"}`: func() format.Row { r := val("v"); r.Headers = []segments.Header{h("\xff", "b"), h("x", nil)}; return r }(),
		`{"tstype":"unknown","ts":null}`: none, `{"ts":null,"tstype":"unknown"}`: none, `{"ts":null}`: nothing, `{"ts":"1700000000123","key":null}`: jsonRow(nil, nil, 1700000000123),
		`{"ts":1.7e12,"key":null}`: jsonRow(nil, nil, 1700000000000), `{"ts":9223372036854775807,"key":null}`: jsonRow(nil, nil, math.MaxInt64), `{"ts":-5,"key":null}`: jsonRow(nil, nil, -5), `{"ts":"2023-11-14 22:13","key":null}`: jsonRow(nil, nil, 1699999980000),
		// Other values stand for their own text.
		`{"value":{"a": [1.0, 1e3]}}`: val(`{"a": [1.0, 1e3]}`), `{"value":[1 ,2]}`: val("[1 ,2]"), `{"value":12345678901234567890.10}`: val("12345678901234567890.10"), `{"value":true}`: val("true"),
		`{"value":{"base64":"AA==","x":1}}`: val(`{"base64":"AA==","x":1}`), `{"value":{"base64":1}}`: val(`{"base64":1}`), `{"value":{}}`: val("{}"), `{"value":{ "base64" : "" }}`: val(""), `{"value":{"base64":"AA\u003d="}}`: val("\x00"),
		`{"value":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\u0000\u2028"}`: val("\"\\/\b\f\n\r\tä😀\x00\u2028"), "{\"value\":\"\xff\u2028\"}": val("\xff\u2028"), `{"value":""}`: val(""),
		`{"v\u0061lue":"x"}`: val("x"), `{"value":"a","value":"b"}`: val("b"), `{"payload":"a","payload":"b"}`: val("b"),
		`{"partition":"x","offset":[],"topic":null,"value":"v"}`: val("v"), `{"partition":-1,"value":"v"}`: val("v"), `{"partition":2147483648,"value":"v"}`: val("v"), `{"partition":1.5,"value":"v"}`: val("v"),
	} {
		var got format.Row
		if err := format.NewJSONRows(options()).ParseRow([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		} else if d := diff(want, got); d != "" {
			t.Errorf("%s:\n%s", in, d)
		}
	}
	empty := options()
	empty.EmptyNull = true
	var got format.Row
	if err := format.NewJSONRows(empty).ParseRow([]byte(`{"key":"","value":""}`), &got); err != nil || got.Key != nil || got.Value != nil || !got.HasKey {
		t.Errorf("empty is not null: %+v, %v", got, err)
	}
}

func TestWrongJSONRowsAreRefused(t *testing.T) {
	for _, in := range []string{
		"x", "[]", `"a"`, "1", "null", "{", "}", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `{"a":1}{}`, `{"a":1} x`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":-}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul`,
		`{"a":'x'}`, `{"value":"`, `{"value":"\`, `{"value":"\u12"}`, `{"value":"\x41"}`, "{\"value\":\"a\tb\"}", "{\"value\":\"\x00\"}", `{"value":"\ud800"}`, `{"value":"\ud800x"}`, `{"value":"\ud800\u0041"}`, `{"value":"\udc00\ud800"}`, `{"value":"\ud800\n1234"}`,
		`{"value":{"base64":"!"}}`, `{"value":{"base64":"AA"}}`, `{"value":{"base64":"\ud800"}}`, `{"headers":"x"}`, `{"headers":1}`, `{"headers":["a"]}`, `{"headers":["a","b","c"]}`, `{"headers":[null,"b"]}`, `{"headers":[1,2]}`, `{"headers":[{"value":"x"}]}`, `{"headers":[{"key":null}]}`,
		`{"headers":[{"key":"a"}`, `{"ts":1.5}`, `{"ts":"soon"}`, `{"ts":9223372036854775808}`, `{"ts":1e300}`, `{"ts":true}`, `{"ts":"\ud800"}`, `{"value":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"{\"a\":1\x00}", `{"\ud800":1}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":{"b":1]}`,
	} {
		var got format.Row
		if err := format.NewJSONRows(options()).ParseRow([]byte(in), &got); err == nil || errors.Is(err, format.ErrBlank) {
			t.Errorf("%.80s is taken: %+v, %v", in, got, err)
		}
	}
	if err := format.NewJSONRows(options()).ParseRow([]byte(" \t\r"), new(format.Row)); err != format.ErrBlank {
		t.Errorf("a blank line: %v", err)
	}
}

func TestJSONStreamNamesTheLine(t *testing.T) {
	in := "{\"value\":\"a\"}\n\n  \n{\"value\":\"b\"}\n{\"value\":}\n"
	got, err := rows(format.NewLineStream(strings.NewReader(in), []byte("\n"), format.NewJSONRows(options())))
	if len(got) != 2 || err == nil || err.Error() != `line 5: "value": JSON byte 10: '}', want a value` {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// G089: three rounds through JSON change nothing.
func TestG089JSONRounds(t *testing.T) {
	src := format.NewSource("t", 0)
	records := oddRecords()
	var text []byte
	for round := range 3 {
		text = text[:0]
		for i := range records {
			text, _ = format.JSON{}.Append(text, src, 1, &records[i])
		}
		got, err := rows(format.NewLineStream(bytes.NewReader(text), []byte("\n"), format.NewJSONRows(options())))
		if err != nil || len(got) != len(records) {
			t.Fatalf("round %d: %d rows, %v", round, len(got), err)
		}
		for i, r := range got {
			if !sameBytes(r.Key, records[i].Key) || !sameBytes(r.Value, records[i].Value) || r.Timestamp != records[i].Timestamp || len(r.Headers) != len(records[i].Headers) {
				t.Fatalf("round %d: record %d is another", round, i)
			}
			records[i] = segments.Record{Offset: r.Offset, Timestamp: r.Timestamp, Key: r.Key, Value: r.Value, Headers: r.Headers}
		}
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	line := []byte(toJSON(t, "orders", 3, sample()))
	json := format.NewJSONRows(options())
	lined := compileInput(t, `%k %T %v\n`, options())
	keyed := fields(t, format.FieldOptions{KeyDelimiter: []byte("\t")})
	for name, c := range map[string]struct {
		p    format.Parser
		line string
	}{
		"json": {json, string(line)}, "escapes": {json, `{"value":"a\n\u00e4","key":{"base64":"/w=="}}`}, "format": {lined, "k 1700000000123 value"}, "key": {keyed, "k\tv"},
	} {
		var row format.Row
		in := []byte(c.line)
		if n := testing.AllocsPerRun(100, func() {
			if err := c.p.ParseRow(in, &row); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a row", name, n)
		}
	}
}

func TestOwnFormatterWritesTheSame(t *testing.T) {
	own, src := format.Own(format.JSON{}), format.NewSource("t", 0)
	var offsets []int64
	for o := range int64(1200) {
		offsets = append(offsets, o)
	}
	offsets = append(offsets, 5, 6, 8, 9, 10, 99, 100, 98, 1<<53, 1<<53+1, 999_999_999_998, 999_999_999_999, 1_000_000_000_000, math.MaxInt64-1, math.MaxInt64, 0, 1)
	for i, o := range offsets {
		r := &segments.Record{Offset: o, Timestamp: int64(i/3)*1_000_000_007 - 3, TimestampType: segments.TimestampType(i / 7 % 3), Value: []byte("v")}
		want, _ := format.JSON{}.Append(nil, src, 1, r)
		got, err := own.Append(nil, src, 1, r)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
	if p := compile(t, "%v", time.UTC); format.Own(p) != format.Formatter(p) {
		t.Error("a program is not itself")
	}
}

func ExampleJSON() {
	src := format.NewSource("orders", 0)
	row, _ := format.JSON{}.Append(nil, src, 1, &segments.Record{Offset: 7, Timestamp: 1764547200000, Value: []byte("hello")})
	fmt.Print(string(row))
	// Output: {"topic":"orders","partition":0,"offset":7,"tstype":"create","ts":1764547200000,"headers":[],"key":null,"value":"hello"}
}

func ExampleCompile() {
	p, _ := format.Compile(`%d{strftime[%F]} %k=%v\n`, time.UTC)
	text, _ := p.Append(nil, format.NewSource("orders", 0), 1, &segments.Record{Timestamp: 1764547200000, Key: []byte("a"), Value: []byte("b")})
	fmt.Print(string(text))
	// Output: 2025-12-01 a=b
}
