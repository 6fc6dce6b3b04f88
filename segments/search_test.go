package segments_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/klog-project/klog/segments"
)

// randomPartition writes a log with holes, several segments and timestamps in any
// order.
func randomPartition(t *testing.T, rt *rapid.T) *partition {
	p := newPartition(t, rapid.Int64Range(100, 100_000).Draw(rt, "segment.bytes"))
	p.interval = rapid.SampledFrom([]int{0, 200, 4096}).Draw(rt, "interval")
	p.keepList = rapid.Bool().Draw(rt, "list")
	pad := string(make([]byte, rapid.SampledFrom([]int{0, 10, 3000}).Draw(rt, "pad")))
	lots := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 40), 1, 9), 1, 60).Draw(rt, "timestamps")
	for i, lot := range lots {
		recs := make([]rec, len(lot))
		for j, ts := range lot {
			recs[j] = rec{ts: 1000 + ts, value: fmt.Sprint(i, j, pad)}
		}
		codec := rapid.SampledFrom([]segments.Codec{segments.None, segments.None, segments.Snappy}).Draw(rt, "codec")
		p.batch(segments.BatchOptions{Codec: codec}, recs...)
		if rapid.IntRange(0, 5).Draw(rt, "hole") == 0 {
			p.hole(rapid.Int64Range(1, 9).Draw(rt, "size of hole"))
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "no indexes") == 0 {
		for _, base := range p.bases() {
			os.Remove(p.path(base, segments.IndexSuffix))
			os.Remove(p.path(base, segments.TimeIndexSuffix))
		}
	}
	return p
}

func TestG098OffsetForTimeAgainstAScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := randomPartition(t, rt)
		l := p.open()
		recs, _ := readFrom(t, l, 0)
		from := rapid.Int64Range(0, p.next).Draw(rt, "from")
		ts := 1000 + rapid.Int64Range(-2, 43).Draw(rt, "time")
		want, wantFound := int64(0), false
		for _, r := range recs {
			if r.offset >= from && r.ts >= ts {
				want, wantFound = r.offset, true
				break
			}
		}
		offset, found, err := l.OffsetForTime(ts, from)
		if err != nil || found != wantFound || found && offset != want {
			rt.Errorf("time %d from %d: got %d, %v, %v; want %d, %v", ts, from, offset, found, err, want, wantFound)
		}
	})
}

func TestLastNAgainstAScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := randomPartition(t, rt)
		l := p.open()
		o := segments.LastOptions{
			From:  rapid.Int64Range(0, p.next).Draw(rt, "from"),
			Until: rapid.Int64Range(0, p.next+1).Draw(rt, "until"),
		}
		if rapid.Bool().Draw(rt, "filter") {
			o.Keep = func(r *segments.Record) bool { return r.Timestamp%2 == 0 }
		}
		all, _ := readFrom(t, l, 0)
		var kept []got
		for _, r := range all {
			if r.offset >= o.From && r.offset < o.Until && (o.Keep == nil || r.ts%2 == 0) {
				kept = append(kept, r)
			}
		}
		n := rapid.Int64Range(1, int64(len(all))+2).Draw(rt, "n")
		offset, count, err := l.LastN(n, o)
		want := min(n, int64(len(kept)))
		if err != nil || count != want {
			rt.Fatalf("last %d: count %d, %v; want %d", n, count, err, want)
		}
		left := 0
		for _, r := range kept {
			if r.offset >= offset {
				left++
			}
		}
		if int64(left) != want || int64(len(kept)) >= n && kept[len(kept)-int(n)].offset != offset {
			rt.Errorf("last %d of %d begin at %d: %d records lie there", n, len(kept), offset, left)
		}
	})
}

func TestG009MissingTimeIndexes(t *testing.T) {
	build := func() *partition {
		p := newPartition(t, 80_000)
		for i := int64(0); len(p.listed) < 7; i++ {
			p.batch(segments.BatchOptions{}, rec{1_000_000 + i*10 - i%7*35, string(make([]byte, 300))}, rec{1_000_000 + i*10, "x"})
		}
		return p
	}
	p := build()
	q := build()
	for i, base := range q.bases() {
		if i%2 == 0 {
			os.Remove(q.path(base, segments.TimeIndexSuffix))
		}
		if i%3 == 0 {
			os.Remove(q.path(base, segments.IndexSuffix))
		}
		if i == 3 {
			os.WriteFile(q.path(base, segments.TimeIndexSuffix), nil, 0o644)
		}
	}
	whole, holed := p.open(), q.open()
	for i := range int64(60) {
		ts := 1_000_000 + i*200
		a, foundA, errA := whole.OffsetForTime(ts, 0)
		b, foundB, errB := holed.OffsetForTime(ts, 0)
		if a != b || foundA != foundB || errA != nil || errB != nil {
			t.Errorf("time %d: %d, %v, %v with and %d, %v, %v without", ts, a, foundA, errA, b, foundB, errB)
		}
	}
}

// A time index that ends before its segment does says nothing about the rest.
func TestShortTimeIndexIsNotTheLastWord(t *testing.T) {
	p := newPartition(t, 100_000)
	for i := int64(0); len(p.listed) < 3; i++ {
		p.batch(segments.BatchOptions{}, rec{1000 + i, string(make([]byte, 500))})
	}
	last := p.bases()[1] - 1
	path := p.path(0, segments.TimeIndexSuffix)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2/12*12); err != nil {
		t.Fatal(err)
	}
	offset, found, err := p.open().OffsetForTime(1000+last, 0)
	if offset != last || !found || err != nil {
		t.Errorf("got %d, %v, %v; want %d", offset, found, err, last)
	}
}

func TestLastNOfASparseLog(t *testing.T) {
	p := newPartition(t, 1<<20)
	for range 30 {
		p.plain(1)
		p.hole(40)
	}
	l := p.open()
	offset, n, err := l.LastN(20, segments.LastOptions{Until: math.MaxInt64})
	if offset != 10*41 || n != 20 || err != nil {
		t.Errorf("got %d, %d, %v; want %d, 20", offset, n, err, 10*41)
	}
}

func TestAbortedTransactionsAreHidden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "txns-0")
	copyGolden(t, "dirs/txns-0", dir)
	for _, name := range []string{"with snapshots", "without"} {
		if name == "without" {
			old, _ := filepath.Glob(filepath.Join(dir, "*.snapshot"))
			for _, f := range old {
				os.Remove(f)
			}
		}
		l := openLog(t, dir)
		end, err := l.End()
		if err != nil || end != 16 {
			t.Fatalf("%s: end %d, %v; want 16", name, end, err)
		}
		s, err := l.StableEnd(end)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stable, err := s.At(end)
		if stable != 14 || err != nil {
			t.Errorf("%s: last stable offset %d, %v; want 14", name, stable, err)
		}
		var seen []int64
		f := l.AbortFilter()
		defer f.Close()
		for b, err := range batchesOf(l, 0) {
			if err != nil {
				t.Fatal(err)
			}
			hidden, err := f.Hides(b)
			if err != nil {
				t.Fatal(err)
			}
			if !hidden && b.BaseOffset < stable {
				seen = append(seen, span(b.BaseOffset, b.LastOffset()+1)...)
			}
		}
		if fmt.Sprint(seen) != "[0 1 5 6 9]" {
			t.Errorf("%s: committed records %v, want [0 1 5 6 9]", name, seen)
		}
		for n, want := range map[int64]int64{1: 9, 2: 6, 4: 1, 5: 0, 9: 0} {
			offset, count, err := l.LastN(n, segments.LastOptions{Until: stable, Committed: true})
			if offset != want || count != min(n, 5) || err != nil {
				t.Errorf("%s: last %d begin at %d, %d, %v; want %d", name, n, offset, count, err, want)
			}
		}
	}
}
