package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

func topicOn(t *testing.T, fsys vfs.FS) (*engine.Topic, *engine.Partition) {
	t.Helper()
	r, err := engine.Create("/root", engine.Options{FS: fsys})
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
	return top, p
}

// A Sync that comes while another one of the same Writer is at work waits for the disk
// too: what it answers for is no less true.
func TestSyncBesideASync(t *testing.T) {
	var armed atomic.Bool
	var syncs atomic.Int32
	begun, release := make(chan struct{}), make(chan struct{})
	fault := vfs.NewFault(vfs.NewMem(), func(c vfs.Call) error {
		if armed.Load() && c.Kind == vfs.KindSync && strings.HasSuffix(c.Name, ".log") && syncs.Add(1) == 1 {
			close(begun)
			<-release
			return syscall.EIO
		}
		return nil
	})
	top, _ := topicOn(t, fault)
	w := openWriter(t, top)
	fill(t, w, 1)
	armed.Store(true)
	first := make(chan error, 1)
	go func() { first <- w.Sync(t.Context()) }()
	<-begun
	second := make(chan error, 1)
	go func() { second <- w.Sync(t.Context()) }()
	select {
	case err := <-second:
		if n := syncs.Load(); err == nil && n < 2 {
			t.Error("answered while the only sync was under way")
		}
	case <-time.After(10 * time.Second):
	}
	close(release)
	if err := <-first; !errors.Is(err, syscall.EIO) {
		t.Errorf("the first: %v", err)
	}
}

// A writer that is killed between a failed sync and the mark in the hint leaves the
// failure in the block: the next one reads the log from the disk before it goes on, and
// no later sync covers up what may be missing.
func TestG016FailedSyncThatWasNotMarked(t *testing.T) {
	var failing atomic.Bool // an abandoned wait for the lock may still ask
	mem := vfs.NewMem()
	fault := vfs.NewFault(mem, func(c vfs.Call) error {
		if failing.Load() && c.Kind == vfs.KindSync && strings.HasSuffix(c.Name, ".log") {
			return syscall.EIO
		}
		return nil
	})
	top, p := topicOn(t, fault)
	w, err := p.OpenWriter(engine.WriterOptions{LockTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fill(t, w, 2)
	other := openWriter(t, top)
	fill(t, other, 1)
	lock, err := mem.OpenLock(p.Dir() + "/.klog/lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	failing.Store(true)
	if err := w.Sync(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	failing.Store(false)
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	fill(t, other, 1)
	b, err := vfs.ReadFile(mem, p.Dir()+"/leader-epoch-checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	if es, err := segments.ParseEpochs(b); err != nil || es[len(es)-1].Epoch != 1 {
		t.Errorf("epochs %v, %v: the log was not read again", es, err)
	}
	if err := other.Sync(t.Context()); err != nil {
		t.Errorf("sync of what came later: %v", err)
	}
}

// A batch that a power failure took out of the log is no repetition when it is sent
// again, though the table of producers or a snapshot that speaks of it reached the disk.
func TestLostBatchIsAppendedAgain(t *testing.T) {
	const id = 1 << 41
	for name, spoil := range map[string]func(p *engine.Partition) error{
		"table":    func(*engine.Partition) error { return nil },
		"snapshot": func(p *engine.Partition) error { return os.Remove(filepath.Join(p.Dir(), ".klog/producers")) },
	} {
		t.Run(name, func(t *testing.T) {
			top := newTopic(t, "orders", map[string]string{"segment.bytes": "150"})
			p, _ := top.Partition(0)
			w := openWriter(t, top)
			engine.SetBoot(w, 1)
			if _, err := w.Append(t.Context(), sequenced(t, id, 0, 0, "kept")); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			lost := sequenced(t, id, 0, 1, "lost")
			if _, err := w.Append(t.Context(), lost); err != nil {
				t.Fatal(err)
			}
			fill(t, w, 1) // into the next segment
			w.Close()
			if snaps, _ := filepath.Glob(filepath.Join(p.Dir(), "*.snapshot")); len(snaps) != 1 {
				t.Fatalf("snapshots %v: the test is no good", snaps)
			}
			if err := spoil(p); err != nil {
				t.Fatal(err)
			}
			log := filepath.Join(p.Dir(), segments.SegmentName(0)+".log")
			if err := os.Truncate(log, int64(len(lost))); err != nil {
				t.Fatal(err)
			}
			later := openWriter(t, top)
			engine.SetBoot(later, 2)
			fill(t, later, 2)
			got, err := later.Append(t.Context(), sequenced(t, id, 0, 1, "lost"))
			if err != nil || got.Duplicate {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// What a writer of a deleted topic syncs in the end says nothing about the topic that
// has its name by now.
func TestSyncOfADeletedTopicLeavesItsSuccessorAlone(t *testing.T) {
	top := newTopic(t, "orders", map[string]string{"segment.bytes": "150"})
	w := openWriter(t, top)
	fill(t, w, 5)
	r := top.Root()
	if _, err := r.DeleteTopic(t.Context(), "orders", false); err != nil {
		t.Fatal(err)
	}
	again, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Sync(t.Context())
	if got, err := openWriter(t, again).Append(t.Context(), batch(t, "first")); err != nil || got.First != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
