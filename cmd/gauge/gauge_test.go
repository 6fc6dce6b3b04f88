package gauge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/cmd/gauge"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func topic(t *testing.T, l gauge.Load) *engine.Topic {
	t.Helper()
	root, err := engine.Create(t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	top, err := gauge.CreateTopic(t.Context(), root, l)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestProduceVerifies(t *testing.T) {
	for name, l := range map[string]gauge.Load{
		"plain":         {Records: 5000, Size: 100, Partitions: 1, Writers: 1},
		"many":          {Records: 5003, Size: 300, Partitions: 3, Writers: 4, Codec: segments.LZ4, Sync: gauge.SyncExit},
		"small":         {Records: 1000, Size: gauge.MinSize, Partitions: 2, Writers: 1, Batch: 7},
		"one by one":    {Records: 50, Size: 20, Partitions: 1, Writers: 3, Batch: 1, Sync: gauge.SyncBatch},
		"large":         {Records: 3, Size: 3 << 20, Partitions: 1, Writers: 1},
		"large zstd":    {Records: 3, Size: 3 << 20, Partitions: 1, Writers: 1, Codec: segments.Zstd},
		"fewer than it": {Records: 2, Size: 100, Partitions: 1, Writers: 5},
	} {
		got, err := gauge.Produce(t.Context(), topic(t, l), l)
		if err != nil || got.Records != l.Records || got.Verified != l.Records || got.Bytes != l.Records*int64(l.Size) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestConsumeVerifies(t *testing.T) {
	l := gauge.Load{Records: 5000, Size: 100, Partitions: 2, Writers: 2}
	top := topic(t, l)
	if err := gauge.Fill(t.Context(), top, l); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (gauge.Result, error){
		"known": func() (gauge.Result, error) { return gauge.ConsumeLoad(t.Context(), top, l) },
		"any":   func() (gauge.Result, error) { return gauge.Consume(t.Context(), top, []int32{0, 1}) },
	} {
		got, err := read()
		if err != nil || got.Records != l.Records || got.Verified != l.Records || got.Bytes != l.Records*100 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := gauge.Consume(t.Context(), top, []int32{1}); err != nil || got.Records >= l.Records || got.Records == 0 {
		t.Errorf("one partition: %+v, %v", got, err)
	}
}

// append adds a record with that value to partition 0.
func appendValue(t *testing.T, top *engine.Topic, v []byte) {
	t.Helper()
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	b.AppendValue(1, v)
	batch, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func TestWrongRecordsAreFound(t *testing.T) {
	l := gauge.Load{Records: 100, Size: 50, Partitions: 1, Writers: 1}
	first := func(top *engine.Topic) []byte {
		p, _ := top.Partition(0)
		r, err := p.Reader(engine.ReaderOptions{Until: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte{}, rec.Value...)
	}
	for name, spoil := range map[string]func(top *engine.Topic){
		"foreign": func(top *engine.Topic) { appendValue(t, top, []byte("something else, of any length at all")) },
		"short":   func(top *engine.Topic) { appendValue(t, top, nil) },
		"doubled": func(top *engine.Topic) { appendValue(t, top, first(top)) },
		"altered": func(top *engine.Topic) { v := first(top); v[49]++; appendValue(t, top, v) },
		"damaged": func(top *engine.Topic) {
			p, _ := top.Partition(0)
			log := filepath.Join(p.Dir(), "00000000000000000000.log")
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			b[200] ^= 1
			appendValue(t, top, first(top)) // the damage is not the tail
			b2, _ := os.ReadFile(log)
			copy(b2, b)
			if err := os.WriteFile(log, b2, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		top := topic(t, l)
		if err := gauge.Fill(t.Context(), top, l); err != nil {
			t.Fatal(err)
		}
		spoil(top)
		if got, err := gauge.ConsumeLoad(t.Context(), top, l); err == nil {
			t.Errorf("%s: not found: %+v", name, got)
		}
	}
	more := l
	more.Records++
	top := topic(t, l)
	if err := gauge.Fill(t.Context(), top, l); err != nil {
		t.Fatal(err)
	}
	if _, err := gauge.ConsumeLoad(t.Context(), top, more); err == nil {
		t.Error("a missing record is not found")
	}
}

func TestLatency(t *testing.T) {
	l := gauge.Load{Records: 50, Size: 100, Partitions: 1, Writers: 1}
	took, err := gauge.Latency(t.Context(), topic(t, l), l, 1000)
	if err != nil || len(took) != 50 {
		t.Fatalf("%d, %v", len(took), err)
	}
	if took[0] <= 0 || took.Quantile(0) != took[0] || took.Quantile(1) != took[49] || took.Quantile(0.5) < took.Quantile(0.1) || took.Quantile(0.99) > took[49] {
		t.Errorf("%v", took)
	}
	if (gauge.Latencies{}).Quantile(0.5) != 0 {
		t.Error("the median of nothing")
	}
}

func TestCancelled(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	l := gauge.Load{Records: 1 << 40, Size: 100, Partitions: 1, Writers: 2}
	if _, err := gauge.Produce(ctx, topic(t, l), l); !errors.Is(err, stop) {
		t.Errorf("produce: %v", err)
	}
	l.Records = 1000
	if _, err := gauge.Latency(ctx, topic(t, l), l, 1); !errors.Is(err, stop) {
		t.Errorf("latency: %v", err)
	}
	l = gauge.Load{Records: 10, Size: 100, Partitions: 1, Writers: 1}
	top := topic(t, l)
	if err := gauge.Fill(t.Context(), top, l); err != nil {
		t.Fatal(err)
	}
	if _, err := gauge.ConsumeLoad(ctx, top, l); !errors.Is(err, stop) {
		t.Errorf("consume: %v", err)
	}
}
