package segments_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klog-project/klog/segments"
)

// TestAppendValuesIsNextValue reads batches of records of all kinds both ways, whole and
// with one byte changed: the same text, offsets and verdict come of it.
func TestAppendValuesIsNextValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 600 {
		raw := mixedBatch(t, rng)
		if i%3 > 0 {
			raw[segments.HeaderSize+rng.IntN(len(raw)-segments.HeaderSize)] ^= byte(1 + rng.IntN(255))
		}
		b, err := segments.ParseBatch(raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		delim := []string{"\n", "", "<end>"}[rng.IntN(3)]
		want, wantNext, wantErr := readValues(b, delim, 0)
		got, gotNext, gotErr := readValues(b, delim, 1+rng.IntN(5000))
		if !bytes.Equal(got, want) || gotNext != wantNext || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("case %d: %d bytes up to offset %d, %v, want %d bytes up to offset %d, %v", i, len(got), gotNext, gotErr, len(want), wantNext, wantErr)
		}
	}
}

// mixedBatch is a batch of mostly plain records.
func mixedBatch(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	longest := []int{1, 10, 40, 200, 9000}[rng.IntN(5)]
	for range 1 + rng.IntN(200) {
		value := bytes.Repeat([]byte{'v'}, rng.IntN(longest))
		switch rng.IntN(20) {
		case 0:
			b.Append(1000, []byte("key"), value, nil)
		case 1:
			b.Append(2000, nil, nil, nil)
		case 2:
			b.Append(1000, nil, value, []segments.Header{{Key: []byte("h")}})
		default:
			b.AppendValue(1000, value)
		}
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// readValues reads a batch's values with AppendValues, up to most bytes at a time, or
// with NextValue alone where most is 0.
func readValues(b segments.Batch, delim string, most int) (text []byte, next int64, err error) {
	var d segments.Decoder
	d.Open(b)
	for {
		if most > 0 {
			var n int
			var offset int64
			if text, n, offset = d.AppendValues(text, []byte(delim), len(text)+most); n > 0 {
				next = offset
			}
		}
		v, offset, ok := d.NextValue()
		if !ok {
			return text, next, d.Err()
		}
		text = append(append(text, v...), delim...)
		next = offset + 1
	}
}
