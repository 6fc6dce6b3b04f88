package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"
	"time"

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

	mu      sync.Mutex // after syncing; guards what follows
	closed  bool
	lock    lockFile
	gone    func() error // stillThere, made once
	patient patience
	release func() // ends the hold of the critical section
	block   *block
	cut     []*block // blocks whose file somebody cut; a sync may still look at them
	active  activeSegment
	tail    tail
	raw     [hintSize]byte // the hint that tail was read from or written to
	known   bool           // tail agrees with raw
	stored  uint64         // append counter of the last hint that was written
	dur     *durability

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
	w.lock = lockFile{fsys: p.fs, path: p.lockPath(), program: p.o.Program}
	w.gone = w.stillThere
	w.patient = patience{limit: o.LockTimeout, notice: p.o.notice, what: p}
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
	for _, b := range w.cut {
		b.close()
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
	if err := w.enter(ctx); err != nil {
		return Appended{}, err
	}
	defer w.leave()
	return w.appendLocked(ctx, cfg)
}

// guard turns a fault on the mapped block into an error: somebody cut the file. was is
// the goroutine's setting to go back to. mu is held.
func (w *Writer) guard(was bool, err *error) {
	debug.SetPanicOnFault(was)
	if r := recover(); r != nil {
		*err = w.faulted("append", w.block, r)
	}
}

// faulted gives up a block whose file was cut: the next append opens it anew. What was
// recovered is passed on if it is no fault. mu is held.
func (w *Writer) faulted(step string, b *block, recovered any) error {
	if _, fault := recovered.(interface{ Addr() uintptr }); !fault || b == nil {
		panic(recovered)
	}
	w.known = false
	if w.block == b {
		w.block, w.cut = nil, append(w.cut, b)
	}
	return w.p.wrap(step, fmt.Errorf("%s was cut while it was in use", b.f.Name()))
}

// enter begins a critical section, which leave ends: the lock is held, the locked file is
// the one at its path, and tail is the end of the log.
func (w *Writer) enter(ctx context.Context) error {
	if err := w.take(ctx); err != nil {
		return w.p.wrap("append", err)
	}
	if err := w.findEnd(ctx); err != nil {
		w.known = false
		w.leave()
		return w.p.wrap("append", err)
	}
	return nil
}

// take is enter without a look at the log.
func (w *Writer) take(ctx context.Context) error {
	w.release = w.p.o.hold()
	was := w.lock.id
	err := w.lock.acquire(ctx, w.patient, w.gone)
	if err != nil {
		w.release()
		return err
	}
	if w.block != nil && w.lock.id != was {
		// The lock file was lost, and perhaps all that lay beside it: a block that is
		// not the one at its path is shared with nobody.
		w.block, w.cut, w.known = nil, append(w.cut, w.block), false
	}
	return nil
}

func (w *Writer) leave() {
	w.active.leave()
	w.lock.release()
	w.release()
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

// StillThere is ErrTopicGone if the partition's directory is not the one that was opened,
// and nil if it is. It costs one stat.
func (w *Writer) StillThere() error { return w.p.wrap("sync", w.stillThere()) }

// bootTime is when the machine was booted. It is asked only when a hint is made: the
// answer costs more than an append.
func (w *Writer) bootTime() int64 {
	if w.booted == 0 {
		w.booted = w.machine.btime()
	}
	return w.booted
}
