package feed_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestG088Framing(t *testing.T) {
	for _, c := range []struct {
		name, text, delim string
		want              []string
	}{
		{"no final newline", "a\nb", "\n", []string{"a", "b"}},
		{"empty lines", "\n\nx\n", "\n", []string{"", "", "x"}},
		{"nothing", "", "\n", nil},
		{"a newline", "\n", "\n", []string{""}},
		{"an empty line at the end", "a\n\n", "\n", []string{"a", ""}},
		{"carriage returns", "a\r\nb\r\n", "\n", []string{"a\r", "b\r"}},
		{"NUL and no UTF-8", "a\x00b\n\xff\xfe\n", "\n", []string{"a\x00b", "\xff\xfe"}},
		{"NUL as delimiter", "a\nb\x00c\x00", "\x00", []string{"a\nb", "c"}},
		{"a long delimiter", "a--b-c----d", "--", []string{"a", "b-c", "", "d"}},
		{"a delimiter that overlaps itself", "xaaay", "aa", []string{"x", "ay"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := newTopic(1)
			o := options(t, tp, c.text)
			o.Delimiter = []byte(c.delim)
			res := run(t, o)
			if diff := cmp.Diff(c.want, tp.values(0)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if n := int64(len(c.want)); res.Records != n || res.Safe != n {
				t.Errorf("counted %+v, want %d", res, n)
			}
			for _, r := range tp.parts[0].records {
				if r.Value == nil || r.Key != nil || len(r.Headers) != 0 {
					t.Errorf("record %+v: want a value and nothing else", r)
				}
			}
		})
	}
}

func TestG087LongLines(t *testing.T) {
	var want []string
	for _, n := range []int{0, 65535, 65536, 65537, 1 << 19, 1<<19 + 1, 1<<20 - 200, 900000, 1} {
		want = append(want, "a", strings.Repeat("x", n), "b")
	}
	for _, end := range []string{"\n", ""} {
		tp := newTopic(1)
		run(t, options(t, tp, strings.Join(want, "\n")+end))
		if diff := cmp.Diff(lengths(want), lengths(tp.values(0))); diff != "" {
			t.Errorf("lengths (-want +got):\n%s", diff)
		}
	}
}

func lengths(ss []string) []int {
	var ns []int
	for _, s := range ss {
		ns = append(ns, len(s))
	}
	return ns
}

func TestManyChunksKeepTheirOrder(t *testing.T) {
	text := numbered("line ", 300000)
	tp := newTopic(1)
	res := run(t, options(t, tp, text, "the end"))
	if got := strings.Join(tp.values(0), "\n"); got != text+"the end" {
		t.Errorf("%d bytes came out, %d went in", len(got), len(text)+7)
	}
	if res.Records != 300001 {
		t.Errorf("counted %+v", res)
	}
	for _, n := range tp.parts[0].sizes {
		if n > 128<<10 {
			t.Errorf("a batch of %d bytes", n)
		}
	}
}

func TestKeylessRecordsAreSpread(t *testing.T) {
	tp := newTopic(7)
	text := numbered("some line of a log ", 9000)
	run(t, options(t, tp, text))
	all := 0
	for p := range tp.parts {
		vs := tp.values(p)
		if len(vs) == 0 {
			t.Errorf("partition %d is empty", p)
		}
		all += len(vs)
		rest := text
		for _, v := range vs {
			_, after, ok := strings.Cut(rest, v+"\n")
			if !ok {
				t.Fatalf("partition %d: %q is out of order", p, v)
			}
			rest = after
		}
	}
	if all != 9000 {
		t.Errorf("%d records, want 9000", all)
	}
}

func TestWhole(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, "a\nb\n", "", strings.Repeat("z", 700000))
	o.Whole = true
	res := run(t, o)
	if diff := cmp.Diff([]string{"a\nb\n", "", strings.Repeat("z", 700000)}, tp.values(0)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if res.Records != 3 {
		t.Errorf("counted %+v", res)
	}
}

// FuzzFraming holds the records of an input, read from a file and from a pipe in pieces,
// against what strings.Split makes of it.
func FuzzFraming(f *testing.F) {
	f.Add("a\nb", "\n", uint16(3))
	f.Add("xaaay", "aa", uint16(1))
	f.Add("--a----b", "--", uint16(2))
	f.Add("", "\x00", uint16(0))
	f.Fuzz(func(t *testing.T, text, delim string, piece uint16) {
		if delim == "" || len(delim) > 8 {
			return
		}
		want := strings.Split(text, delim)
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		tp := newTopic(2)
		o := options(t, tp, text)
		o.Delimiter, o.Partition = []byte(delim), 0
		if res := run(t, o); res.Safe != int64(len(want)) {
			t.Errorf("file: counted %+v, want %d", res, len(want))
		}
		w, o := pipeInput(t, tp)
		o.Delimiter, o.Partition = []byte(delim), 1
		done := start(t.Context(), o)
		for rest := text; rest != ""; {
			n := min(len(rest), int(piece)+1)
			w.WriteString(rest[:n])
			rest = rest[n:]
		}
		w.Close()
		if got := <-done; got.err != nil {
			t.Fatal(got.err)
		}
		for p, what := range []string{"file", "pipe"} {
			if got := tp.values(p); len(got) != len(want) || strings.Join(got, delim) != strings.Join(want, delim) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
	})
}
