package feed

import (
	"context"
	"io"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// Writer appends to one partition; *engine.Writer is one.
type Writer interface {
	Append(ctx context.Context, batches []byte) (engine.Appended, error)
	// Sync makes what this Writer has appended durable. It may run beside Append.
	Sync(ctx context.Context) error
	// StillThere is engine.ErrTopicGone once the partition is another one or none.
	StillThere() error
	Close() error
}

// Target is the topic that is fed.
type Target struct {
	Topic      string
	Root       string // where the topic is, for messages
	Partitions int    // how many the topic has
	// Open opens a partition for appending. The feed closes what it opened.
	Open func(partition int32) (Writer, error)
	// SyncTo makes every offset of a partition below next durable, whoever appended it.
	// It may run beside everything else, and is for partitions that are not open.
	SyncTo func(ctx context.Context, partition int32, next int64) error
	// OpenWriters is how many of them are kept open at a time; 0 is all.
	OpenWriters int
}

// Limits bound what is stored.
type Limits struct {
	Message int // bytes of a whole stored batch: max.message.bytes
	Batch   int // bytes of a batch of several records, before compression
	// Line is the longest record, in bytes of input, that is kept whole: longer than
	// any that can be stored.
	Line int
	// Earliest and Latest bound timestamps: a record that is more than Earliest older
	// or Latest newer than the clock, in ms, is refused.
	Earliest, Latest int64
	// NeedKey refuses records without a key: the topic is compacted.
	NeedKey bool
}

// Oversize says what becomes of a record over Limits.Message.
type Oversize int8

// The ways to treat a record that is too large.
const (
	Fail     Oversize = iota // stop, with everything before it appended
	Skip                     // leave it out
	Truncate                 // keep the beginning of its value
	Split                    // store its value in several records, each with key and headers
)

// Sync says when what was appended has to be on disk. The zero value leaves it to the
// kernel.
type Sync struct {
	Exit     bool          // at the end of the run
	Batch    bool          // before a record counts as safe and its offset is printed
	Bytes    int64         // the most bytes that may be unsynced; 0: no limit
	Messages int64         // the most records that may be unsynced; 0: no limit
	Every    time.Duration // the longest that anything may be unsynced; 0: no limit
}

// Fixed is what all records have in common.
type Fixed struct {
	Key       []byte            // nil: none
	NullKey   bool              // the key is null, whatever a row says
	Headers   []segments.Header // behind those of a row
	Timestamp int64             // in ms, when HasTime is set; else the time of reading counts
	HasTime   bool
}

// Options say what is fed where, and how. Inputs, Target and Limits are needed.
type Options struct {
	Inputs    []Input
	Delimiter []byte // behind each record; nil is a newline
	Whole     bool   // each input is one record
	// At most one of the next three says what is in a record; without any it is a value.
	Parser       format.Parser // of a record without its delimiter
	KeyDelimiter []byte        // divides a record into key and value
	Stream       *format.Input // reads records that no delimiter divides
	Fixed        Fixed

	Target       Target
	Partition    int32 // where all records go; negative: Partitioner decides
	Partitioner  engine.PartitionerKind
	OwnPartition bool // a row that names a partition goes there

	Limits   Limits
	Oversize Oversize
	Codec    segments.Codec
	Level    int // of the codec, 0 is its default
	Linger   time.Duration
	Rate     float64 // records a second; 0: no limit
	Workers  int     // 0: two where there are two processors

	Sync Sync

	// Offsets gets topic, partition and offset of each record, Tee the records as they
	// were read, both once they are safe. Either may be nil.
	Offsets, Tee io.Writer
	// Flush is called when what was written there shall be seen.
	Flush func() error

	Now func() time.Time // nil is the clock
	// Notice is told of a record that was left out or changed, in one line.
	Notice func(how Oversize, line string)
	// Begun is called once when the run begins to wait for input, or has more to do than
	// a moment's work; Progress for each chunk, with its size.
	Begun    func()
	Progress func(n int64)
}

func (o Options) withDefaults() Options {
	if o.Delimiter == nil {
		o.Delimiter = []byte{'\n'}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Notice == nil {
		o.Notice = func(Oversize, string) {}
	}
	if o.Begun == nil {
		o.Begun = func() {}
	}
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	if o.Flush == nil {
		o.Flush = func() error { return nil }
	}
	if o.Limits.Batch > o.Limits.Message {
		o.Limits.Batch = o.Limits.Message
	}
	return o
}

// unit is what a record is called in messages.
func (o *Options) unit() string {
	if !o.Whole && string(o.Delimiter) == "\n" {
		return "line"
	}
	return "record"
}
