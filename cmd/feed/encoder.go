package feed

import (
	"bytes"
	"errors"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

const (
	// outBuffer is where a worker's batches are made; what does not fit moves to the
	// heap, and the buffer grows for the next chunk, to mostOutput at most.
	outBuffer  = 2 << 20
	mostOutput = 8 << 20
	// spread is the least that goes to one partition before records that no key binds
	// go on in the next.
	spread = 16 << 10
)

// batch is one finished batch in an encoder's output.
type batch struct {
	end       int   // where it ends in the output
	partition int32 // where it goes
	records   int32 // of the log
	first     int64 // number of the first input record in it, from 1 in its chunk
	done      int64 // input records that are complete with it
}

// problem is why a chunk ends before its data does.
type problem struct {
	number int64 // of the record that is to blame, in its chunk; 0: none is
	err    error
}

// encoder turns the records of a chunk into batches. Each worker has one.
type encoder struct {
	o      *Options
	frame  *framing
	parser format.Parser
	choose *engine.Partitioner // nil: there is nothing to choose
	seq    *sequences          // nil: batches of no producer

	build segments.Builder
	mem   memory // where the batches of usual chunks are made
	big   memory // for those of one huge record; given back with the next chunk
	out   []byte
	limit int // of a batch of several records, in this chunk

	// The open batch.
	open      bool
	partition int32
	first     int64
	pieces    int64 // records in it that only begin an input record

	now     int64
	number  int64 // of the record in hand
	size    int64 // its bytes in the input
	piece   bool  // the record in hand goes on in the next
	loose   int   // bytes put into the current partition that no key binds
	batches []batch
	notes   []note
	skipped int64 // input records left out
	already int64 // input records that are in the log from an earlier run
	failed  problem

	row     format.Row
	rows    rowTable
	table   keyedTable
	falling bool // the order of partitions in this chunk
}

func newEncoder(o *Options, frame *framing, seq *sequences) *encoder {
	e := &encoder{o: o, frame: frame, seq: seq, parser: valueParser{}}
	switch {
	case o.Parser != nil:
		e.parser = o.Parser
	case o.KeyDelimiter != nil:
		e.parser = keyParser{o.KeyDelimiter}
	}
	if o.Partition < 0 && o.Target.Partitions > 1 {
		e.choose = engine.NewPartitioner(o.Partitioner, o.Target.Partitions)
	}
	return e
}

// encode makes the batches of a chunk. They stay as they are until the next call.
func (e *encoder) encode(c *chunk) {
	e.reset(c)
	switch {
	case c.cut > 0:
		e.beginning(c)
	case c.empty || e.frame.whole:
		e.record(c.data)
	case e.isPlain():
		e.lines(c.data)
	case e.isKeyed() && len(c.data) < longChunk:
		e.keyed(c.data)
	case (e.choose != nil || e.o.OwnPartition) && len(c.data) < longChunk:
		e.sorted(c.data)
	default:
		e.eachRecord(c.data)
	}
	e.endChunk()
}

// endChunk ends the last batch. What no key binds goes on in the next partition.
func (e *encoder) endChunk() {
	e.finish()
	if e.choose != nil {
		e.choose.Batch()
		e.loose = 0
	}
}

func (e *encoder) reset(c *chunk) {
	if long := len(c.data) > outBuffer*3/4; long || e.big.b != nil {
		e.big.release()
		e.build = segments.Builder{} // and what it keeps for batches of that size
		if long {
			e.big = allocate(len(c.data) + len(c.data)/8 + firstBuffer)
		}
	}
	if e.big.b == nil {
		e.fitOutput(len(c.data))
		e.out = e.mem.b[:0]
	} else {
		e.out = e.big.b[:0]
	}
	e.now, e.number, e.falling = c.now, 0, c.seq&1 == 1
	e.batches, e.notes = e.batches[:0], e.notes[:0]
	e.skipped, e.already = 0, 0
	e.failed = problem{}
	e.open = false
	e.seq.mark()
	e.limit = e.o.Limits.Batch
	if e.choose != nil {
		e.limit = min(e.limit, max(spread, len(c.data)/e.o.Target.Partitions))
	}
}

// release gives the memory back.
func (e *encoder) release() {
	e.mem.release()
	e.big.release()
}

// fitOutput makes mem large enough for the batches of a chunk of that size.
func (e *encoder) fitOutput(size int) {
	want := firstBuffer
	if size > firstBuffer/2 {
		want = max(outBuffer, min(cap(e.out), mostOutput))
	}
	if len(e.mem.b) < want {
		e.mem.release()
		e.mem = allocate(want)
	}
}

// isPlain reports whether records are values and nothing else.
func (e *encoder) isPlain() bool {
	f := &e.o.Fixed
	_, values := e.parser.(valueParser)
	return values && f.Key == nil && len(f.Headers) == 0 && !f.HasTime &&
		!e.o.Limits.NeedKey && len(e.frame.delim) == 1 && e.seq == nil &&
		(e.choose == nil || e.o.Partitioner != engine.RoundRobin)
}

// lines encodes records that are values and nothing else: the loop on which the speed
// of a plain `produce` depends.
func (e *encoder) lines(data []byte) {
	delim := e.frame.delim[0]
	now, limit := e.now, e.limit-recordOverhead
	for len(data) > 0 {
		if e.open {
			var n int
			n, data = e.build.AppendLines(now, data, delim, limit)
			if e.number += int64(n); len(data) == 0 {
				return
			}
		}
		line := data
		if i := bytes.IndexByte(data, delim); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		e.number++
		if e.open && e.build.Size()+len(line) <= limit {
			e.build.AppendValue(now, line)
			continue
		}
		to := max(0, e.o.Partition)
		if e.choose != nil {
			if e.open {
				e.choose.Batch()
			}
			to = e.choose.Partition(nil)
		}
		e.row.Value = line
		e.size = int64(len(line))
		e.put(to, &e.row, now)
		if e.failed.err != nil {
			return
		}
	}
}

// eachRecord encodes record by record, in the order in which they came.
func (e *encoder) eachRecord(data []byte) {
	for len(data) > 0 && e.failed.err == nil {
		record := data
		if end, next := e.frame.first(data); end >= 0 {
			record, data = data[:end:end], data[next:]
		} else {
			data = nil
		}
		e.record(record)
	}
}

func (e *encoder) record(record []byte) {
	switch to, ts, err := e.next(record); {
	case err == nil:
		e.put(to, &e.row, ts)
	case !errors.Is(err, format.ErrBlank):
		e.fail(err)
	}
}

// fail ends the chunk at the record in hand.
func (e *encoder) fail(err error) { e.failed = problem{e.number, err} }

// Refusals of a record.
var (
	errNoKey        = errors.New("no key, and the topic is compacted: cleanup.policy=compact keeps the last record of each key")
	errNegativeTime = errors.New("a timestamp before 1970")
	errTooOld       = errors.New("the timestamp is older than message.timestamp.before.max.ms allows")
	errTooNew       = errors.New("the timestamp is further in the future than message.timestamp.after.max.ms allows")
)

// next makes a row of the next record, and says where it goes. The error is
// format.ErrBlank where there is none.
func (e *encoder) next(record []byte) (to int32, ts int64, err error) {
	e.number++
	e.size = int64(len(record))
	if err := e.parser.ParseRow(record, &e.row); err != nil {
		return 0, 0, err
	}
	return e.complete(&e.row)
}

// complete adds to a row what all records have in common, checks it, and says where it
// goes.
func (e *encoder) complete(r *format.Row) (to int32, ts int64, err error) {
	f := &e.o.Fixed
	if f.Key != nil || f.NullKey {
		r.Key = f.Key
	}
	if e.o.Limits.NeedKey && r.Key == nil {
		return 0, 0, errNoKey
	}
	if len(f.Headers) > 0 {
		r.Headers = append(r.Headers, f.Headers...)
	}
	ts = e.now
	switch {
	case f.HasTime:
		ts, err = f.Timestamp, e.checkTime(f.Timestamp)
	case r.HasTimestamp:
		ts, err = r.Timestamp, e.checkTime(r.Timestamp)
	}
	if err != nil {
		return 0, 0, err
	}
	to, err = e.where(r)
	return to, ts, err
}

// checkTime refuses what no record of the topic may have. A record may have no time.
func (e *encoder) checkTime(ts int64) error {
	switch l := &e.o.Limits; {
	case ts == noTime:
	case ts < 0:
		return errNegativeTime
	case e.now-ts > l.Earliest:
		return errTooOld
	case ts-e.now > l.Latest:
		return errTooNew
	}
	return nil
}

// noTime is the timestamp of a record that has none.
const noTime = -1

// where is the partition that a row goes to.
func (e *encoder) where(r *format.Row) (int32, error) {
	switch {
	case e.o.OwnPartition && r.Partition >= 0:
		if int(r.Partition) >= e.o.Target.Partitions {
			return 0, &engine.UnknownPartitionError{Topic: e.o.Target.Topic, Partition: r.Partition, Root: e.o.Target.Root, Count: e.o.Target.Partitions}
		}
		return r.Partition, nil
	case e.o.Partition >= 0:
		return e.o.Partition, nil
	case e.choose == nil:
		return 0, nil
	case e.seq != nil && !e.choose.ByKey(r.Key):
		return e.seq.home, nil // the order of a file's lines is kept
	case e.choose.ByKey(r.Key) || e.o.Partitioner == engine.RoundRobin:
		return e.choose.Partition(r.Key), nil
	}
	return e.looseTo(len(r.Value)), nil
}

// looseTo is the partition of a record of size bytes that no key binds. It changes
// when the one before has got its share.
func (e *encoder) looseTo(size int) int32 {
	if e.loose >= e.limit-e.limit/8 {
		e.choose.Batch()
		e.loose = 0
	}
	e.loose += size + 8
	return e.choose.Partition(nil)
}

// put adds a record to a batch.
func (e *encoder) put(to int32, r *format.Row, ts int64) {
	if e.seq != nil && e.seq.skips(to) {
		e.already++
		return
	}
	bound := recordBound(r.Key, r.Value, r.Headers)
	if e.open && (to != e.partition || e.build.Size()+bound > e.limit) {
		e.finish()
	}
	if !e.open {
		if segments.HeaderSize+bound > e.limit {
			e.alone(to, r, ts)
			return
		}
		e.start(to, e.o.Codec)
	}
	e.build.Append(ts, r.Key, r.Value, r.Headers)
	if e.piece {
		e.pieces++
	}
}

// start begins a batch.
func (e *encoder) start(to int32, codec segments.Codec) {
	o := segments.BatchOptions{Codec: codec, Level: e.o.Level}
	if e.seq != nil {
		e.seq.stamp(&o, to)
	}
	e.build.Start(e.out, o)
	e.open, e.partition, e.first, e.pieces = true, to, e.number, 0
}

// finish ends the open batch, if there is one.
func (e *encoder) finish() {
	if !e.open {
		return
	}
	e.open = false
	n := e.build.Count()
	out, err := e.build.Finish()
	if err != nil {
		e.failed = problem{e.first, err}
		return
	}
	e.out = out
	e.keep(n)
}

// keep notes the batch that has just been added to the output.
func (e *encoder) keep(n int32) {
	if e.seq != nil {
		e.seq.advance(e.partition, n)
	}
	e.batches = append(e.batches, batch{
		end: len(e.out), partition: e.partition, records: n,
		first: e.first, done: int64(n) - e.pieces,
	})
}
