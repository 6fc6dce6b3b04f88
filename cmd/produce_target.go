package cmd

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// openWriters is how many partitions produce keeps open at a time: each takes five
// descriptors.
const openWriters = 4

// mostLine is the longest record that is ever kept in memory: no batch can hold more.
const mostLine = math.MaxInt32 - 1<<20

// produceTarget is the topic that records go to.
type produceTarget struct {
	topic  *engine.Topic
	config *engine.Config
}

// openTarget opens the topic, and makes it where it is missing and may be made.
func openTarget(ctx context.Context, e *Env, o produceOptions) (*produceTarget, error) {
	if err := segments.ValidTopicName(o.topic); err != nil {
		return nil, usagef("%v", err)
	}
	if o.noCreate {
		if _, err := e.openRoot(); err != nil { // which would be made otherwise
			return nil, err
		}
	}
	root, err := e.createRoot()
	if err != nil {
		return nil, err
	}
	t, err := root.Topic(o.topic)
	if errors.Is(err, engine.ErrUnknownTopic) && !o.noCreate {
		t, err = createTarget(ctx, root, o)
	}
	if err != nil {
		return nil, err
	}
	if o.partition >= 0 {
		if _, err := t.Partition(int32(o.partition)); err != nil {
			return nil, err
		}
	}
	c, err := t.Config()
	if err != nil {
		return nil, err
	}
	return &produceTarget{topic: t, config: c}, nil
}

// createTarget makes the topic; somebody else may make it at the same time.
func createTarget(ctx context.Context, root *engine.Root, o produceOptions) (*engine.Topic, error) {
	n, err := root.DefaultPartitions()
	if err != nil {
		return nil, err
	}
	if o.partition >= int64(n) {
		return nil, withHint(&engine.UnknownTopicError{Name: o.topic, Root: root.Dir()},
			"it would be made with "+counted(n, "partition")+", and have no partition "+strconv.FormatInt(o.partition, 10)+"; klog topic create makes one with more")
	}
	t, err := root.CreateTopic(ctx, o.topic, engine.TopicSpec{Partitions: n})
	if errors.Is(err, engine.ErrTopicExists) {
		if there, terr := root.Topic(o.topic); terr == nil {
			return there, nil
		}
	}
	return t, err
}

// configure adds to the options what depends on the topic.
func (t *produceTarget) configure(e *Env, o *produceOptions, f *feed.Options) {
	c := t.config
	var mode syncMode
	if o.sync != nil {
		mode = *o.sync
	}
	f.Sync = mode.policy(c)
	f.Codec, f.Level = o.compression(c)
	f.Limits = feed.Limits{
		Message:  int(min(c.MaxMessageBytes, mostLine)),
		Batch:    int(min(o.batchSize, c.MaxMessageBytes, c.SegmentBytes)),
		Earliest: c.TimestampBeforeMaxMs,
		Latest:   c.TimestampAfterMaxMs,
		NeedKey:  c.Compacted(),
	}
	if c.LogAppendTime() {
		f.Limits.Earliest, f.Limits.Latest = math.MaxInt64, math.MaxInt64 // the records' own times do not count
	}
	f.Limits.Line = longestLine(f)
	f.Target = feed.Target{
		Topic: t.topic.Name(), Root: t.topic.Root().Dir(), Partitions: t.topic.Partitions(),
		Open:        t.open(e, o),
		SyncTo:      t.syncTo,
		OpenWriters: openWriters,
	}
}

// longestLine is the length from which a record need not be kept whole, since it
// cannot be stored.
func longestLine(f *feed.Options) int {
	const expansion = 8 // of JSON, which writes a byte as \u0000, and of what else is decoded
	most := f.Limits.Message + 1
	switch {
	case f.Codec != segments.None, f.Oversize == feed.Split, f.Oversize == feed.Truncate && parsed(f):
		return mostLine
	case parsed(f):
		most *= expansion
	}
	return min(most, mostLine)
}

// compression is the codec of new batches, and its level where the topic has one.
func (o *produceOptions) compression(c *engine.Config) (segments.Codec, int) {
	codec, err := segments.ParseCodec(c.CompressionType)
	if err != nil {
		codec = segments.None // "producer" and "uncompressed"
	}
	if o.codec != nil {
		codec = *o.codec
	}
	set := c.Set()
	level := func(name string, n int64) int {
		if _, ok := set[name]; !ok {
			return 0
		}
		return int(max(0, n))
	}
	switch codec {
	case segments.Gzip:
		return codec, level("compression.gzip.level", c.CompressionGzipLevel)
	case segments.LZ4:
		return codec, level("compression.lz4.level", c.CompressionLz4Level)
	case segments.Zstd:
		return codec, level("compression.zstd.level", c.CompressionZstdLevel)
	}
	return codec, 0
}

// open opens partitions for appending.
func (t *produceTarget) open(e *Env, o *produceOptions) func(int32) (feed.Writer, error) {
	timeout := o.lockTimeout(e)
	return func(n int32) (feed.Writer, error) {
		p, err := t.topic.Partition(n)
		if err != nil {
			return nil, err
		}
		w, err := p.OpenWriter(engine.WriterOptions{LockTimeout: timeout})
		if err != nil {
			return nil, err // and not a Writer that is a nil pointer
		}
		return w, nil
	}
}

// lockTimeout is how long to wait for a partition's lock. Without --lock-timeout
// produce waits as long as it takes.
func (o *produceOptions) lockTimeout(e *Env) time.Duration {
	timeout, set := e.LockTimeout()
	if timeout = max(timeout, 1); !set {
		timeout = -1
	}
	if d := o.timeout; d != nil && (!set || *d < timeout) {
		timeout = max(*d, 1)
	}
	return timeout
}

func (t *produceTarget) syncTo(ctx context.Context, n int32, _ int64) error {
	p, err := t.topic.Partition(n)
	if err != nil {
		return err
	}
	return p.Sync(ctx)
}
