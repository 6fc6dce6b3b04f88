package segments_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// varintVectors is varint.json: what Kafka's classes write, and what they make of
// unusual input.
type varintVectors struct {
	Valid []struct {
		Value     int64  `json:"value,string"`
		Hex       string `json:"hex"`
		FitsInt32 bool   `json:"fits_int32"`
	} `json:"valid"`
	Odd []struct {
		Hex           string `json:"hex"`
		Int32         *int32 `json:"int32,string"`
		Int32Consumed int    `json:"int32_consumed"`
		Int64         *int64 `json:"int64,string"`
		Int64Consumed int    `json:"int64_consumed"`
	} `json:"odd"`
}

func TestGoldenVarints(t *testing.T) {
	var vectors varintVectors
	segmentstest.JSON(t, "varint.json", &vectors)
	if len(vectors.Valid) == 0 || len(vectors.Odd) == 0 {
		t.Fatal("varint.json is empty")
	}
	for _, v := range vectors.Valid {
		want := unhex(t, v.Hex)
		if got := segments.AppendVarint64(nil, v.Value); !bytes.Equal(got, want) {
			t.Errorf("%d: wrote %x, want %x", v.Value, got, want)
		}
		if got, n := segments.Varint64(want, 0); got != v.Value || n != len(want) {
			t.Errorf("%x: read %d, %d bytes, want %d", want, got, n, v.Value)
		}
		if n := segments.VarintSize64(v.Value); n != len(want) {
			t.Errorf("%d: size %d, want %d", v.Value, n, len(want))
		}
		if v.FitsInt32 {
			checkVarint32(t, int32(v.Value), want)
		}
	}
	for _, v := range vectors.Odd {
		b := unhex(t, v.Hex)
		got, n := segments.Varint32(b, 0)
		if v.Int32 == nil && n >= 0 || v.Int32 != nil && (got != *v.Int32 || n != v.Int32Consumed) {
			t.Errorf("%x: read %d, %d bytes as int32", b, got, n)
		}
		long, n := segments.Varint64(b, 0)
		if v.Int64 == nil && n >= 0 || v.Int64 != nil && (long != *v.Int64 || n != v.Int64Consumed) {
			t.Errorf("%x: read %d, %d bytes as int64", b, long, n)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkVarint32(t *testing.T, v int32, want []byte) {
	t.Helper()
	if got := segments.AppendVarint32(nil, v); !bytes.Equal(got, want) {
		t.Errorf("%d: wrote %x, want %x", v, got, want)
	}
	if got, n := segments.Varint32(want, 0); got != v || n != len(want) {
		t.Errorf("%x: read %d, %d bytes, want %d", want, got, n, v)
	}
	if n := segments.VarintSize32(v); n != len(want) {
		t.Errorf("%d: size %d, want %d", v, n, len(want))
	}
}

// TestVarintBorders compares with encoding/binary around every change of length.
func TestVarintBorders(t *testing.T) {
	for shift := range 63 {
		for _, d := range []int64{-1, 0, 1} {
			for _, v := range []int64{1<<shift + d, -(1 << shift) + d, math.MaxInt64, math.MinInt64} {
				want := binary.AppendVarint(nil, v)
				if got := segments.AppendVarint64(nil, v); !bytes.Equal(got, want) {
					t.Errorf("%d: wrote %x, want %x", v, got, want)
				}
				if v >= math.MinInt32 && v <= math.MaxInt32 {
					checkVarint32(t, int32(v), want)
				}
			}
		}
	}
}

// FuzzVarint reads any bytes: no panic, no byte beyond the longest form, and what is
// read is written in no more bytes and read back.
func FuzzVarint(f *testing.F) {
	var vectors varintVectors
	segmentstest.JSON(f, "varint.json", &vectors)
	for _, v := range vectors.Odd {
		b, _ := hex.DecodeString(v.Hex)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, n := segments.Varint32(b, 0); n >= 0 {
			short := segments.AppendVarint32(nil, v)
			if n > len(b) || n > 5 || len(short) > n {
				t.Errorf("%x: %d in %d bytes", b, v, n)
			}
			if again, _ := segments.Varint32(short, 0); again != v {
				t.Errorf("%x: %d, then %d", b, v, again)
			}
		}
		if v, n := segments.Varint64(b, 0); n >= 0 {
			short := segments.AppendVarint64(nil, v)
			if n > len(b) || n > 10 || len(short) > n {
				t.Errorf("%x: %d in %d bytes", b, v, n)
			}
			if again, _ := segments.Varint64(short, 0); again != v {
				t.Errorf("%x: %d, then %d", b, v, again)
			}
		}
	})
}
