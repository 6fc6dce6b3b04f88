package interop_test

import (
	"context"
	"os"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// client is a client of the broker, closed when the test ends.
func (b *broker) client(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(b.address))...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(cl.Close)
	return cl
}

// createTopic makes a topic, and returns when its directories are there. Configs are
// name, value, name, value.
func (b *broker) createTopic(name string, partitions int, configs ...string) {
	b.t.Helper()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, int32(partitions), 1
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], &configs[i+1]
		topic.Configs = append(topic.Configs, c)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	cl := b.client()
	until(b.t, "create topic "+name, func() error {
		resp, err := req.RequestWith(b.t.Context(), cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	})
	until(b.t, "directories of "+name, func() error {
		for n := range partitions {
			if _, err := os.Stat(b.partition(name, n) + "/partition.metadata"); err != nil {
				return err
			}
		}
		return nil
	})
}

// offsets asks the broker for the offset of a time, -1 being the end and -2 the start.
// Committed asks for the end that a read_committed consumer sees.
func (b *broker) offset(topic string, partition int32, ts int64, committed bool) int64 {
	b.t.Helper()
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = partition, ts
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.Topics = append(req.Topics, rt)
	if committed {
		req.IsolationLevel = 1
	}
	cl := b.client()
	var found int64
	until(b.t, "offset of a time", func() error {
		resp, err := req.RequestWith(b.t.Context(), cl)
		if err != nil {
			return err
		}
		got := resp.Topics[0].Partitions[0]
		found = got.Offset
		return kerr.ErrorForCode(got.ErrorCode)
	})
	return found
}

// consume reads all of a partition with a client, control records left out.
func (b *broker) consume(topic string, partition int32, committed bool) []record {
	b.t.Helper()
	end := b.offset(topic, partition, -1, committed)
	if end == b.offset(topic, partition, -2, committed) {
		return nil
	}
	level := kgo.ReadUncommitted()
	if committed {
		level = kgo.ReadCommitted()
	}
	// Control records are kept to see the end of a partition that ends with one.
	cl := b.client(kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {partition: kgo.NewOffset().AtStart()},
	}))
	defer cl.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	var all []record
	for next := int64(-1); next < end; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			b.t.Fatalf("consume %s-%d: at offset %d of %d: %v", topic, partition, next, end, err)
		}
		for r := range fetches.RecordsAll() {
			next = r.Offset + 1
			if r.Offset < end && !r.Attrs.IsControl() {
				all = append(all, consumed(r))
			}
		}
	}
	return all
}
