package engine_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// appendAs appends one record as another process would, and returns its offset.
func appendAs(t *testing.T, dir, topic, value string) int64 {
	t.Helper()
	r, err := engine.Create(dir, engine.Options{Notice: func(s string) { t.Error("notice:", s) }})
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.Topic(topic)
	if err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, top)
	got, err := w.Append(t.Context(), batch(t, value))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return got.First
}

func lose(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.RemoveAll(p); err != nil {
			t.Fatal(err)
		}
	}
}

func lastEpoch(t *testing.T, partition string) segments.EpochEntry {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(partition, segments.EpochsName))
	if err != nil {
		t.Fatal(err)
	}
	es, err := segments.ParseEpochs(b)
	if err != nil || len(es) == 0 {
		t.Fatalf("%q: %v", b, err)
	}
	return es[len(es)-1]
}

func TestLostStateDirectoriesLoseNoOffset(t *testing.T) {
	top := newTopic(t, "d", nil)
	dir := top.Root().Dir()
	partition := filepath.Join(dir, "d-0")
	for i, lost := range [][]string{
		nil,
		{partition + "/.klog"},
		{partition + "/.klog", dir + "/.klog", dir + "/meta.properties"},
		{dir + "/.klog"},
		{partition + "/.klog"},
	} {
		lose(t, lost...)
		if got := appendAs(t, dir, "d", "x"); got != int64(i) {
			t.Fatalf("%q lost: the record got offset %d, want %d", lost, got, i)
		}
		if len(lost) > 0 && lost[0] == partition+"/.klog" {
			if e := lastEpoch(t, partition); e.Start != int64(i) {
				t.Errorf("%q lost: the last leader epoch is %+v, want one from offset %d on", lost, e, i)
			}
		}
	}
	fi, err := os.Stat(partition)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(partition + "/.klog"); err != nil || got.Mode() != fi.Mode() {
		t.Errorf("the new state directory: %v, %v; want the mode of the partition's, %v", got.Mode(), err, fi.Mode())
	}
}

func TestStateDirectoryLostUnderWriters(t *testing.T) {
	top := newTopic(t, "d", nil)
	const writers, rounds, each = 4, 5, 3
	ws := make([]*engine.Writer, writers)
	for i := range ws {
		ws[i] = openWriter(t, mustTopic(t, reopen(t, top.Root()), "d"))
		if _, err := ws[i].Append(t.Context(), batch(t, "x")); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[int64]bool{0: true, 1: true, 2: true, 3: true}
	for range rounds {
		lose(t, filepath.Join(top.Root().Dir(), "d-0", ".klog"))
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, w := range ws {
			wg.Go(func() {
				for range each {
					got, err := w.Append(t.Context(), batch(t, "x"))
					if err == nil {
						err = w.Sync(t.Context())
					}
					mu.Lock()
					if err != nil || seen[got.First] {
						t.Errorf("got offset %d, again or with the error %v", got.First, err)
					}
					seen[got.First] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	for off := range int64(writers + rounds*writers*each) {
		if !seen[off] {
			t.Errorf("nobody got offset %d", off)
		}
	}
}
