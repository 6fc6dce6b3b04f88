// Package gauge measures a log: how fast records go in, come out, and reach a reader
// that follows. What it wrote it reads back and compares byte for byte, so that a
// figure never stands for records that are not there.
//
// The payload is text that compresses as logs do. Each value begins with the number of
// its writer and its number there, from which all of it can be made again: a record
// that is missing, doubled, altered or out of order is found without keeping any.
package gauge

import (
	"context"
	"fmt"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// Sync says when what was appended is made durable.
type Sync int8

// The sync modes, as of produce.
const (
	SyncNever Sync = iota
	SyncExit       // once, at the end
	SyncBatch      // after every append
)

// Load is what is appended. Records, Size, Partitions and Writers are needed.
type Load struct {
	Records    int64 // over all writers
	Size       int   // bytes of a value, at least MinSize
	Partitions int
	Writers    int
	// Batch is how many records make a batch, each of which is an append of its own. 0
	// is what produce does: batches of 128 KiB, as many as half a MiB holds in an append.
	Batch int
	Codec segments.Codec
	Sync  Sync
}

// Result is what a measurement came to.
type Result struct {
	Records  int64
	Bytes    int64 // of keys and values
	Verified int64 // records that were compared, or whose checksums and framing were checked
	Elapsed  time.Duration
}

// topicName is the topic of a measurement, alone in a root of its own.
const topicName = "bench"

// CreateTopic makes the topic for a load in a root that holds nothing else.
func CreateTopic(ctx context.Context, root *engine.Root, l Load) (*engine.Topic, error) {
	most := max(1<<20, l.batchBytes()+l.batchBytes()/8+1024) // a codec may make it longer
	return root.CreateTopic(ctx, topicName, engine.TopicSpec{
		Partitions: l.Partitions,
		Config:     map[string]string{"max.message.bytes": fmt.Sprint(most)},
	})
}

const (
	batchSize  = 128 << 10 // bytes of records in a batch of many
	appendSize = 512 << 10 // bytes in an append of many batches
	overhead   = 32        // more than what a record takes beside its value
)

// batchBytes is how large a batch may get.
func (l *Load) batchBytes() int {
	if l.Batch > 0 {
		return segments.HeaderSize + l.Batch*(l.Size+overhead)
	}
	return segments.HeaderSize + max(batchSize, l.Size+overhead)
}

// share is how many of the records a writer appends.
func (l *Load) share(writer int) int64 {
	n := l.Records / int64(l.Writers)
	if int64(writer) < l.Records%int64(l.Writers) {
		n++
	}
	return n
}
