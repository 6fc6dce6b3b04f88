package feed

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Grace is how long an append may still wait for a lock once a signal has asked for
// the end.
const Grace = 2 * time.Second

// feed is one run.
type feed struct {
	o        Options
	frame    framing
	src      source
	baton    baton
	turns    turns
	seq      int64 // of the next chunk; belongs to the baton
	finished bool  // the last chunk has been read; belongs to the baton
	stopped  atomic.Bool
	d        delivery
	pace     *pace

	workers sync.WaitGroup
	second  sync.Once
}

// Run feeds the inputs into the topic until they end, something fails, or ctx ends. In
// the last two cases the error is a *StopError, with the cause of ctx in it if that has
// ended; what had been read by then is appended, and what was appended is synced as
// Options.Sync says.
func Run(ctx context.Context, o Options) (Result, error) {
	o = o.withDefaults()
	return run(ctx, o, nil)
}

// run is Run, or the run of a follow, which brings an input of its own.
func run(ctx context.Context, o Options, follow *follower) (Result, error) {
	f := &feed{o: o, frame: newFraming(o.Delimiter, o.Whole)}
	appending := newLateContext(ctx, Grace)
	defer appending.release()

	parts := &partitions{target: &f.o.Target}
	f.d = delivery{
		o: &f.o, frame: &f.frame, ctx: appending, parts: parts, follow: follow,
		several: o.Target.Partitions > 1 && (o.Partition < 0 || o.OwnPartition),
	}
	f.d.durable = newDurable(appending, o.Sync, parts, f.interrupt)
	f.src = source{
		inputs: o.Inputs, frame: f.frame, line: o.Limits.Line, linger: o.Linger, enough: o.Limits.Batch,
		wait: waiter{parent: ctx, begun: o.Begun}, millis: func() int64 { return o.Now().UnixMilli() }, follow: follow,
	}
	if f.src.chunk = chunkSize; f.d.several {
		f.src.chunk = wideChunk
	}
	var seq *sequences
	if follow != nil {
		follow.feed, seq = f, follow.seq
	}
	defer f.src.close()
	if o.Rate > 0 {
		f.pace = newPace(o.Rate)
	}
	if o.Stream != nil {
		f.stream(seq)
	} else {
		f.work(seq)
		f.workers.Wait()
	}
	return f.end(ctx)
}

// interrupt ends a run that may be waiting for input.
func (f *feed) interrupt(err error) {
	f.stopped.Store(true)
	f.src.wait.interrupt(err)
}

// end syncs, closes and makes the result.
func (f *feed) end(ctx context.Context) (Result, error) {
	d := &f.d
	if err := d.durable.finish(d.ctx); err != nil {
		d.halt(err)
	}
	if err := d.parts.close(); err != nil {
		d.halt(err)
	}
	signalled := f.src.wait.ended() && ctx.Err() != nil
	if signalled && !f.src.exhausted() {
		d.halt(context.Cause(ctx))
	}
	if d.stop == nil {
		return d.res, nil
	}
	// A lock that was given up because of a signal is the signal's doing.
	if signalled && errors.Is(d.stop.Err, context.Canceled) {
		d.stop.Err = context.Cause(ctx)
	}
	d.stop.Safe = d.res.Safe
	return d.res, d.stop
}

// startSecond starts the second worker, once there is work for two.
func (f *feed) startSecond() {
	if f.o.Workers == 0 && runtime.GOMAXPROCS(0) == 1 {
		return
	}
	f.second.Do(func() { f.workers.Go(func() { f.work(nil) }) })
}

// alone reports whether chunks are handled one at a time: their order, their number or
// their speed is told while they are encoded.
func (f *feed) alone(seq *sequences) bool { return f.o.Workers == 1 || seq != nil || f.pace != nil }

// work is a worker.
func (f *feed) work(seq *sequences) {
	var buf memory
	e := newEncoder(&f.o, &f.frame, seq)
	alone := f.alone(seq)
	defer buf.release()
	defer e.release()
	f.baton.take()
	for {
		if f.finished || f.stopped.Load() {
			f.baton.pass()
			return
		}
		c, err := f.src.next(&buf)
		c.seq = f.seq
		f.seq++
		f.finished = c.end || err != nil
		full := len(c.data) >= handOver && len(c.data) < longChunk && !c.end && !alone
		if len(c.data) >= handOver {
			f.src.wait.listen()
		}
		if full {
			f.baton.pass()
			f.startSecond()
		}
		f.handle(&c, e, err)
		if len(buf.b) > 2*longChunk {
			buf.release()
		}
		if full {
			f.baton.take()
		}
	}
}

// handOver is the size from which a chunk is worth waking the other worker for.
const handOver = 128 << 10

// handle encodes and appends a chunk. err is why nothing comes behind it.
func (f *feed) handle(c *chunk, e *encoder, err error) {
	defer f.turns.done(c.seq)
	switch {
	case !c.holdsRecords():
		e.reset(c)
	case f.pace != nil:
		f.pace.handle(f, c, e, err)
		return
	default:
		e.encode(c)
	}
	if e.failed.err == nil {
		e.failed.err = err
	}
	f.turns.wait(c.seq)
	f.deliver(c, e)
}

// deliver appends what the encoder holds; the caller has the turn.
func (f *feed) deliver(c *chunk, e *encoder) {
	f.d.deliver(c, e)
	if f.d.stop != nil {
		f.stopped.Store(true)
	}
}
