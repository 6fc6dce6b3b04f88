package segments_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// batchOf is one batch of plain values with its place in the log.
func batchOf(t testing.TB, base int64, values ...[]byte) []byte {
	t.Helper()
	return batchWith(t, base, segments.BatchOptions{}, values...)
}

func batchWith(t testing.TB, base int64, o segments.BatchOptions, values ...[]byte) []byte {
	t.Helper()
	var b segments.Builder
	b.Start(nil, o)
	for i, v := range values {
		b.Append(1_700_000_000_000+base+int64(i), []byte("k"), v, []segments.Header{{Key: []byte("h"), Value: []byte("x")}})
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	segments.SetBaseOffset(raw, base)
	segments.SetLeaderEpoch(raw, 0)
	return raw
}

func text(n int) []byte { return bytes.Repeat([]byte("lorem ipsum "), n/12+1)[:n] }

// findEnd runs FindEnd over a whole segment with base offset 0.
func findEnd(t testing.TB, log []byte, later bool) segments.LogEnd {
	t.Helper()
	e, err := segments.FindEnd(scannerOf(log, 0), later, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wantTorn checks that log ends with a torn tail from position at on.
func wantTorn(t testing.TB, log []byte, at int, next int64) {
	t.Helper()
	e := findEnd(t, log, false)
	if e.Position != int64(at) || e.Torn != int64(len(log)-at) || e.Next != next || len(e.Damage) != 0 {
		t.Errorf("got end %d, %d bytes torn, next offset %d, damage %v; want end %d, %d bytes torn, next offset %d, none",
			e.Position, e.Torn, e.Next, e.Damage, at, len(log)-at, next)
	}
}

// wantDamage checks that nothing of log may be cut and that it has exactly one damaged
// piece, from position at on, which is followed by the offset nextBase (-1: by nothing).
func wantDamage(t testing.TB, log []byte, at, size int, nextBase, next int64) {
	t.Helper()
	e := findEnd(t, log, false)
	if e.Torn != 0 || e.Position != int64(len(log)) || len(e.Damage) != 1 || e.Next != next {
		t.Fatalf("got end %d of %d, %d bytes torn, next offset %d, damage %v; want one piece at %d, next offset %d",
			e.Position, len(log), e.Torn, e.Next, e.Damage, at, next)
	}
	d := e.Damage[0]
	last := int64(-1)
	if nextBase >= 0 {
		last = nextBase - 1
	}
	if d.Position != int64(at) || d.Size != int64(size) || d.LastOffset != last {
		t.Errorf("got damage at %d, %d bytes, last offset %d; want at %d, %d bytes, %d", d.Position, d.Size, d.LastOffset, at, size, last)
	}
}

func TestTornAtEveryByte(t *testing.T) {
	// What a writer that is killed in the middle of an append of three batches leaves.
	first := batchOf(t, 0, text(100), text(30))
	inner := slices.Concat(batchOf(t, 2, text(40)), batchOf(t, 3, text(9), text(9)), batchOf(t, 5, text(5)), batchOf(t, 1000, text(5)))
	for name, values := range map[string][][]byte{
		"text":                      {text(50), text(20)},
		"batches in a value":        {inner, text(20)},
		"batches in the last value": {text(20), inner},
	} {
		for _, codec := range []segments.Codec{segments.None, segments.Gzip} {
			t.Run(fmt.Sprint(name, " ", codec), func(t *testing.T) {
				t.Parallel()
				o := segments.BatchOptions{Codec: codec}
				second := batchWith(t, 2, o, values...)
				third := batchWith(t, 4, o, values...)
				fourth := batchWith(t, 6, o, values...)
				log := slices.Concat(first, second, third, fourth)
				ends := []int{len(first)}
				next := []int64{2, 4, 6, 8}
				for _, b := range [][]byte{second, third, fourth} {
					ends = append(ends, ends[len(ends)-1]+len(b))
				}
				for cut := len(first); cut <= len(log); cut++ {
					i := 0
					for i+1 < len(ends) && ends[i+1] <= cut {
						i++
					}
					wantTorn(t, log[:cut], ends[i], next[i])
				}
			})
		}
	}
}

func TestG002GarbageLengthAtTail(t *testing.T) {
	good := slices.Concat(batchOf(t, 0, text(100)), batchOf(t, 1, text(100)))
	for name, length := range map[string]uint32{
		"2^31-1": 0x7fffffff, "-1": 0xffffffff, "0": 0, "one byte past the end": 61 - 12 + 1, "14": 14, "49": 49,
	} {
		t.Run(name, func(t *testing.T) {
			h := batchOf(t, 2, text(10))[:61]
			binary.BigEndian.PutUint32(h[8:], length)
			wantTorn(t, append(slices.Clone(good), h...), len(good), 2)
		})
	}
	t.Run("random", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			junk := make([]byte, 1+r.IntN(300))
			for i := range junk {
				junk[i] = byte(r.Uint32())
			}
			if r.IntN(2) == 0 { // a plausible beginning
				copy(junk, batchOf(t, 2, text(10))[:min(r.IntN(40), len(junk))])
			}
			wantTorn(t, append(slices.Clone(good), junk...), len(good), 2)
		}
	})
	t.Run("zeros", func(t *testing.T) {
		for _, n := range []int{1, 17, 61, 5000, 1 << 20} {
			wantTorn(t, append(slices.Clone(good), make([]byte, n)...), len(good), 2)
		}
	})
}

func TestLaterSegmentMakesATornTailDamage(t *testing.T) {
	good := batchOf(t, 0, text(100))
	log := append(slices.Clone(good), batchOf(t, 1, text(50))[:80]...)
	e := findEnd(t, log, true)
	if e.Torn != 0 || e.Position != int64(len(log)) || len(e.Damage) != 1 || e.Damage[0].Position != int64(len(good)) || e.Damage[0].Size != 80 {
		t.Errorf("got %+v, want damage of 80 bytes at %d", e, len(good))
	}
}

func TestDamageWithGoodBatchesBehind(t *testing.T) {
	a, b := batchOf(t, 0, text(100), text(1)), batchOf(t, 2, text(70), text(70))
	c := slices.Concat(batchOf(t, 4, text(20)), batchOf(t, 5, text(20)))
	log := slices.Concat(a, b, c)
	at := len(a)
	damaged := func(f func(b []byte)) []byte {
		l := slices.Clone(log)
		f(l[at : at+len(b)])
		return l
	}
	t.Run("zero hole", func(t *testing.T) {
		wantDamage(t, damaged(func(b []byte) { clear(b) }), at, len(b), 4, 6)
	})
	t.Run("zero header", func(t *testing.T) {
		wantDamage(t, damaged(func(b []byte) { clear(b[:61]) }), at, len(b), 4, 6)
	})
	t.Run("length past the end", func(t *testing.T) {
		wantDamage(t, damaged(func(b []byte) { binary.BigEndian.PutUint32(b[8:], 1<<30) }), at, len(b), 4, 6)
	})
	t.Run("length to the end", func(t *testing.T) {
		n := len(b) + len(c) - 12
		wantDamage(t, damaged(func(b []byte) { binary.BigEndian.PutUint32(b[8:], uint32(n)) }), at, len(b), 4, 6)
	})
	t.Run("every bit of the batch", func(t *testing.T) {
		for bit := range 8 * len(b) {
			l := damaged(func(b []byte) { b[bit/8] ^= 1 << (bit % 8) })
			e := findEnd(t, l, false)
			if e.Torn != 0 || e.Position != int64(len(l)) {
				t.Errorf("bit %d of byte %d: got end %d of %d, %d bytes torn", bit%8, bit/8, e.Position, len(l), e.Torn)
			}
		}
	})
}

func TestDamageIsNotMistakenForBatchesInValues(t *testing.T) {
	// The values carry batches that continue the log; the payload of their batch is
	// damaged behind them, in front of them, or its length field is.
	inner := slices.Concat(batchOf(t, 3, text(40)), batchOf(t, 4, text(9)), batchOf(t, 900, text(5)))
	a := batchOf(t, 0, text(100))
	b := batchOf(t, 1, text(10), inner, text(10))
	c := batchOf(t, 4, text(20))
	log := slices.Concat(a, b, c)
	at := len(a)
	for name, f := range map[string]func(b []byte){
		"payload behind":  func(b []byte) { b[len(b)-9] ^= 4 },
		"checksum":        func(b []byte) { b[18] ^= 1 },
		"payload before":  func(b []byte) { b[75] ^= 1 },
		"length too long": func(b []byte) { binary.BigEndian.PutUint32(b[8:], 1<<30) },
	} {
		t.Run(name, func(t *testing.T) {
			l := slices.Clone(log)
			f(l[at : at+len(b)])
			wantDamage(t, l, at, len(b), 4, 5)
		})
	}
}

func TestDamageAtTheEnd(t *testing.T) {
	a, b := batchOf(t, 0, text(100), text(3)), batchOf(t, 2, text(70), text(70), text(70))
	log := slices.Concat(a, b)
	at := len(a)
	t.Run("wrong magic", func(t *testing.T) {
		for _, m := range []byte{0, 1, 3, 127, 255} {
			l := slices.Clone(log)
			l[at+16] = m
			wantDamage(t, l, at, len(b), -1, 5)
		}
	})
	t.Run("offset too low", func(t *testing.T) {
		l := slices.Clone(log)
		segments.SetBaseOffset(l[at:], 1)
		wantDamage(t, l, at, len(b), -1, 5)
	})
	t.Run("offset out of range", func(t *testing.T) {
		l := slices.Clone(log)
		segments.SetBaseOffset(l[at:], 1<<56)
		wantDamage(t, l, at, len(b), -1, 5)
	})
	t.Run("torn behind it", func(t *testing.T) {
		l := append(slices.Clone(log), batchOf(t, 5, text(20))[:70]...)
		l[at+16] = 9
		e := findEnd(t, l, false)
		if e.Position != int64(len(log)) || e.Torn != 70 || len(e.Damage) != 1 || e.Next != 5 {
			t.Errorf("got %+v, want damage at %d and 70 bytes torn at %d", e, at, len(log))
		}
	})
	t.Run("bad crc is torn", func(t *testing.T) {
		l := slices.Clone(log)
		l[len(l)-3] ^= 1
		wantTorn(t, l, at, 2)
	})
}

func TestExamineTailGivesUpInTime(t *testing.T) {
	// Headers that each promise a batch up to the end of the file, at every 61 bytes.
	good := batchOf(t, 0, text(10))
	const n = 40_000
	junk := make([]byte, 0, n*61)
	for i := range n {
		h := batchOf(t, 1, text(10))[:61]
		binary.BigEndian.PutUint32(h[8:], uint32((n-i)*61-12))
		junk = append(junk, h...)
	}
	junk[8] = 0x7f // the first is no batch at all
	log := append(good, junk...)
	tail, err := segments.ExamineTail(bytes.NewReader(log), 0, int64(len(good)), int64(len(log)), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if tail.Torn || tail.End != int64(len(log)) {
		t.Errorf("got %+v, want undecided bytes left alone", tail)
	}
}

func TestCorruptVectorsTail(t *testing.T) {
	// For each damaged file: is the rest cut (torn) or kept, and where does the log go on?
	torn := []string{
		"flip-last-batch", "trunc-last-08", "trunc-last-12", "trunc-last-16", "trunc-last-17", "trunc-last-21",
		"trunc-last-61", "trunc-last-62", "trunc-last-80", "trunc-mid-gzip", "trunc-first-30", "garbage-10",
		"garbage-200", "garbage-text", "only-garbage", "zeros-5", "zeros-17", "zeros-4096", "zeros-only", "zeros-inside-last",
	}
	for _, row := range segmentstest.Vectors(t).Corrupt {
		if row.Expect.StopReason == "end" {
			continue
		}
		name := filepath.Base(row.File)
		t.Run(name, func(t *testing.T) {
			e, err := segments.FindEnd(scannerOf(segmentstest.File(t, row.File), row.SegmentBase), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(torn, name[:len(name)-len(".log")]) {
				if e.Position != row.Expect.ValidBytes || e.Next != row.Expect.NextOffset || e.Torn == 0 || len(e.Damage) > 0 {
					t.Errorf("got %+v, want a torn tail at %d", e, row.Expect.ValidBytes)
				}
				return
			}
			if e.Torn != 0 || len(e.Damage) == 0 || e.Damage[0].Position != row.Expect.ValidBytes || e.Damage[0].Reason != row.Expect.StopReason {
				t.Errorf("got %+v, want damage at %d: %s", e, row.Expect.ValidBytes, row.Expect.StopReason)
			}
		})
	}
}
