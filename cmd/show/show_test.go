package show_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// writeLog makes a partition of one segment with these bytes.
func writeLog(t testing.TB, log []byte, base int64) *engine.Partition {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "topic-3")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, segments.SegmentName(base)+segments.LogSuffix), log, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := engine.OpenPartitionDir(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// appendBatch appends a batch with its base offset and returns the next offset.
func appendBatch(t testing.TB, log []byte, offset int64, codec segments.Codec, values ...string) ([]byte, int64) {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{Codec: codec})
	for i, v := range values {
		b.Append(1_700_000_000_000+offset, fmt.Append(nil, "key", i%3), []byte(v), nil)
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	segments.SetBaseOffset(raw, offset)
	return append(log, raw...), offset + int64(len(values))
}

// randomLog holds batches of all sizes and codecs, among them values that are written
// from where they lie and batches that are checked piece by piece.
func randomLog(t testing.TB, r *rand.Rand, batches int) (log []byte, starts []int) {
	t.Helper()
	offset := int64(0)
	for i := range batches {
		values := make([]string, 1+r.IntN(40))
		for j := range values {
			size := r.IntN(300)
			switch {
			case r.IntN(400) == 0:
				size = 1 << 20
			case i%50 == 17 && j == 0:
				size = 5 << 20
			}
			values[j] = fmt.Sprint(i, ".", j) + strings.Repeat("x", size)
		}
		starts = append(starts, len(log))
		log, offset = appendBatch(t, log, offset, segments.Codec(r.IntN(5)), values...)
	}
	return log, starts
}

// outcome is what printing a partition leaves behind.
type outcome struct {
	text     string
	reported []string
	err      string
}

func readerOf(t testing.TB, p *engine.Partition, from int64, skip bool, o *outcome) *engine.Reader {
	t.Helper()
	v, err := p.View(engine.ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Reader(engine.ReaderOptions{
		From: from, Until: v.End(), SkipCorrupt: skip,
		Report: func(err error) { o.reported = append(o.reported, err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// oneByOne prints record by record: what Copy must come to.
func oneByOne(t testing.TB, p *engine.Partition, from int64, skip bool, o show.Options) outcome {
	t.Helper()
	var out outcome
	r := readerOf(t, p, from, skip, &out)
	src := format.NewSource(p.Topic(), p.Number())
	var text []byte
	for n := int64(0); o.Limit < 0 || n < o.Limit; {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			out.err = err.Error()
			break
		}
		if !o.Filter.Keep(rec) {
			continue
		}
		n++
		if text, err = o.Format.Append(text, src, n, rec); err != nil {
			t.Fatal(err)
		}
	}
	out.text = string(text)
	return out
}

func copied(t testing.TB, p *engine.Partition, from int64, skip bool, o show.Options) outcome {
	t.Helper()
	var out outcome
	var text bytes.Buffer
	o.Write = func(b []byte) error {
		text.Write(b)
		return nil
	}
	if err := show.New(o).Copy(t.Context(), readerOf(t, p, from, skip, &out)); err != nil {
		out.err = err.Error()
	}
	out.text = text.String()
	return out
}

func (o outcome) check(t testing.TB, want outcome) {
	t.Helper()
	if o.err != want.err || strings.Join(o.reported, "\n") != strings.Join(want.reported, "\n") {
		t.Errorf("got error %q, reported %q\nwant error %q, reported %q", o.err, o.reported, want.err, want.reported)
	}
	if o.text != want.text {
		i := 0
		for i < min(len(o.text), len(want.text)) && o.text[i] == want.text[i] {
			i++
		}
		t.Errorf("got %d bytes, want %d: they differ from byte %d on: got %.60q, want %.60q", len(o.text), len(want.text), i, o.text[i:], want.text[i:])
	}
}

// ways are the ways to print, each with and without a shortcut.
func ways(t testing.TB) map[string]show.Options {
	t.Helper()
	numbered, err := format.Compile(`%i %o %k\n`, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]show.Options{
		"values":   {Format: &format.Plain{Delimiter: []byte("\n")}, Delimiter: []byte("\n"), Plain: true, Limit: -1},
		"rows":     {Format: format.JSON{}, Limit: -1},
		"numbered": {Format: numbered, Numbered: true, Limit: -1},
		"limited":  {Format: &format.Plain{Delimiter: []byte("\n")}, Delimiter: []byte("\n"), Plain: true, Limit: 1000},
		"filtered": {Format: &format.Plain{Delimiter: []byte("|")}, Delimiter: []byte("|"), Plain: true, Limit: -1, Filter: show.Filter{Key: regexp.MustCompile("2$")}},
	}
}

func TestCopyIsWhatRecordByRecordIs(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		log, starts := randomLog(t, r, 120)
		if seed > 0 { // some batches are damaged, headers and contents
			for range seed {
				at := starts[r.IntN(len(starts))]
				log[at+r.IntN(100)] ^= 1 << r.IntN(8)
			}
		}
		p := writeLog(t, log, 0)
		for name, o := range ways(t) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				for _, skip := range []bool{true, false} {
					for _, from := range []int64{0, 1234} {
						copied(t, p, from, skip, o).check(t, oneByOne(t, p, from, skip, o))
					}
				}
			})
		}
	}
}

// Batches whose checksum is right and whose records are malformed lose what lies behind
// the fault, and nothing else.
func TestCopyOfMalformedRecords(t *testing.T) {
	for _, c := range segmentstest.Vectors(t).Corrupt {
		if c.Content == nil {
			continue
		}
		p := writeLog(t, segmentstest.File(t, c.File), c.SegmentBase)
		for name, o := range ways(t) {
			for _, skip := range []bool{true, false} {
				t.Run(filepath.Base(c.File)+" "+name, func(t *testing.T) {
					copied(t, p, c.SegmentBase, skip, o).check(t, oneByOne(t, p, c.SegmentBase, skip, o))
				})
			}
		}
	}
}

// A failed write ends it, and nothing is written after that.
func TestCopyEndsWithAFailedWrite(t *testing.T) {
	log, _ := randomLog(t, rand.New(rand.NewPCG(1, 1)), 100)
	p := writeLog(t, log, 0)
	full := errors.New("no space")
	for name, o := range ways(t) {
		writes := 0
		o.Write = func([]byte) error {
			if writes++; writes > 1 {
				return full
			}
			return nil
		}
		var out outcome
		err := show.New(o).Copy(t.Context(), readerOf(t, p, 0, false, &out))
		if writes > 1 && !errors.Is(err, full) || writes > 2 {
			t.Errorf("%s: %v after %d writes", name, err, writes)
		}
	}
}

// Large records do not wait for each other in memory.
func TestCopyHoldsALargeRecordOnce(t *testing.T) {
	const size = 48 << 20
	var log []byte
	offset := int64(0)
	for range 4 {
		log, offset = appendBatch(t, log, offset, segments.None, strings.Repeat("y", size))
	}
	p := writeLog(t, log, 0)
	log = nil
	largest := 0
	o := ways(t)["values"]
	o.Write = func(b []byte) error {
		largest = max(largest, len(b))
		return nil
	}
	var out outcome
	if err := show.New(o).Copy(t.Context(), readerOf(t, p, 0, false, &out)); err != nil {
		t.Fatal(err)
	}
	if largest != size {
		t.Errorf("the largest write has %d bytes, want the value's own %d", largest, size)
	}
}
