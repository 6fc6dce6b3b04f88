package engine_test

import (
	"context"
	"fmt"
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
