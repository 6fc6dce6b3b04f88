package engine_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// put appends one batch of records with these timestamps, in ms, and their timestamp
// as value.
func put(t testing.TB, w *engine.Writer, times ...int64) {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	for _, ts := range times {
		b.Append(ts, nil, fmt.Append(nil, ts), nil)
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
}

// partitionsOf makes a topic whose partitions hold one batch for each list.
func partitionsOf(t testing.TB, config map[string]string, lots ...[][]int64) *engine.Topic {
	t.Helper()
	r, err := engine.Create(t.TempDir()+"/root", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: len(lots), Config: config})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lots {
		w := writerTo(t, top, int32(i))
		for _, times := range lots[i] {
			put(t, w, times...)
		}
	}
	return top
}

func writerTo(t testing.TB, top *engine.Topic, n int32) *engine.Writer {
	t.Helper()
	p, err := top.Partition(n)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func viewsOf(t testing.TB, top *engine.Topic) []*engine.View {
	t.Helper()
	var views []*engine.View
	for _, n := range top.Numbers() {
		p, err := top.Partition(n)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(engine.ViewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
	}
	return views
}

// mergedTimes are the timestamps of a selection in the order of a merge.
func mergedTimes(t testing.TB, sel *engine.Selection) []int64 {
	t.Helper()
	var readers []*engine.Reader
	for _, r := range sel.Ranges {
		rd, err := r.View.Reader(engine.ReaderOptions{From: r.From, Until: r.Until})
		if err != nil {
			t.Fatal(err)
		}
		defer rd.Close()
		readers = append(readers, rd)
	}
	m := engine.NewMerge(readers)
	var times []int64
	for surplus := sel.Surplus; ; surplus-- {
		_, rec, err := m.Next()
		if err == io.EOF {
			return times
		}
		if err != nil {
			t.Fatal(err)
		}
		if surplus <= 0 {
			times = append(times, rec.Timestamp)
		}
	}
}

func TestG056G057Positions(t *testing.T) {
	var lots [][]int64
	for i := int64(0); i < 150; i += 40 {
		var lot []int64
		for j := i; j < min(i+40, 150); j++ {
			lot = append(lot, j*10)
		}
		lots = append(lots, lot)
	}
	v := viewsOf(t, partitionsOf(t, map[string]string{"segment.bytes": "600"}, lots))[0]
	if v.Start() != 0 || v.End() != 150 {
		t.Fatalf("bounds %d to %d, want 0 to 150", v.Start(), v.End())
	}
	for _, c := range []struct {
		pos  engine.Position
		want int64 // -1: out of range
	}{
		{engine.Position{Anchor: engine.AtEarliest}, 0},
		{engine.Position{Anchor: engine.AtLatest}, 150},
		{engine.Position{Anchor: engine.AtOffset, N: 41}, 41},
		{engine.Position{Anchor: engine.AtOffset, N: 150}, 150},
		{engine.Position{Anchor: engine.AtOffset, N: 151}, -1},
		{engine.Position{Anchor: engine.AtOffset, N: math.MaxInt64}, -1},
		{engine.Position{Anchor: engine.AtForward, N: 3}, 3},
		{engine.Position{Anchor: engine.AtForward, N: math.MaxInt64}, -1},
		{engine.Position{Anchor: engine.AtLast, N: 5}, 145},
		{engine.Position{Anchor: engine.AtLast, N: 0}, 150},
		{engine.Position{Anchor: engine.AtLast, N: 1000}, 0},
		{engine.Position{Anchor: engine.AtTime, N: -5}, 0},
		{engine.Position{Anchor: engine.AtTime, N: 1000}, 100},
		{engine.Position{Anchor: engine.AtTime, N: 991}, 100},
		{engine.Position{Anchor: engine.AtTime, N: 1491}, 150},
	} {
		got, err := v.Resolve(c.pos)
		var out *engine.RangeError
		if c.want < 0 {
			if !errors.As(err, &out) || !errors.Is(err, engine.ErrOffsetOutOfRange) || out.Start != 0 || out.End != 150 {
				t.Errorf("%+v: %d, %v; want out of range", c.pos, got, err)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%+v: %d, %v; want %d", c.pos, got, err, c.want)
		}
	}
	if end, err := v.Until(engine.Position{Anchor: engine.AtOffset, N: 999}); end != 150 || err != nil {
		t.Errorf("an end beyond the end: %d, %v; want 150", end, err)
	}
}

func TestG058SelectOverPartitions(t *testing.T) {
	var first []int64
	for i := range int64(100) {
		first = append(first, 3*i)
	}
	top := partitionsOf(t, nil, [][]int64{first}, [][]int64{{1, 4, 7}}, nil)
	all := append([]int64{1, 4, 7}, first...)
	slices.Sort(all)
	latest := engine.Position{Anchor: engine.AtLatest}
	for _, c := range []struct {
		from engine.Position
		want []int64
	}{
		{engine.Position{Anchor: engine.AtEarliest}, all},
		{engine.Position{Anchor: engine.AtLast, N: 10}, all[len(all)-10:]},
		{engine.Position{Anchor: engine.AtLast, N: 1000}, all},
		{engine.Position{Anchor: engine.AtLast, N: 0}, nil},
		{engine.Position{Anchor: engine.AtOffset, N: 2}, append([]int64{6, 7}, first[3:]...)},
		{engine.Position{Anchor: engine.AtOffset, N: 98}, first[98:]},
		{engine.Position{Anchor: engine.AtTime, N: 5}, append([]int64{6, 7}, first[3:]...)},
	} {
		sel, err := engine.Select(viewsOf(t, top), c.from, latest, nil)
		if err != nil {
			t.Errorf("%+v: %v", c.from, err)
			continue
		}
		if diff := cmp.Diff(c.want, mergedTimes(t, sel)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.from, diff)
		}
	}
	if _, err := engine.Select(viewsOf(t, top), engine.Position{Anchor: engine.AtOffset, N: 101}, latest, nil); !errors.Is(err, engine.ErrOffsetOutOfRange) {
		t.Errorf("an offset that no partition holds: %v", err)
	}
	odd := func(r *segments.Record) bool { return r.Timestamp%2 == 1 }
	sel, err := engine.Select(viewsOf(t, top), engine.Position{Anchor: engine.AtLast, N: 4}, latest, odd)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, r := range sel.Ranges {
		kept += countKept(t, r, odd)
	}
	if int64(kept)-sel.Surplus != 4 {
		t.Errorf("%d records are kept, %d of them surplus: want 4 left", kept, sel.Surplus)
	}
}

func countKept(t testing.TB, r engine.Range, keep func(*segments.Record) bool) (n int) {
	t.Helper()
	rd, err := r.View.Reader(engine.ReaderOptions{From: r.From, Until: r.Until})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if keep(rec) {
			n++
		}
	}
}

// Of equal timestamps the lower partition comes first, and within a partition the order
// of offsets holds whatever the timestamps are.
func TestMergeOrder(t *testing.T) {
	top := partitionsOf(t, nil,
		[][]int64{{5, 3}, {9}},
		[][]int64{{5}, {4, 4}},
		[][]int64{{1, 20}},
	)
	sel, err := engine.Select(viewsOf(t, top), engine.Position{}, engine.Position{Anchor: engine.AtLatest}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 5, 3, 5, 4, 4, 9, 20}, mergedTimes(t, sel)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReaderIsBounded(t *testing.T) {
	top := partitionsOf(t, nil, [][]int64{{0, 1, 2}, {3, 4, 5}})
	v := viewsOf(t, top)[0]
	put(t, writerTo(t, top, 0), 6, 7)
	for _, c := range []struct{ from, until, want int64 }{{0, v.End(), 6}, {1, 5, 4}, {4, 4, 0}, {5, 6, 1}} {
		r, err := v.Reader(engine.ReaderOptions{From: c.from, Until: c.until})
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || rec.Offset != c.from+n {
				t.Fatalf("%+v: offset %d, %v", c, rec.Offset, err)
			}
			n++
		}
		if n != c.want {
			t.Errorf("%d to %d: %d records, want %d", c.from, c.until, n, c.want)
		}
		r.Close()
	}
}
