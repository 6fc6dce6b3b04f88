package format_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// largeRecords have keys and values of several pieces, whose borders fall anywhere.
func largeRecords() map[string]*segments.Record {
	runes := strings.Repeat("aä€\U0001F600\u2028\"\\\n\x00", 20_000)
	record := func(key, value []byte) *segments.Record {
		return &segments.Record{Offset: 9, Timestamp: 1700000000123, Key: key, Value: value, Headers: sample().Headers}
	}
	return map[string]*segments.Record{
		"zeros":     record(nil, make([]byte, 300_000)),
		"runes":     record([]byte(runes[1:]), []byte(runes)),
		"not utf-8": record([]byte("k"), []byte(runes+"\xff"+runes)),
		"plain":     record([]byte(strings.Repeat("k", 96<<10)), []byte(strings.Repeat("v", 96<<10+1))),
		"small":     record([]byte("k"), nil),
		"no time":   {Timestamp: -1, TimestampType: segments.NoTimestamp, Value: []byte(runes)},
	}
}

func TestPiecesAreTheText(t *testing.T) {
	all := map[string]format.Formatter{
		"json": format.JSON{}, "own json": format.Own(format.JSON{}),
		"value": &format.Plain{Delimiter: []byte("\n")},
		"keyed": &format.Plain{Key: true, KeyDelimiter: []byte("\t"), Delimiter: []byte("\x00")},
	}
	for _, text := range []string{"", "%v", `%i %k{hex}\t%v{json}|%v{base64} %V %h{json}\n`, "%k%v%k{json}%k{base64}%v{hex}", "%t{json} %T %o"} {
		p, err := format.Compile(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		all[text] = p
	}
	src := format.NewSource("f", 4)
	for what, r := range largeRecords() {
		for name, f := range all {
			want, err := f.Append(nil, src, 2, r)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			longest := 0
			err = f.Pieces(src, 2, r, func(piece []byte) error {
				longest = max(longest, len(piece))
				got.Write(piece)
				return nil
			})
			if err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s, %q: %v; %d bytes, want %d", what, name, err, got.Len(), len(want))
			}
			if longest > max(len(r.Value), 1_000_000) {
				t.Errorf("%s, %q: a piece of %d bytes", what, name, longest)
			}
		}
	}
}

func TestPiecesEndWithAnError(t *testing.T) {
	full := errors.New("full")
	for name, f := range map[string]format.Formatter{"json": format.JSON{}, "plain": &format.Plain{}, "number": compiled(t, "%v%V{big8}")} {
		n := 0
		err := f.Pieces(format.NewSource("f", 4), 2, largeRecords()["zeros"], func([]byte) error {
			n++
			return full
		})
		switch {
		case name == "number" && (err == nil || n > 0):
			t.Errorf("a number that does not fit: %v behind %d pieces", err, n)
		case name != "number" && (err != full || n != 1):
			t.Errorf("%s: %v behind %d pieces", name, err, n)
		}
	}
}

func compiled(t *testing.T, text string) *format.Program {
	t.Helper()
	p, err := format.Compile(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
