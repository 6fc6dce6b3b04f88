package segments_test

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/klog-project/klog/segments"
)

// Committed records against a model: a transaction counts once its marker is there,
// and nothing behind the first open one is seen.
func TestCommittedAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPartition(t, rapid.Int64Range(100, 5000).Draw(rt, "segment.bytes"))
		open := map[int64][]int64{} // offsets of each open transaction, by producer
		var visible []int64
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(rt, "steps")
		for _, step := range steps {
			producer := int64(rapid.IntRange(1, 3).Draw(rt, "producer"))
			switch {
			case step < 3:
				visible = append(visible, p.batch(segments.BatchOptions{}, rec{1, "plain"}))
			case step < 7:
				o := segments.BatchOptions{HasProducer: true, ProducerID: producer, Transactional: true}
				open[producer] = append(open[producer], p.batch(o, rec{1, "in a transaction"}))
			default:
				how := segments.CommitMarker
				if step == 9 {
					how = segments.AbortMarker
				}
				if how == segments.CommitMarker {
					visible = append(visible, open[producer]...)
				}
				delete(open, producer)
				p.raw(segments.AppendMarker(nil, segments.Marker{Type: how, ProducerID: producer, Timestamp: 1}))
			}
		}
		stable := p.next
		for _, offsets := range open {
			stable = min(stable, offsets[0])
		}
		visible = slices.DeleteFunc(visible, func(o int64) bool { return o >= stable })
		slices.Sort(visible)

		l := p.open()
		s, err := l.StableEnd(p.next)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		if got, err := s.At(p.next); got != stable || err != nil {
			rt.Fatalf("last stable offset %d, %v; want %d", got, err, stable)
		}
		from := rapid.Int64Range(0, p.next).Draw(rt, "from")
		seen := committedFrom(rt, l, from, stable)
		want := slices.DeleteFunc(slices.Clone(visible), func(o int64) bool { return o < from })
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(seen)); diff != "" {
			rt.Errorf("from %d (-want +got):\n%s", from, diff)
		}
		n := rapid.Int64Range(1, 10).Draw(rt, "n")
		offset, count, err := l.LastN(n, segments.LastOptions{Until: stable, Committed: true})
		if wantN := min(n, int64(len(visible))); count != wantN || err != nil || count == n && offset != visible[len(visible)-int(n)] {
			rt.Errorf("last %d of %v: %d, %d, %v", n, visible, offset, count, err)
		}
	})
}

func committedFrom(rt *rapid.T, l *segments.Log, from, stable int64) (seen []int64) {
	f := l.AbortFilter()
	defer f.Close()
	r := l.Reader(from)
	defer r.Close()
	for {
		b, err := r.Next()
		if err == io.EOF || err == nil && b.BaseOffset >= stable {
			return seen
		}
		if err != nil {
			rt.Fatal(err)
		}
		hidden, err := f.Hides(b)
		if err != nil {
			rt.Fatal(err)
		}
		if !hidden && b.BaseOffset >= from {
			seen = append(seen, b.BaseOffset)
		}
	}
}
