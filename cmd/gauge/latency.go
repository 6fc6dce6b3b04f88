package gauge

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/klog-project/klog/engine"
)

// Latencies are the times from before a record was encoded until a reader that follows
// had it, in order of size.
type Latencies []time.Duration

// Quantile is the time within which the given part of the records arrived: 0.5 is the
// median, 1 the longest.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// Latency appends the records of the load one by one, so many a second, to a topic that
// CreateTopic made, while a reader follows it. Each record that arrives is compared.
// The load's Writers and Partitions are 1.
func Latency(ctx context.Context, t *engine.Topic, l Load, perSecond float64) (Latencies, error) {
	l.Batch = 1
	m := &meeting{p: newPayload(l.Size), load: l, sent: make([]atomic.Int64, l.Records), begin: time.Now()}
	f, err := m.follower(t)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.send(ctx, t, perSecond); err != nil {
			cancel(err)
		}
	}()
	took, err := m.receive(ctx, f)
	cancel(nil)
	<-done
	slices.Sort(took)
	return took, err
}

// meeting is one record after the other on its way from a writer to a follower.
type meeting struct {
	p     *payload
	load  Load
	sent  []atomic.Int64 // when, in nanoseconds from begin
	begin time.Time
}

func (m *meeting) follower(t *engine.Topic) (*engine.Follower, error) {
	p, err := t.Partition(0)
	if err != nil {
		return nil, err
	}
	r, err := p.Reader(engine.ReaderOptions{Until: -1})
	if err != nil {
		return nil, err
	}
	return engine.NewFollower([]*engine.Reader{r}, engine.FollowOptions{}), nil
}

// send appends all records. One that is late does not delay those behind it.
func (m *meeting) send(ctx context.Context, t *engine.Topic, perSecond float64) error {
	w := &writer{t: t, p: m.p, load: m.load, open: make(map[int32]*engine.Writer)}
	defer w.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := range m.load.Records {
		due := m.begin.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		m.sent[n].Store(int64(time.Since(m.begin)))
		if _, err := w.encode(n, n+1); err != nil {
			return err
		}
		if err := w.append(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// receive follows until all records have arrived.
func (m *meeting) receive(ctx context.Context, f *engine.Follower) (Latencies, error) {
	a := newAudit(m.p, m.load)
	took := make(Latencies, 0, m.load.Records)
	for int64(len(took)) < m.load.Records {
		_, rec, err := f.Next()
		if err == io.EOF {
			if err := f.Wait(ctx); err != nil {
				return took, err
			}
			continue
		}
		if err != nil {
			return took, err
		}
		now := time.Since(m.begin)
		if rec.Offset != int64(len(took)) {
			return took, fmt.Errorf("offset %d arrived in place of %d", rec.Offset, len(took))
		}
		if err := a.record(0, rec); err != nil {
			return took, err
		}
		took = append(took, now-time.Duration(m.sent[rec.Offset].Load()))
	}
	return took, a.end()
}
