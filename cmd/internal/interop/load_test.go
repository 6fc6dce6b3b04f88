package interop_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// load produces to a topic's partitions in turn until it is stopped; a broker that is
// away for a while holds it up only.
type load struct {
	acked atomic.Int64
	stop  func() // ends it, once
}

// startLoad starts it with records of a little more than 1 KB, 25 at a time, at most
// 1 MB a second.
func startLoad(t *testing.T, b *broker, topic string, partitions int32) *load {
	t.Helper()
	cl := b.client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	ctx, cancel := context.WithCancel(t.Context())
	l, done, stop := &load{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(25 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if err := cl.ProduceSync(ctx, loadBatch(topic, int32(i)%partitions, i)...).FirstErr(); err != nil {
				t.Errorf("produce to %s: %v", topic, err)
				return
			}
			l.acked.Add(25)
		}
	}()
	stopped := false
	l.stop = func() {
		if !stopped {
			stopped = true
			close(stop)
			<-done
		}
	}
	t.Cleanup(func() {
		cancel()
		l.stop()
	})
	return l
}

func loadBatch(topic string, partition int32, i int) []*kgo.Record {
	recs := make([]*kgo.Record, 25)
	for k := range recs {
		recs[k] = &kgo.Record{
			Topic: topic, Partition: partition, Key: fmt.Appendf(nil, "key %d", k),
			Value:   fmt.Appendf(nil, "%d.%d %s", i, k, strings.Repeat("klog and kafka ", 70)),
			Headers: []kgo.RecordHeader{{Key: "batch", Value: fmt.Append(nil, i)}},
		}
	}
	return recs
}

// wait waits for so many more acknowledged records.
func (l *load) wait(t *testing.T, more int64) {
	t.Helper()
	from := l.acked.Load()
	until(t, "go on producing", func() error {
		if n := l.acked.Load() - from; n < more {
			return fmt.Errorf("%d of %d records", n, more)
		}
		return nil
	})
}

// transactions is a transactional producer.
type transactions struct {
	t     *testing.T
	cl    *kgo.Client
	topic string
	n     int
}

func startTransactions(t *testing.T, b *broker, topic string) *transactions {
	t.Helper()
	return &transactions{t: t, topic: topic, cl: b.client(kgo.TransactionalID("interop"), kgo.TransactionTimeout(5*time.Minute), kgo.ProducerBatchCompression(kgo.Lz4Compression()))}
}

// begin begins a transaction and produces some records in it, which are in the log when
// it returns.
func (x *transactions) begin(records int) {
	x.t.Helper()
	if err := x.cl.BeginTransaction(); err != nil {
		x.t.Fatal(err)
	}
	x.n++
	recs := make([]*kgo.Record, records)
	for i := range recs {
		recs[i] = &kgo.Record{Topic: x.topic, Value: fmt.Appendf(nil, "transaction %d record %d", x.n, i)}
	}
	if err := x.cl.ProduceSync(x.t.Context(), recs...).FirstErr(); err != nil {
		x.t.Fatal(err)
	}
}

// end commits or aborts.
func (x *transactions) end(commit bool) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	if err := x.cl.EndTransaction(ctx, kgo.TransactionEndTry(commit)); err != nil {
		x.t.Fatal(err)
	}
}
