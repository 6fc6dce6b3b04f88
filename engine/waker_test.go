package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
)

// More events than the kernel keeps: what was lost is made up for by looking
// everywhere.
func TestG080OverflowOfEventsIsNoLoss(t *testing.T) {
	limit := 16384
	if b, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		fmt.Sscan(string(b), &limit)
	} else {
		t.Skip("no inotify here")
	}
	if limit > 100_000 {
		t.Skipf("the kernel keeps %d events", limit)
	}
	w := engine.NewWaker(func(s string) { t.Errorf("notice: %s", s) })
	defer w.Close()
	dir := t.TempDir()
	w.Watch(dir)
	name := filepath.Join(dir, "x")
	for range limit/2 + 1000 { // two events each, of which no two in a row are equal
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, all, err := w.Wait(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if all {
			return
		}
	}
}
