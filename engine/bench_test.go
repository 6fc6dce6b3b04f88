package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// oneRecord is a batch of one record of 100 bytes.
func oneRecord(b *testing.B) []byte {
	var builder segments.Builder
	builder.Start(nil, segments.BatchOptions{})
	builder.AppendValue(1_700_000_000_000, []byte(strings.Repeat("x", 100)))
	raw, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

// BenchmarkAppend is lock, look, write and unlock, with one record. What it takes over
// BenchmarkPlainWrite is the price of sharing the file with other processes.
func BenchmarkAppend(b *testing.B) {
	r, err := engine.Create(b.TempDir(), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	t, err := r.CreateTopic(b.Context(), "t", engine.TopicSpec{Partitions: 1})
	if err != nil {
		b.Fatal(err)
	}
	p, err := t.Partition(0)
	if err != nil {
		b.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	raw := oneRecord(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Append(b.Context(), raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlainWrite is the write alone.
func BenchmarkPlainWrite(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	raw := oneRecord(b)
	for b.Loop() {
		if _, err := f.Write(raw); err != nil {
			b.Fatal(err)
		}
	}
}
