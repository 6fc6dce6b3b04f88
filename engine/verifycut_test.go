package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func TestVerifyFindsASealedSegmentThatWasCut(t *testing.T) {
	for policy, want := range map[string]int{"delete": 1, "compact": 0} {
		top := newTopic(t, "t", map[string]string{"segment.bytes": "1000", "index.interval.bytes": "0", "cleanup.policy": policy})
		w := openWriter(t, top)
		var size int64
		for i := range 30 {
			raw := batch(t, strings.Repeat("x", 100))
			if i == 0 {
				size = int64(len(raw))
			}
			if _, err := w.Append(t.Context(), raw); err != nil {
				t.Fatal(err)
			}
		}
		p, err := top.Partition(0)
		if err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(p.Dir(), segments.SegmentName(0)+".log")
		if err := os.Truncate(first, 2*size); err != nil {
			t.Fatal(err)
		}
		found := 0
		if _, err := p.Verify(t.Context(), engine.VerifyOptions{}, func(f engine.VerifyFinding) error {
			if f.File == first {
				found++
				if f.FirstOffset != 2 || f.LastOffset < 2 || f.Position != 2*size {
					t.Errorf("found %+v, want records from offset 2 on", f)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if found != want {
			t.Errorf("%s: %d findings about the log, want %d", policy, found, want)
		}
	}
}
