package gauge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klog-project/klog/engine"
)

// Fill appends the load without measuring it, for Consume to read.
func Fill(ctx context.Context, t *engine.Topic, l Load) error {
	_, err := fill(ctx, t, newPayload(l.Size), l)
	return err
}

// ConsumeLoad measures how fast the load that Fill appended is read, and compares it.
func ConsumeLoad(ctx context.Context, t *engine.Topic, l Load) (Result, error) {
	return consume(ctx, t, t.Numbers(), newAudit(newPayload(l.Size), l))
}

// Consume measures how fast partitions of any topic are read, up to their ends as they
// are now. Checksums, framing and the order of offsets are checked; damage is an error.
func Consume(ctx context.Context, t *engine.Topic, partitions []int32) (Result, error) {
	return consume(ctx, t, partitions, nil)
}

// consume reads partitions one after the other. a is nil where nobody knows what stands
// in them.
func consume(ctx context.Context, t *engine.Topic, partitions []int32, a *audit) (res Result, err error) {
	begin := time.Now()
	for _, n := range partitions {
		if err := consumePartition(ctx, t, n, a, &res); err != nil {
			return res, err
		}
	}
	res.Elapsed = time.Since(begin)
	if a != nil {
		err = a.end()
	}
	return res, err
}

// lookEvery is how many records are read between two looks at the context.
const lookEvery = 1 << 12

func consumePartition(ctx context.Context, t *engine.Topic, n int32, a *audit, res *Result) (err error) {
	p, err := t.Partition(n)
	if err != nil {
		return err
	}
	start, end, err := p.Bounds()
	if err != nil {
		return err
	}
	r, err := p.Reader(engine.ReaderOptions{From: start, Until: end})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	last := start - 1
	for {
		if res.Records%lookEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Offset <= last {
			return fmt.Errorf("%s: offset %d comes after %d", p, rec.Offset, last)
		}
		last = rec.Offset
		if a != nil {
			if err := a.record(n, rec); err != nil {
				return err
			}
		}
		res.Records++
		res.Verified++
		res.Bytes += int64(len(rec.Key) + len(rec.Value))
	}
}
