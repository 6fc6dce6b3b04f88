package feed_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/segments"
)

// small limits batches to 1000 bytes.
func small(o feed.Options, how feed.Oversize) (feed.Options, *[]string) {
	var said []string
	o.Limits = feed.Limits{Message: 1000, Batch: 1000, Line: 1 << 20, Earliest: 1 << 62, Latest: 1 << 62}
	if how != feed.Split {
		o.Limits.Line = 2000 // what is longer is not even kept
	}
	o.Oversize = how
	o.Notice = func(_ feed.Oversize, s string) { said = append(said, s) }
	return o, &said
}

func threeLines() (a, b, c string) {
	return strings.Repeat("a", 10), strings.Repeat("b", 5000), strings.Repeat("c", 10)
}

func TestOversizeFails(t *testing.T) {
	a, b, c := threeLines()
	for _, long := range []string{b, b[:1001], b[:950]} { // not kept, kept, too large only as a batch
		tp := newTopic(1)
		o, _ := small(options(t, tp, strings.Join([]string{a, long, c}, "\n")), feed.Fail)
		_, err := feed.Run(t.Context(), o)
		var stop *feed.StopError
		var over *feed.OversizeError
		var rec *feed.RecordError
		if !errors.As(err, &stop) || !errors.As(err, &over) || !errors.As(err, &rec) {
			t.Fatalf("error %v", err)
		}
		if rec.Number != 2 || rec.Unit != "line" || over.Size != int64(len(long)) || over.Limit != 1000 || stop.Safe != 1 || stop.First != 1 {
			t.Errorf("error %v (%+v %+v %+v)", err, rec, over, stop)
		}
		if diff := cmp.Diff([]string{a}, tp.values(0)); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	}
}

func TestOversizeIsLeftOut(t *testing.T) {
	a, b, c := threeLines()
	tp := newTopic(1)
	o, said := small(options(t, tp, strings.Join([]string{a, b, b[:1001], c, b}, "\n")), feed.Skip)
	res := run(t, o)
	if diff := cmp.Diff([]string{a, c}, tp.values(0)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if res.Records != 5 || res.Safe != 2 || res.LeftOut != 3 {
		t.Errorf("counted %+v", res)
	}
	want := []string{
		"line 2: 5000 bytes, over max.message.bytes=1000: left out",
		"line 3: 1001 bytes, over max.message.bytes=1000: left out",
		"line 5: 5000 bytes, over max.message.bytes=1000: left out",
	}
	if diff := cmp.Diff(want, *said); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestOversizeIsTruncated(t *testing.T) {
	a, b, c := threeLines()
	for _, codec := range []segments.Codec{segments.None} {
		tp := newTopic(1)
		o, said := small(options(t, tp, strings.Join([]string{a, b, b[:1500], c}, "\n")), feed.Truncate)
		o.Codec = codec
		res := run(t, o)
		got := tp.values(0)
		if len(got) != 4 || got[0] != a || got[3] != c || len(got[1]) < 800 || !strings.HasPrefix(b, got[1]) || got[2] != got[1] {
			t.Errorf("lengths %v", lengths(got))
		}
		if res.Records != 4 || res.Safe != 4 || res.Changed != 2 || len(*said) != 2 {
			t.Errorf("counted %+v, said %q", res, *said)
		}
	}
}

func TestOversizeIsSplit(t *testing.T) {
	a, b, c := threeLines()
	for _, key := range []string{"", "key\t"} {
		tp := newTopic(1)
		o, said := small(options(t, tp, strings.Join([]string{key + a, key + b, key + c}, "\n")), feed.Split)
		if key != "" {
			o.KeyDelimiter = []byte("\t")
		}
		res := run(t, o)
		got := tp.values(0)
		if strings.Join(got, "") != a+b+c || len(got) < 7 {
			t.Errorf("lengths %v", lengths(got))
		}
		for _, r := range tp.parts[0].records {
			if string(r.Key) != strings.TrimSuffix(key, "\t") {
				t.Errorf("key %q", r.Key)
			}
		}
		if res.Records != 3 || res.Safe != 3 || res.Changed != 1 || len(*said) != 1 {
			t.Errorf("counted %+v, said %q", res, *said)
		}
	}
}

func TestKeyThatIsTooLargeCannotBeCut(t *testing.T) {
	key := strings.Repeat("k", 1500)
	for _, how := range []feed.Oversize{feed.Fail, feed.Truncate, feed.Split} {
		tp := newTopic(1)
		o, _ := small(options(t, tp, "a\tb\n"+key+"\tv\n"), how)
		o.KeyDelimiter = []byte("\t")
		var over *feed.OversizeError
		if _, err := feed.Run(t.Context(), o); !errors.As(err, &over) || over.Size != 1502 {
			t.Errorf("%v: error %v", how, err)
		}
		if diff := cmp.Diff([]string{"b"}, tp.values(0)); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	}
}

// What stands behind a record that cannot be stored is not stored either, although it
// goes to another partition.
func TestNothingBehindAnOversizeRecordIsStored(t *testing.T) {
	tp := newTopic(8)
	var text strings.Builder
	for i := range 200 {
		text.WriteString(string(rune('a'+i%26)) + "\tv\n")
		if i == 99 {
			text.WriteString("z\t" + strings.Repeat("x", 1200) + "\n")
		}
	}
	o, _ := small(options(t, tp, text.String()), feed.Fail)
	o.KeyDelimiter = []byte("\t")
	_, err := feed.Run(t.Context(), o)
	var stop *feed.StopError
	if !errors.As(err, &stop) || stop.Safe != 100 || stop.First != 100 {
		t.Errorf("error %v", err)
	}
	n := 0
	for p := range tp.parts {
		n += len(tp.values(p))
	}
	if n != 100 {
		t.Errorf("%d records are stored, want 100", n)
	}
}

// Compression makes noise larger: a record that fits only uncompressed is stored so.
func TestNoiseThatFitsOnlyUncompressed(t *testing.T) {
	noise := make([]byte, 1000-segments.HeaderSize-9)
	r := rand.NewChaCha8([32]byte{1})
	for i := range noise {
		for noise[i] == 0 || noise[i] == '\n' {
			noise[i] = byte(r.Uint64())
		}
	}
	for _, codec := range []segments.Codec{segments.Gzip, segments.Snappy, segments.LZ4, segments.Zstd} {
		tp := newTopic(1)
		o, _ := small(options(t, tp, "a\n"+string(noise)+"\n"+strings.Repeat("b", 5000)), feed.Fail)
		o.Limits.Line = 1 << 20
		o.Codec = codec
		run(t, o)
		if diff := cmp.Diff([]int{1, len(noise), 5000}, lengths(tp.values(0))); diff != "" {
			t.Errorf("%v: lengths (-want +got):\n%s", codec, diff)
		}
		for _, n := range tp.parts[0].sizes {
			if n > 1000 {
				t.Errorf("%v: a batch of %d bytes", codec, n)
			}
		}
	}
}

// FuzzLeavingOut holds a run that leaves out what is too large against the same input
// without those records, whatever the pieces in which it comes.
func FuzzLeavingOut(f *testing.F) {
	f.Add("a\n"+strings.Repeat("b", 300)+"\nc", "\n", uint16(7))
	f.Add(strings.Repeat("-", 500)+"--x--", "--", uint16(100))
	f.Fuzz(func(t *testing.T, text, delim string, piece uint16) {
		if delim == "" || len(delim) > 8 {
			return
		}
		var want []string
		all := strings.Split(text, delim)
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		for _, s := range all {
			if len(s) > 90 && len(s) < 200 {
				return // whether it fits depends on the numbers before it
			}
			if len(s) <= 90 {
				want = append(want, s)
			}
		}
		tp := newTopic(1)
		w, o := pipeInput(t, tp)
		o.Delimiter, o.Oversize = []byte(delim), feed.Skip
		o.Limits.Message, o.Limits.Batch, o.Limits.Line = 199, 199, 200
		done := start(t.Context(), o)
		for rest := text; rest != ""; {
			n := min(len(rest), int(piece)+1)
			io.WriteString(w, rest[:n])
			rest = rest[n:]
		}
		w.Close()
		got := <-done
		if got.err != nil || got.res.Records != int64(len(all)) || got.res.LeftOut != int64(len(all)-len(want)) {
			t.Errorf("ended with %+v, want %d of %d records", got, len(want), len(all))
		}
		if vs := tp.values(0); len(vs) != len(want) || strings.Join(vs, delim) != strings.Join(want, delim) {
			t.Errorf("stored %q, want %q", vs, want)
		}
	})
}
