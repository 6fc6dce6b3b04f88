package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// WriterOptions say how a Writer waits.
type WriterOptions struct {
	// LockTimeout bounds each wait for the partition's append lock: 0 is
	// DefaultLockTimeout, a negative value waits without limit.
	LockTimeout time.Duration
}

// Writer appends to one partition. Any number of Writers, in any number of processes,
// may append to one partition at once: each append is one critical section under the
// partition's lock, in which the Writer looks at the end of the log, appends whole
// batches and leaves. A Writer may be used by several goroutines; they take turns.
//
// What an append leaves behind when the process is killed, in the order of its
// writes:
//
//	log, part of a batch      a torn tail: the next writer cuts it
//	log, whole batches        in the log; the hint is behind and the tail is scanned
//	index entries             likewise; the index is cut to what the hint knows
//	hint                      the append is complete
//
// Nothing of it is on disk before Sync, whatever it was that was killed.
type Writer struct {
	p    *Partition
	opts WriterOptions

	syncing sync.RWMutex // held for reading while Sync uses the block, for writing to unmap it

	mu     sync.Mutex // after syncing; guards what follows
	closed bool
	lock   lockFile
	block  *block
	active activeSegment
	tail   tail
	raw    [hintSize]byte // the hint that tail was read from or written to
	known  bool           // tail agrees with raw
	stored uint64         // append counter of the last hint that was written
	dur    *durability

	shared  bool // the careful path: other hosts may append too
	machine machine
	booted  int64       // when the machine was booted, 0 until it is asked
	dir     fs.FileInfo // the partition's directory as it was opened

	producers producerTable
	input     []byte   // the batches in hand
	sequenced bool     // one of them has a producer id
	heads     []placed // their headers, reused
	offsetIdx []byte   // index entries in hand, reused
	timeIdx   []byte
}

// placed is a batch in the caller's buffer, at byte at of it.
type placed struct {
	segments.BatchHeader
	at  int64
	raw []byte
}

// Appended says which offsets an append was given: First up to, not including, Next.
// When an append fails half way, they are the offsets of what stays in the log.
type Appended struct {
	First, Next int64
	// Duplicate is set when every batch was already in the log (a producer's retry):
	// First and Next are then the offsets it has there.
	Duplicate bool
	// Batches counts the batches of the call that are in the log.
	Batches int
}

// RecordTooLargeError is returned for a batch over the topic's max.message.bytes.
type RecordTooLargeError struct {
	Topic     string
	Partition int32
	Size      int64 // of the batch as it would be stored
	Limit     int64 // max.message.bytes
}

// Error names the size and the limit.
func (e *RecordTooLargeError) Error() string {
	return fmt.Sprintf("%s-%d: a batch of %d bytes is over max.message.bytes=%d", e.Topic, e.Partition, e.Size, e.Limit)
}

// OpenWriter prepares to append to the partition. It takes no lock.
func (p *Partition) OpenWriter(o WriterOptions) (*Writer, error) {
	dir, err := p.fs.Stat(p.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrTopicGone
		}
		return nil, p.wrap("open", err)
	}
	w := &Writer{p: p, opts: o, machine: thisMachine(), dir: dir, dur: &durability{}}
	if p.root != nil {
		w.shared = p.root.shared
	}
	w.lock = lockFile{fsys: p.fs, path: p.lockPath()}
	w.producers.p = p
	return w, nil
}

// Close gives up the Writer's files. It does not sync. Calling it twice is harmless.
func (w *Writer) Close() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.keepProducers()
	w.lock.close()
	w.active.close()
	if w.block != nil {
		w.block.close()
	}
	return nil
}

// keepProducers writes the producer table if the lock is free: it is derived data, and
// not worth a wait.
func (w *Writer) keepProducers() {
	if w.producers.since == 0 || w.lock.f == nil {
		return
	}
	if ok, err := w.lock.f.TryLock(); ok && err == nil && w.stillThere() == nil {
		w.producers.store()
	}
}

// MaxBatchBytes is the size up to which a batch should be built: the smaller of
// max.message.bytes and segment.bytes. A batch of a single record may be larger than
// segment.bytes: it gets a segment of its own.
func (w *Writer) MaxBatchBytes() (int, error) {
	c, err := w.p.config()
	if err != nil {
		return 0, err
	}
	return int(min(c.MaxMessageBytes, c.SegmentBytes)), nil
}

// Append appends the encoded batches that lie back to back in batches, which it
// changes: base offset and leader epoch of each are set in place (they lie outside
// the CRC), with message.timestamp.type=LogAppendTime the timestamps too.
//
// When it returns without an error, all of it is in the log at the offsets told and
// survives any kill of any process; Sync makes it survive a power failure. When it
// returns an error, what Appended tells is in the log and nothing of the rest.
func (w *Writer) Append(ctx context.Context, batches []byte) (done Appended, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.guard(debug.SetPanicOnFault(true), &err)
	if w.closed {
		return Appended{}, ErrClosed
	}
	cfg, err := w.p.config()
	if err != nil {
		return Appended{}, err
	}
	if err := w.parse(batches, cfg); err != nil {
		return Appended{}, err
	}
	if len(w.heads) == 0 {
		return Appended{}, nil
	}
	leave, err := w.enter(ctx)
	if err != nil {
		return Appended{}, err
	}
	defer leave()
	return w.appendLocked(ctx, cfg)
}

// guard turns a fault on the mapped block into an error: somebody cut the file. was is
// the goroutine's setting to go back to.
func (w *Writer) guard(was bool, err *error) {
	debug.SetPanicOnFault(was)
	r := recover()
	if r == nil {
		return
	}
	if _, fault := r.(interface{ Addr() uintptr }); !fault {
		panic(r)
	}
	w.known = false
	*err = w.p.wrap("append", fmt.Errorf("%s was cut while it was in use", w.block.f.Name()))
	w.block.close()
	w.block, w.dur.pending = nil, false
}

// enter begins a critical section: the lock is held, the locked file is the one at
// its path, and tail is the end of the log.
func (w *Writer) enter(ctx context.Context) (leave func(), err error) {
	release := w.p.o.hold()
	if err := w.lock.acquire(ctx, w.patience(), w.stillThere); err != nil {
		release()
		return nil, w.p.wrap("append", err)
	}
	leave = func() {
		w.active.leave()
		w.lock.release()
		release()
	}
	if err := w.findEnd(ctx); err != nil {
		w.known = false
		leave()
		return nil, w.p.wrap("append", err)
	}
	return leave, nil
}

// stillThere tells what became of the partition when its lock file is another one: nil
// when the directory is the one that was opened and only the lock file was replaced.
func (w *Writer) stillThere() error {
	now, err := w.p.fs.Stat(w.p.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !vfs.SameFile(now, w.dir) {
		return ErrTopicGone
	}
	return err
}

// bootTime is when the machine was booted. It is asked only when a hint is made: the
// answer costs more than an append.
func (w *Writer) bootTime() int64 {
	if w.booted == 0 {
		w.booted = w.machine.btime()
	}
	return w.booted
}

func (w *Writer) patience() patience {
	return patience{limit: w.opts.LockTimeout, notice: w.p.o.notice, what: w.p}
}

// parse splits batches and checks each as a broker would check what a producer sends.
func (w *Writer) parse(batches []byte, cfg *Config) error {
	w.heads, w.input, w.sequenced = w.heads[:0], batches, false
	for pos := int64(0); len(batches) > 0; {
		b, err := segments.ParseBatch(batches, pos)
		if err != nil {
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: %w", pos, err))
		}
		size := b.Size()
		switch {
		case b.Magic != 2:
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: magic %d: only magic 2 is written", pos, b.Magic))
		case b.Count <= 0 || b.LastOffsetDelta != b.Count-1:
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: %d records, last offset delta %d", pos, b.Count, b.LastOffsetDelta))
		case size > cfg.MaxMessageBytes:
			return &RecordTooLargeError{Topic: w.p.topic, Partition: w.p.number, Size: size, Limit: cfg.MaxMessageBytes}
		}
		w.sequenced = w.sequenced || b.ProducerID >= 0
		w.heads = append(w.heads, placed{b.BatchHeader, pos, batches[:size:size]})
		batches = batches[size:]
		pos += size
	}
	return nil
}

func (w *Writer) appendLocked(ctx context.Context, cfg *Config) (Appended, error) {
	done := Appended{First: w.tail.next, Next: w.tail.next}
	todo := w.heads
	if w.sequenced {
		dup, rest, err := w.dropDuplicates(todo)
		if err != nil {
			return done, err
		}
		if len(rest) == 0 {
			return dup, nil
		}
		done.Batches = len(todo) - len(rest)
		todo = rest
	}
	for len(todo) > 0 {
		if w.rollDue(cfg, &todo[0]) {
			if err := w.roll(ctx, cfg); err != nil {
				return done, w.p.wrap("roll", err)
			}
		}
		n := w.place(cfg, todo)
		if err := w.write(todo[:n]); err != nil {
			return done, w.p.wrap("append", err)
		}
		done.Next = w.tail.next
		done.Batches += n
		todo = todo[n:]
	}
	return done, nil
}

// place gives the batches that fit into the active segment their offsets and index
// entries, and returns how many these are: at least one.
func (w *Writer) place(cfg *Config, todo []placed) int {
	w.offsetIdx, w.timeIdx = w.offsetIdx[:0], w.timeIdx[:0]
	t := w.tail
	now := w.p.o.now().UnixMilli()
	n := 0
	for i := range todo {
		b := &todo[i]
		if n > 0 && rollDue(cfg, &t, b, now) {
			break
		}
		b.BaseOffset, b.LeaderEpoch = t.next, t.epoch
		segments.SetBaseOffset(b.raw, t.next)
		segments.SetLeaderEpoch(b.raw, t.epoch)
		if cfg.LogAppendTime() {
			segments.SetLogAppendTime(b.raw, now)
			b.MaxTimestamp = now
			b.Attributes |= logAppendTimeBit
		}
		if t.size == 0 {
			t.firstTS = b.MaxTimestamp
		}
		w.offsetIdx, w.timeIdx = t.index.Add(b.BatchHeader, t.base, t.size, int(cfg.IndexIntervalBytes), w.offsetIdx, w.timeIdx)
		t.lastPos = t.size
		t.size += b.Size()
		t.next = b.LastOffset() + 1
		n++
	}
	copy(t.lastHdr[:], todo[n-1].raw)
	w.active.next = t
	return n
}

// logAppendTimeBit is the attribute bit that SetLogAppendTime sets.
const logAppendTimeBit = 0x08

// write puts the placed batches at the end of the log, their index entries behind the
// indexes, and the new end into the hint. What it cannot write whole it takes back.
func (w *Writer) write(bs []placed) error {
	from := w.tail.size
	last := &bs[len(bs)-1]
	if _, err := w.active.log.WriteAt(w.input[bs[0].at:last.at+last.Size()], from); err != nil {
		return w.takeBack(from, err)
	}
	if err := w.active.writeIndexes(w.p, w.tail.index, w.offsetIdx, w.timeIdx); err != nil {
		return w.takeBack(from, err)
	}
	if w.shared {
		if err := w.settleShared(); err != nil {
			return w.takeBack(from, err)
		}
	}
	w.tail = w.active.next
	w.dur.pending = true
	w.writeHint()
	if w.sequenced {
		w.producers.append(w, bs)
	}
	return nil
}

// takeBack cuts what a failed append left, before the lock is given up, so that the
// next append does not land behind it. The hint still describes the log as it was.
func (w *Writer) takeBack(size int64, cause error) error {
	w.known = false
	if err := w.active.log.Truncate(size); err != nil {
		return errors.Join(cause, fmt.Errorf("cut the failed append: %w", err))
	}
	if err := w.active.cutIndexes(w.tail.index); err != nil {
		return errors.Join(cause, fmt.Errorf("cut the failed append: %w", err))
	}
	return cause
}

// writeHint stores where the log ends now. A hint that cannot be written is not an
// error of the append: the old one disagrees with the log and the next writer scans.
func (w *Writer) writeHint() {
	if w.shared {
		w.known = true
		return
	}
	// Also of two hints of one append the later one counts: the one that says that the
	// segment is being rolled.
	w.tail.appends = max(w.tail.appends, w.stored) + 1
	w.stored = w.tail.appends
	w.tail.encode(&w.raw)
	w.known = w.block.store(&w.raw) == nil
}

// findEnd makes tail the end of the log.
func (w *Writer) findEnd(ctx context.Context) error {
	if w.shared {
		return w.findEndShared(ctx)
	}
	if w.block == nil {
		b, err := openBlock(w.p, w.machine.boot, w.p.recoveryCheckpoint)
		if err != nil {
			return err
		}
		w.block = b
	}
	if err := w.block.refresh(); err != nil {
		return err
	}
	if w.known && w.block.holds(&w.raw) {
		// Our own last words: nobody has appended since. The size tells whether
		// something other than klog has.
		if size, err := w.active.size(); err == nil && size == w.tail.size {
			return nil
		}
	}
	t, readable := w.block.load()
	if readable && w.agrees(&t) {
		w.tail, w.known = t, true
		w.tail.encode(&w.raw)
		w.distrustRecoveryPoint()
		return nil
	}
	return w.rebuild(ctx, &t, readable)
}

// distrustRecoveryPoint drops a recovery point beyond the end of the log: it was
// carried here from another one.
func (w *Writer) distrustRecoveryPoint() {
	if w.block != nil && w.block.durable.Load() > w.tail.next {
		w.block.durable.Store(0)
		w.block.storeWords()
	}
}

// agrees reports whether the log ends where the hint says, and opens its active segment.
func (w *Writer) agrees(t *tail) bool {
	if t.flags != 0 || t.boot != w.machine.boot || !t.topic.fits(w.p.id) {
		return false
	}
	if err := w.active.open(w.p, t.base); err != nil {
		return false
	}
	if size, err := w.active.size(); err != nil || size != t.size {
		return false
	}
	if t.lastPos >= 0 && !w.active.hasHeader(t) {
		return false
	}
	if t.next == t.base {
		return true
	}
	_, err := w.p.fs.Stat(filepath.Join(w.p.dir, segments.SegmentName(t.next)+".log"))
	return errors.Is(err, fs.ErrNotExist)
}
