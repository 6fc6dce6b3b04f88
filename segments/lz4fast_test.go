package segments_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/segments"
)

// lz4There and back: one batch of one value.
func lz4There(t testing.TB, value []byte) int {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{Codec: segments.LZ4})
	b.AppendValue(1, value)
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	batch, err := segments.ParseBatch(raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	var d segments.Decoder
	if err := d.Open(batch); err != nil {
		t.Fatal(err)
	}
	got, _, ok := d.NextValue()
	if !ok || !bytes.Equal(got, value) {
		t.Fatalf("%d bytes came back as %d: %v, %s", len(value), len(got), d.Err(), cmp.Diff(value, got))
	}
	return len(raw)
}

// TestLZ4BlocksOfAllKinds packs values from nothing to several blocks: of one byte, of
// periods, of text, of noise.
func TestLZ4BlocksOfAllKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 500 {
		size := rng.IntN([]int{20, 300, 70_000, 200_000}[rng.IntN(4)])
		value := make([]byte, size)
		switch period := 1 + rng.IntN(300); i % 4 {
		case 0:
			for j := range value {
				value[j] = byte(j % period)
			}
		case 1:
			for j := range value {
				value[j] = byte('a' + rng.IntN(2))
			}
		case 2:
			for j := range value {
				value[j] = byte(rng.Uint32())
			}
		default:
			value = bytes.Join(logLines(1+size/512), []byte("\n"))
		}
		lz4There(t, value)
	}
	if n := lz4There(t, make([]byte, 64<<10)); n > 500 {
		t.Errorf("64 KiB of zeros take %d bytes", n)
	}
}

// FuzzLZ4Fast: what is packed comes back.
func FuzzLZ4Fast(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte("ab"), 20))
	f.Add([]byte("abcdabcdabcdabcd0123456789"))
	f.Fuzz(func(t *testing.T, value []byte) {
		lz4There(t, value)
		lz4There(t, bytes.Repeat(value, 3))
	})
}
