package interop_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// record is what klog and Kafka's clients must agree on. It is a row of `klog cat -J`.
type record struct {
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
	TSType    string   `json:"tstype"`
	TS        int64    `json:"ts"`
	Headers   []header `json:"headers,omitempty"`
	Key       text     `json:"key"`
	Value     text     `json:"value"`
}

type header struct {
	Key   text `json:"key"`
	Value text `json:"value"`
}

// text is a byte string in a row; nil is null.
type text []byte

func (x text) MarshalJSON() ([]byte, error) {
	switch {
	case x == nil:
		return []byte("null"), nil
	case utf8.Valid(x):
		return json.Marshal(string(x))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(x)})
}

func (x *text) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*x = nil
	case string:
		*x = text(v)
	case map[string]any:
		b, err := base64.StdEncoding.DecodeString(fmt.Sprint(v["base64"]))
		*x = b
		return err
	default:
		return fmt.Errorf("a byte string is written as %s", b)
	}
	return nil
}

// records reads rows of `klog cat -J`.
func records(t *testing.T, rows string) []record {
	t.Helper()
	var all []record
	for d := json.NewDecoder(strings.NewReader(rows)); ; {
		var r record
		if err := d.Decode(&r); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.normal())
	}
}

// normal is the record with no headers told as nil only.
func (r record) normal() record {
	if len(r.Headers) == 0 {
		r.Headers = nil
	}
	return r
}

// rows writes records as `klog produce -J` reads them.
func rows(t *testing.T, recs []record) string {
	t.Helper()
	var b strings.Builder
	for _, r := range recs {
		row, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(row, '\n'))
	}
	return b.String()
}

// consumed is a record as a client of Kafka has it.
func consumed(r *kgo.Record) record {
	x := record{Partition: r.Partition, Offset: r.Offset, TSType: "create", TS: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	if r.Attrs.TimestampType() == 1 {
		x.TSType = "logappend"
	}
	for _, h := range r.Headers {
		x.Headers = append(x.Headers, header{text(h.Key), h.Value})
	}
	return x
}

// sameRecords reports the first record that differs.
func sameRecords(t *testing.T, want, got []record) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("record %d (-want +got):\n%.2000s", i, cmp.Diff(want[i], got[i]))
			return
		}
	}
}

// lines is text that compresses as log files do, every line another.
func lines(n int) []string {
	all := make([]string, n)
	x := uint32(n)
	for i := range all {
		x = x*1664525 + 1013904223
		all[i] = fmt.Sprintf("2026-12-01T14:%02d:%02d.%03d INFO [worker-%d] request %08x from 10.0.%d.%d took %d ms", i/60%60, i%60, x%1000, x>>8%16, x, x>>16%256, x>>24, x>>12%5000)
	}
	return all
}

// oddRecords are all pairs of null, empty and other keys and values, with headers of
// all kinds, their times going backwards.
func oddRecords() []record {
	strange := text("\xe4\xf6\xfc z\u00e9 \U0001f4dc")
	var all []record
	for _, k := range []text{nil, {}, text("k"), text("k\u00e9")} {
		for _, v := range []text{nil, {}, text("v"), text("\u00fc \U0001f4dc")} {
			for _, hs := range [][]header{nil, {{text("a"), text("1")}}, {{text("a"), nil}, {text("a"), text{}}, {text("b"), strange}}} {
				all = append(all, record{TSType: "create", TS: 1_700_000_000_000 - int64(len(all)), Headers: hs, Key: k, Value: v})
			}
		}
	}
	return all
}
