package gauge

import (
	"context"
	"sync"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// Produce appends the load to a topic that CreateTopic made and measures it: encoding,
// appending, and syncing as the load says. Then it reads everything back, which is not
// measured.
func Produce(ctx context.Context, t *engine.Topic, l Load) (Result, error) {
	p := newPayload(l.Size)
	took, err := fill(ctx, t, p, l)
	if err != nil {
		return Result{}, err
	}
	res := Result{Records: l.Records, Bytes: l.Records * int64(l.Size), Elapsed: took}
	read, err := consume(ctx, t, t.Numbers(), newAudit(p, l))
	res.Verified = read.Verified
	return res, err
}

// fill appends the load.
func fill(ctx context.Context, t *engine.Topic, p *payload, l Load) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range l.Writers {
		w := &writer{t: t, p: p, load: l, number: i, open: make(map[int32]*engine.Writer)}
		wg.Go(func() {
			defer w.close()
			if err := w.run(ctx); err != nil {
				cancel(err) // the first one counts
			}
		})
	}
	wg.Wait()
	return time.Since(begin), context.Cause(ctx)
}

// writer is one producer of a load. Its appends go to the partitions in turn.
type writer struct {
	t      *engine.Topic
	p      *payload
	load   Load
	number int
	open   map[int32]*engine.Writer

	b     segments.Builder
	out   []byte
	value []byte
}

func (w *writer) run(ctx context.Context) error {
	share := w.load.share(w.number)
	for n, turn := int64(0), w.number; n < share; turn++ {
		next, err := w.encode(n, share)
		if err != nil {
			return err
		}
		if err := w.append(ctx, int32(turn%w.load.Partitions)); err != nil {
			return err
		}
		n = next
	}
	if w.load.Sync != SyncExit {
		return nil
	}
	for _, to := range w.open {
		if err := to.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// encode makes the batches of one append out of records from number n on, at most up to
// number end, and returns the number that follows.
func (w *writer) encode(n, end int64) (int64, error) {
	now := time.Now().UnixMilli()
	w.out = w.out[:0]
	for n < end {
		w.b.Start(w.out, segments.BatchOptions{Codec: w.load.Codec})
		for n < end && w.room() {
			w.value = w.p.append(w.value[:0], w.number, n)
			w.b.AppendValue(now, w.value)
			n++
		}
		var err error
		if w.out, err = w.b.Finish(); err != nil {
			return n, err
		}
		if w.load.Batch > 0 || len(w.out) >= appendSize {
			break
		}
	}
	return n, nil
}

// room reports whether the batch takes another record.
func (w *writer) room() bool {
	if w.load.Batch > 0 {
		return int(w.b.Count()) < w.load.Batch
	}
	return w.b.Count() == 0 || w.b.Size()+w.load.Size+overhead <= batchSize
}

func (w *writer) append(ctx context.Context, partition int32) error {
	to := w.open[partition]
	if to == nil {
		p, err := w.t.Partition(partition)
		if err != nil {
			return err
		}
		if to, err = p.OpenWriter(engine.WriterOptions{}); err != nil {
			return err
		}
		w.open[partition] = to
	}
	if _, err := to.Append(ctx, w.out); err != nil {
		return err
	}
	if w.load.Sync == SyncBatch {
		return to.Sync(ctx)
	}
	return nil
}

func (w *writer) close() {
	for _, to := range w.open {
		to.Close()
	}
}
