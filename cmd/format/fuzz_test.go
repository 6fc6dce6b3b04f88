package format_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

// FuzzFormat: a format is refused with a *value.Error or writes any record; what it can
// also read gives no panic, and where lengths or JSON say where fields end, the record.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{`%t %p %o %k %v{hex}\n`, `%K{big32}%k%V{little64}%v`, `%H %h{%k{json}=%v{json} }%v{json}\n`, `%d{strftime[%F %T.%3N %:z]} %v\n`, `%d{strftime##%H##}|%v|`, `%h{json}%%%{\x00`, `%V %v{base64}\n`} {
		f.Add(s, []byte("key"), []byte("v\xff\n"))
	}
	loc := time.FixedZone("X", 5400)
	exact := regexp.MustCompile(`^%K\{big(32|64)\}%V\{(big|little)32\}%k%v[^%\\]*$`)
	f.Fuzz(func(t *testing.T, s string, key, val []byte) {
		p, err := format.Compile(s, loc)
		if err != nil {
			if _, ok := errors.AsType[*value.Error](err); !ok {
				t.Fatalf("%q: %v", s, err)
			}
			if _, err := format.CompileInput(s, options()); err == nil {
				t.Fatalf("%q can be read, not written", s)
			}
			return
		}
		r := &segments.Record{Offset: 1, Timestamp: 1700000000123, Key: key, Value: val, Headers: []segments.Header{{Key: key, Value: val}, {Key: []byte("n")}}}
		text, err := p.Append(nil, format.NewSource("t", 1), 1, r)
		in, bad := format.CompileInput(s, options())
		if err != nil || bad != nil {
			return
		}
		stream := in.NewStream(bytes.NewReader(text))
		defer stream.Close()
		var row format.Row
		err = stream.Next(&row)
		if exact.MatchString(s) && (err != nil || !bytes.Equal(row.Key, key) || !bytes.Equal(row.Value, val)) {
			t.Fatalf("%q wrote %q and read %q=%q, %v", s, text, row.Key, row.Value, err)
		}
	})
}

// FuzzInput: any text read by any format ends, without a panic, and however it arrives
// with the same rows.
func FuzzInput(f *testing.F) {
	for _, c := range [][2]string{{`%k %v\n`, "a b\nc d"}, {`%K{big8}%k%V{big8}%v`, "\x01a\x01b"}, {`%v{json}\n`, "{\"a\":\"\\\"\"}\n1 "}, {`%H %h{%k=%v }%v\n`, "1 a=b c\n"}, {`%d{strftime[%b %e %T]} %v\n`, "Dec  1 14:05:09 x\n"}, {`%T{hex}:%v{base64};`, "ff:AA==;"}} {
		f.Add(c[0], []byte(c[1]))
	}
	f.Fuzz(func(t *testing.T, s string, text []byte) {
		in, err := format.CompileInput(s, options())
		if err != nil {
			return
		}
		once, err1 := rows(in.NewStream(bytes.NewReader(text)))
		again, err2 := rows(in.NewStream(&oneByOne{text}))
		if (err1 == nil) != (err2 == nil) || len(once) != len(again) {
			t.Fatalf("%q of %q: at once %d rows, %v, byte by byte %d, %v", text, s, len(once), err1, len(again), err2)
		}
		for i := range once {
			if !sameBytes(once[i].Key, again[i].Key) || !sameBytes(once[i].Value, again[i].Value) || once[i].Timestamp != again[i].Timestamp || len(once[i].Headers) != len(again[i].Headers) {
				t.Fatalf("%q of %q: row %d is %+v or %+v", text, s, i, once[i], again[i])
			}
		}
	})
}

// oneByOne gives one byte at a time.
type oneByOne struct{ b []byte }

func (o *oneByOne) Read(p []byte) (int, error) {
	if len(o.b) == 0 {
		return 0, io.EOF
	}
	p[0], o.b = o.b[0], o.b[1:]
	return 1, nil
}

// FuzzJSONOut: any record is a line of JSON that holds it.
func FuzzJSONOut(f *testing.F) {
	f.Add(int64(7), int64(1700000000123), []byte("k"), []byte("v\xff"), []byte("h"), []byte{}, uint8(0))
	f.Add(int64(1<<53+1), int64(-1), []byte("\u2028\""), []byte("\xed\xa0\x80"), []byte{0xff}, []byte("\\"), uint8(3))
	f.Fuzz(func(t *testing.T, offset, ts int64, key, val, name, hval []byte, null uint8) {
		if null&1 != 0 {
			key = nil
		}
		if null&2 != 0 {
			val = nil
		}
		if null&4 != 0 {
			hval = nil
		}
		checkJSON(t, &segments.Record{Offset: offset, Timestamp: ts, Key: notNil(key, null&1), Value: notNil(val, null&2), Headers: []segments.Header{{Key: notNil(name, 0), Value: notNil(hval, null&4)}, {Key: notNil(name, 0), Value: notNil(val, null&2)}}})
	})
}

// notNil is b, empty where it is nil but not null.
func notNil(b []byte, null uint8) []byte {
	if b == nil && null == 0 {
		return []byte{}
	}
	return b
}

// FuzzJSONIn: a line is taken exactly when encoding/json takes it as an object of the
// fields we know, and then with the same strings.
func FuzzJSONIn(f *testing.F) {
	for _, s := range []string{`{"value":"a\u00e4","key":null}`, `{"payload":{"base64":"AA=="},"headers":["a",null]}`, `{"headers":{"a":[1,2.5e3]},"ts":1700000000123}`, `{"value":"\ud83d\ude00","x":{"y":[true,false,null]}}`, "{\"value\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := slices.Clone(line)
		var row format.Row
		err := format.NewJSONRows(options()).ParseRow(line, &row)
		if !bytes.Equal(before, line) {
			t.Fatal("the line was changed")
		}
		var std map[string]json.RawMessage
		stdErr := json.Unmarshal(line, &std)
		if err == nil && stdErr != nil {
			t.Fatalf("%q is taken, encoding/json says %v", line, stdErr)
		}
		if err != nil || std["payload"] != nil || bytes.ContainsRune(line, '\\') {
			return // names may be escaped, and either field is the value
		}
		if raw := std["value"]; len(raw) > 0 && raw[0] == '"' {
			if want := raw[1 : len(raw)-1]; !bytes.Equal(row.Value, want) {
				t.Fatalf("%q: value %q, want %q", line, row.Value, want)
			}
		}
	})
}

// FuzzFields: no line and no path makes a panic.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,2]},"ts":1.5e9}`), "a.b.#", "ts", []byte(":"))
	f.Fuzz(func(t *testing.T, line []byte, keyPath, tsPath string, delim []byte) {
		for _, o := range []format.FieldOptions{{KeyJSON: keyPath, TimestampJSON: tsPath}, {KeyDelimiter: delim}} {
			o.Options = options()
			p, err := format.NewFields(o)
			if err != nil {
				t.Fatal(err)
			}
			var row format.Row
			if p.ParseRow(line, &row) == nil && o.KeyDelimiter != nil && len(row.Key)+len(row.Value)+len(delim) != len(line) {
				t.Fatalf("%q at %q: %q and %q", line, delim, row.Key, row.Value)
			}
		}
	})
}
