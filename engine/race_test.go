package engine_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

func TestDeleteNowWorksOnAFullDisk(t *testing.T) {
	m := freshDisk(t, change{prepare: withLogStart(func(t *testing.T, r *engine.Root) {
		mustCreate(t, r, "orders", engine.TopicSpec{Partitions: 3})
	})})
	full := vfs.NewFault(m, func(c vfs.Call) error {
		if c.Kind == vfs.KindCreate || c.Kind == vfs.KindMkdir || c.Kind == vfs.KindWrite && !strings.HasSuffix(c.Name, "/lock") {
			return syscall.ENOSPC
		}
		return nil
	})
	r := openSweep(t, full)
	if _, err := r.DeleteTopic(t.Context(), "orders", false); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("into the trash: %v", err)
	}
	if names := mustTopics(t, r); len(names) != 2 {
		t.Errorf("topics: %v", names)
	}
	held, err := vfs.TryLock(m, sweepRoot+"/orders-2/.klog/lock")
	if err != nil {
		t.Fatal(err)
	}
	var locked *engine.LockedError
	if _, err := r.DeleteTopic(t.Context(), "orders", true); !errors.As(err, &locked) {
		t.Errorf("while a writer holds a partition: %v", err)
	}
	if got := mustTopic(t, r, "orders").Partitions(); got != 3 {
		t.Errorf("%d partitions", got)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	_, err = r.DeleteTopic(t.Context(), "orders", true)
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // its log start cannot be rewritten here
		t.Fatal(err)
	}
	if got := describeRoot(t, m); strings.Contains(got, "orders") {
		t.Errorf("left:\n%s", got)
	}
	checkTidy(t, m, r)
	p, err := mustCreate(t, openSweep(t, m), "orders", engine.TopicSpec{}).Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	if start, err := p.LogStart(); start != 0 || err != nil {
		t.Errorf("a new topic starts at %d, %v", start, err)
	}
}

func TestRemoveDeletedWithoutRecord(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{Partitions: 2})
	mustCreate(t, r, "u", engine.TopicSpec{})
	for _, name := range []string{"t", "u"} {
		if _, err := r.DeleteTopic(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	records, err := filepath.Glob(filepath.Join(r.Dir(), ".klog/trash/*"))
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	for _, path := range records {
		if err := vfs.OS.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := r.RemoveDeleted(t.Context(), "t")
	if err != nil || len(gone) != 1 || gone[0].Partitions != 2 {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if d := mustDeleted(t, r); len(d) != 1 || d[0].Name != "u" {
		t.Errorf("left: %+v", d)
	}
}

// TestInterruptedDeleteHoldsUpNobodyElse: a delete was killed, and a writer that was
// stopped holds a partition of that topic.
func TestInterruptedDeleteHoldsUpNobodyElse(t *testing.T) {
	var m *vfs.Mem
	prepare := change{prepare: func(t *testing.T, r *engine.Root) { mustCreate(t, r, "stuck", engine.TopicSpec{}) }}
	for f := range vfs.EachKill(func() vfs.FS { m = freshDisk(t, prepare); return m }, func(c vfs.Call) bool {
		return c.Kind == vfs.KindRename && strings.HasSuffix(c.Name, "/stuck-0")
	}) {
		_, err := openSweepUnkilled(t, f).DeleteTopic(t.Context(), "stuck", false)
		if f.Fired() == nil {
			return
		}
		if err == nil {
			t.Fatal("it was not killed")
		}
		if _, err := vfs.TryLock(m, sweepRoot+"/stuck-0/.klog/lock"); err != nil {
			t.Fatal(err)
		}
		r, err := engine.Create(sweepRoot, engine.Options{FS: m, LockTimeout: -1}) // would wait for ever
		if err != nil {
			t.Fatal(err)
		}
		mustCreate(t, r, "other", engine.TopicSpec{})
		if names := mustTopics(t, r); len(names) != 2 {
			t.Errorf("topics: %v", names)
		}
		hasty := openSweep(t, m)
		var locked *engine.LockedError
		if _, err := hasty.CreateTopic(t.Context(), "stuck", engine.TopicSpec{}); !errors.As(err, &locked) {
			t.Errorf("create of the same name: %v", err)
		}
	}
}

// TestG054WritersOfADeletedTopicEnd: whatever was acknowledged is in the trash, nothing
// is acknowledged into a directory that nobody finds.
func TestG054WritersOfADeletedTopicEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		away func(r *engine.Root) error
		back func(r *engine.Root) (*engine.Topic, error)
	}{
		{"delete", func(r *engine.Root) error {
			_, err := r.DeleteTopic(t.Context(), "t", false)
			return err
		}, func(r *engine.Root) (*engine.Topic, error) {
			if _, err := r.CreateTopic(t.Context(), "t", engine.TopicSpec{}); err != nil {
				return nil, err
			}
			if _, err := r.RenameTopic(t.Context(), "t", "new"); err != nil {
				return nil, err
			}
			return r.UndeleteTopic(t.Context(), "t")
		}},
		{"rename", func(r *engine.Root) error {
			_, err := r.RenameTopic(t.Context(), "t", "u")
			return err
		}, func(r *engine.Root) (*engine.Topic, error) { return r.Topic("u") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoot(t)
			mustCreate(t, r, "t", engine.TopicSpec{})
			acked, done := make(chan int64, 1<<16), make(chan error, 1)
			go func() { done <- appendUntilError(t, reopen(t, r), "t", acked) }()
			<-acked
			if err := c.away(r); err != nil {
				t.Fatal(err)
			}
			if err := <-done; !errors.Is(err, engine.ErrTopicGone) {
				t.Errorf("the writer ended with %v", err)
			}
			close(acked)
			last := int64(0)
			for offset := range acked {
				last = offset
			}
			topic, err := c.back(r)
			if err != nil {
				t.Fatal(err)
			}
			p, err := topic.Partition(0)
			if err != nil {
				t.Fatal(err)
			}
			st, err := p.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if st.End != last+1 {
				t.Errorf("the log ends at %d, the last acknowledged offset is %d", st.End, last)
			}
		})
	}
}

// appendUntilError appends one record after the other and sends their offsets.
func appendUntilError(t *testing.T, r *engine.Root, name string, acked chan<- int64) error {
	topic, err := r.Topic(name)
	if err != nil {
		return err
	}
	p, err := topic.Partition(0)
	if err != nil {
		return err
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	var b segments.Builder
	for {
		b.Start(nil, segments.BatchOptions{})
		b.AppendValue(1, []byte("x"))
		batch, err := b.Finish()
		if err != nil {
			return err
		}
		a, err := w.Append(t.Context(), batch)
		if err != nil {
			return err
		}
		acked <- a.First
	}
}
