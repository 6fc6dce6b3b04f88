package segments_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klog-project/klog/segments"
)

// encodeLines makes a batch of the lines of text, with AppendLines where it will and
// AppendValue where it must, or with AppendValue alone.
func encodeLines(t *testing.T, o segments.BatchOptions, times [2]int64, text []byte, limit int, fast bool) (raw []byte, rest int) {
	t.Helper()
	var b segments.Builder
	b.Start([]byte("before"), o)
	b.AppendValue(times[0], []byte("first"))
	b.AppendValue(times[1], []byte("second"))
	for len(text) > 0 {
		if fast {
			var n int
			before := b.Count()
			n, text = b.AppendLines(times[1], text, '\n', limit)
			if got := int(b.Count() - before); got != n {
				t.Fatalf("added %d records and told of %d", got, n)
			}
			if len(text) == 0 {
				break
			}
		}
		line, after, _ := bytes.Cut(text, []byte("\n"))
		if b.Size()+len(line) > limit {
			break
		}
		b.AppendValue(times[1], line)
		text = after
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return raw, len(text)
}

// TestAppendLinesIsAppendValue encodes lines of every length both ways: with and without
// a last newline, up to a limit, compressed, behind records of another time.
func TestAppendLinesIsAppendValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 400 {
		longest := []int{1, 12, 40, 70, 300, 20_000}[rng.IntN(6)]
		var text []byte
		for len(text) < 200_000 {
			for range rng.IntN(longest) {
				text = append(text, byte('a'+rng.IntN(26)))
			}
			text = append(text, '\n')
		}
		text = text[:rng.IntN(len(text))]
		limit := []int{100, 5000, 1 << 20}[rng.IntN(3)]
		o := segments.BatchOptions{Codec: []segments.Codec{segments.None, segments.None, segments.Snappy}[rng.IntN(3)]}
		times := [2]int64{1_700_000_000_000, 1_700_000_000_000 + []int64{0, 0, 1, -1, 1 << 20, 1 << 40, 1 << 60}[rng.IntN(7)]}
		want, wantRest := encodeLines(t, o, times, text, limit, false)
		got, gotRest := encodeLines(t, o, times, text, limit, true)
		if !bytes.Equal(got, want) || gotRest != wantRest {
			t.Fatalf("case %d: %d bytes, %d left, want %d bytes, %d left", i, len(got), gotRest, len(want), wantRest)
		}
	}
}

// TestAppendLinesLeavesWhatItCannot begins no batch, and takes neither a line without an
// end nor one of another time.
func TestAppendLinesLeavesWhatItCannot(t *testing.T) {
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	for _, c := range []struct {
		what string
		ts   int64
		text string
		n    int
		left int
	}{
		{"an empty batch", 5, "a\n", 0, 2},
		{"no newline", 5, "a", 0, 1},
		{"two lines and a piece", 5, "a\nb\nc", 2, 1},
		{"another time", 6, "a\n", 0, 2},
		{"nothing", 5, "", 0, 0},
	} {
		n, rest := b.AppendLines(c.ts, []byte(c.text), '\n', 1<<20)
		if n != c.n || len(rest) != c.left {
			t.Errorf("%s: %d added, %d left, want %d and %d", c.what, n, len(rest), c.n, c.left)
		}
		if b.Count() == 0 {
			b.AppendValue(5, []byte("first"))
		}
	}
}
