package engine_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// What Sync has answered for survives a power cut, with a Writer open beside it.
func TestPartitionSyncBesideAWriter(t *testing.T) {
	for seed := range uint64(40) {
		mem := vfs.NewMem()
		r, err := engine.Create("/root", engine.Options{FS: mem})
		if err != nil {
			t.Fatal(err)
		}
		top, err := r.CreateTopic(t.Context(), "t", engine.TopicSpec{Partitions: 1, Config: map[string]string{"segment.bytes": "300"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := top.Partition(0)
		if err != nil {
			t.Fatal(err)
		}
		w := openWriter(t, top)
		synced := int64(0)
		for i := range 12 {
			got, err := w.Append(t.Context(), batch(t, fmt.Sprint("v", i)))
			if err != nil {
				t.Fatal(err)
			}
			if i == 3 || i == 8 { // over a roll each
				if err := p.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				synced = got.Next
			}
		}
		if err := p.Sync(t.Context()); err != nil {
			t.Errorf("synced once more: %v", err)
		}
		log := logOf(t, mem.Crash(seed))
		for off := range synced {
			if log[off] != fmt.Sprint("v", off) {
				t.Fatalf("seed %d: offset %d is %q after the power cut", seed, off, log[off])
			}
		}
	}
}

func TestG016FailedPartitionSyncIsAnError(t *testing.T) {
	failing := false
	fault := vfs.NewFault(vfs.NewMem(), func(c vfs.Call) error {
		if failing && c.Kind == vfs.KindSync {
			return syscall.EIO
		}
		return nil
	})
	r, err := engine.Create("/root", engine.Options{FS: fault})
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.CreateTopic(t.Context(), "t", engine.TopicSpec{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, top)
	fill(t, w, 1)
	failing = true
	if err := p.Sync(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	failing = false
	var sync *engine.SyncError
	if err := p.Sync(t.Context()); !errors.As(err, &sync) {
		t.Errorf("the failed sync was forgotten: %v", err)
	}
}
