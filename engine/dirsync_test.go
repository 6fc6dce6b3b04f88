package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// TestG018UnsupportedDirectorySyncIsToldOnce does everything that makes names on a file
// system whose directories cannot be synced.
func TestG018UnsupportedDirectorySyncIsToldOnce(t *testing.T) {
	var told []string
	o := engine.Options{
		FS:     failing(vfs.KindSyncDir, syscall.EINVAL),
		Notice: func(line string) { told = append(told, line) },
	}
	r, err := engine.Create(filepath.Join(t.TempDir(), "root"), o)
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 2, Config: map[string]string{"segment.bytes": "200"}})
	if err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, top)
	for i := range 10 {
		if _, err := w.Append(t.Context(), batch(t, fmt.Sprintf("record %d that fills its segment", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "cannot sync directories") {
		t.Errorf("told %q", told)
	}
}

func TestFailedDirectorySyncIsAnError(t *testing.T) {
	o := engine.Options{FS: failing(vfs.KindSyncDir, syscall.EIO)}
	if _, err := engine.Create(filepath.Join(t.TempDir(), "root"), o); err == nil {
		t.Error("EIO was taken for success")
	}
}
