package feed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// topic is a topic in memory.
type topic struct {
	mu    sync.Mutex
	parts []partition
	// refuse is asked before each batch is stored; an error keeps it and the rest out.
	refuse  func(partition int32, record int64) error
	syncErr error
	syncs   int
	opens   int
	open    int // writers open now
	most    int // writers open at a time
	events  []string
}

type partition struct {
	records []segments.Record
	synced  int64
	sizes   []int // of the batches
	heads   []segments.BatchHeader
}

// next is the sequence number that a producer must use next.
func (p *partition) next(producer int64) (sequence int32, offset int64, known bool) {
	for _, h := range slices.Backward(p.heads) {
		if h.ProducerID == producer {
			return (h.BaseSequence + h.LastOffsetDelta + 1) & (1<<31 - 1), h.LastOffset(), true
		}
	}
	return 0, -1, false
}

// cut forgets what was not synced, as a power failure may.
func (tp *topic) cut() {
	for i := range tp.parts {
		p := &tp.parts[i]
		n := 0
		for n < len(p.heads) && p.heads[n].LastOffset() < p.synced {
			n++
		}
		p.heads, p.sizes, p.records = p.heads[:n], p.sizes[:n], p.records[:p.synced]
	}
}

func newTopic(n int) *topic { return &topic{parts: make([]partition, n)} }

func (tp *topic) target() feed.Target {
	return feed.Target{Topic: "t", Root: "/root", Partitions: len(tp.parts), SyncTo: tp.syncTo, Open: func(p int32) (feed.Writer, error) {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		tp.opens++
		tp.open++
		tp.most = max(tp.most, tp.open)
		return &writer{tp: tp, p: p}, nil
	}}
}

func (tp *topic) values(p int) []string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var vs []string
	for _, r := range tp.parts[p].records {
		vs = append(vs, string(r.Value))
	}
	return vs
}

type writer struct {
	tp     *topic
	p      int32
	closed bool
	next   int64
}

func (w *writer) Append(ctx context.Context, raw []byte) (engine.Appended, error) {
	tp := w.tp
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if w.closed {
		return engine.Appended{}, errors.New("appended after close")
	}
	if err := ctx.Err(); err != nil {
		return engine.Appended{}, context.Cause(ctx)
	}
	part := &tp.parts[w.p]
	next := int64(len(part.records))
	a := engine.Appended{First: next, Next: next}
	var d segments.Decoder
	for len(raw) > 0 {
		b, err := segments.ParseBatch(raw, 0)
		if err != nil {
			return a, err
		}
		if !b.CheckCRC() {
			return a, errors.New("bad crc")
		}
		if b.Count <= 0 || b.LastOffsetDelta != b.Count-1 {
			return a, fmt.Errorf("count %d, last delta %d", b.Count, b.LastOffsetDelta)
		}
		if b.ProducerID >= 0 {
			want, _, known := part.next(b.ProducerID)
			if known && b.BaseSequence != want {
				return a, fmt.Errorf("producer %d: sequence %d, want %d", b.ProducerID, b.BaseSequence, want)
			}
		}
		if tp.refuse != nil {
			if err := tp.refuse(w.p, next); err != nil {
				return a, err
			}
		}
		if err := d.Open(b); err != nil {
			return a, err
		}
		for r := (segments.Record{}); d.Next(&r); {
			part.records = append(part.records, clone(r))
		}
		if err := d.Err(); err != nil {
			return a, err
		}
		part.sizes = append(part.sizes, len(b.Raw))
		b.BaseOffset = next
		part.heads = append(part.heads, b.BatchHeader)
		next += int64(b.Count)
		a.Next = next
		w.next = next
		a.Batches++
		raw = raw[b.Size():]
	}
	tp.events = append(tp.events, "append")
	return a, nil
}

func clone(r segments.Record) segments.Record {
	r.Key, r.Value = slices.Clone(r.Key), slices.Clone(r.Value)
	var hs []segments.Header
	for _, h := range r.Headers {
		hs = append(hs, segments.Header{Key: slices.Clone(h.Key), Value: slices.Clone(h.Value)})
	}
	r.Headers = hs
	return r
}

func (w *writer) StillThere() error { return nil }

func (w *writer) Sync(ctx context.Context) error {
	w.tp.mu.Lock()
	next := w.next
	w.tp.mu.Unlock()
	return w.tp.syncTo(ctx, w.p, next)
}

func (tp *topic) syncTo(_ context.Context, p int32, next int64) error {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.syncs++
	tp.events = append(tp.events, "sync")
	if tp.syncErr != nil {
		return tp.syncErr
	}
	tp.parts[p].synced = max(tp.parts[p].synced, next)
	return nil
}

func (w *writer) Close() error {
	w.tp.mu.Lock()
	defer w.tp.mu.Unlock()
	w.closed = true
	w.tp.open--
	return nil
}

// file makes an input of text.
func file(t *testing.T, text string) feed.Input {
	t.Helper()
	name := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return feed.Input{Path: name}
}

// options feed text into a topic of n partitions.
func options(t *testing.T, tp *topic, text ...string) feed.Options {
	t.Helper()
	o := feed.Options{
		Target:    tp.target(),
		Partition: -1,
		Limits:    feed.Limits{Message: 1 << 20, Batch: 128 << 10, Line: 2 << 20, Earliest: 1 << 62, Latest: 1 << 62},
	}
	for _, s := range text {
		o.Inputs = append(o.Inputs, file(t, s))
	}
	return o
}

func run(t *testing.T, o feed.Options) feed.Result {
	t.Helper()
	res, err := feed.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// numbered are lines "prefix0\n" to n-1.
func numbered(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d\n", prefix, i)
	}
	return b.String()
}
