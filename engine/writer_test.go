package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// newTopic makes a root with a topic of one partition.
func newTopic(t testing.TB, name string, config map[string]string) *engine.Topic {
	t.Helper()
	return topicIn(t, filepath.Join(t.TempDir(), "root"), name, config)
}

func topicIn(t testing.TB, dir, name string, config map[string]string) *engine.Topic {
	t.Helper()
	r, err := engine.Create(dir, engine.Options{Notice: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.CreateTopic(context.Background(), name, engine.TopicSpec{Partitions: 1, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func openWriter(t testing.TB, top *engine.Topic) *engine.Writer {
	t.Helper()
	p, err := top.Partition(0)
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

// batch encodes one batch of the values.
func batch(t testing.TB, values ...string) []byte {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	for _, v := range values {
		b.AppendValue(1_700_000_000_000, []byte(v))
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAppendGivesDenseOffsets(t *testing.T) {
	top := newTopic(t, "orders", nil)
	w := openWriter(t, top)
	next := int64(0)
	for i := range 10 {
		got, err := w.Append(t.Context(), append(batch(t, "a", "b"), batch(t, fmt.Sprint(i))...))
		if err != nil {
			t.Fatal(err)
		}
		if got.First != next || got.Next != next+3 || got.Batches != 2 {
			t.Fatalf("append %d: got %+v, want offsets %d to %d in 2 batches", i, got, next, next+3)
		}
		next = got.Next
	}
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAppendOne(b *testing.B) {
	top := topicIn(b, b.TempDir()+"/r", "orders", nil)
	w := openWriter(b, top)
	raw := batch(b, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789")
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Append(b.Context(), raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.Write(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// sequenced encodes a batch of a producer with an id.
func sequenced(t testing.TB, id int64, epoch int16, seq int32, values ...string) []byte {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{HasProducer: true, ProducerID: id, ProducerEpoch: epoch, BaseSequence: seq})
	for _, v := range values {
		b.AppendValue(1_700_000_000_000, []byte(v))
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestRepeatedBatchesAreRecognised(t *testing.T) {
	const id = 1 << 41
	top := newTopic(t, "orders", map[string]string{"segment.bytes": "400"})
	w := openWriter(t, top)
	for i := range int32(12) {
		if _, err := w.Append(t.Context(), sequenced(t, id, 0, 2*i, "a", "b")); err != nil {
			t.Fatal(err)
		}
		fill(t, w, 1)
	}
	// Another process, with the table as it was left, without it, and with a broken one.
	for _, spoil := range []func(string) error{
		func(string) error { return nil },
		os.Remove,
		func(name string) error { return os.Truncate(name, 40) },
	} {
		p, _ := top.Partition(0)
		if err := spoil(filepath.Join(p.Dir(), ".klog/producers")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		other := openWriter(t, top)
		got, err := other.Append(t.Context(), append(sequenced(t, id, 0, 20, "a", "b"), sequenced(t, id, 0, 22, "a", "b")...))
		if err != nil {
			t.Fatal(err)
		}
		if want := (engine.Appended{First: 30, Next: 35, Duplicate: true, Batches: 2}); got != want {
			t.Errorf("the last two batches again: got %+v, want %+v", got, want)
		}
		if _, err := other.Append(t.Context(), sequenced(t, id, 0, 25, "a")); !errors.Is(err, segments.ErrOutOfOrderSequence) {
			t.Errorf("a batch that leaves one out: got error %v, want ErrOutOfOrderSequence", err)
		}
		seq, off, ok, err := other.LastSequence(t.Context(), id)
		if seq != 23 || off != 34 || !ok || err != nil {
			t.Errorf("last sequence: got %d at %d, %v, %v; want 23 at 34", seq, off, ok, err)
		}
		other.Close()
	}
}
