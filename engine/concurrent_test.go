package engine_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/klog-project/klog/engine"
)

// Many writers at once: dense offsets, each acknowledged record there once, at its
// offset, the order of each writer kept, through rolls and shared syncs.
func TestG023ManyWritersAtOnce(t *testing.T) {
	const writers, each = 8, 300
	top := newTopic(t, "orders", map[string]string{"segment.bytes": "20000"})
	var mu sync.Mutex
	acked := map[int64]string{}
	var wg sync.WaitGroup
	for id := range writers {
		wg.Go(func() {
			p, err := top.Partition(0)
			if err != nil {
				t.Error(err)
				return
			}
			w, err := p.OpenWriter(engine.WriterOptions{LockTimeout: -1})
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			for i := range each {
				v := fmt.Sprintf("%d-%d", id, i)
				got, err := w.Append(t.Context(), encode(v))
				if err == nil && i%10 == 0 {
					err = w.Sync(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[got.First] = v
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(acked) != writers*each {
		t.Fatalf("%d offsets were given out for %d records", len(acked), writers*each)
	}
	log := map[int64]string{}
	readPartition(t, top, log)
	last := make([]int, writers)
	for off := range int64(writers * each) {
		if log[off] != acked[off] {
			t.Fatalf("offset %d: the log has %q, acknowledged was %q", off, log[off], acked[off])
		}
		var id, i int
		fmt.Sscanf(log[off], "%d-%d", &id, &i)
		if i != last[id] {
			t.Fatalf("offset %d: record %d of writer %d, want its record %d", off, i, id, last[id])
		}
		last[id]++
	}
}
