package show

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// Copy prints what a bounded reader has. It ends early at the limit, with an error of
// the reader, or with ctx's cause.
//
// Two workers each do the whole job: take the next run of batches, check, decode and
// format them in memory of their own, and write when it is their turn. Where something
// is wrong with a batch, the reader goes back to it and says what.
func (p *Printer) Copy(ctx context.Context, r *engine.Reader) error {
	for {
		c := &copying{p: p, r: r, source: p.source(r), start: r.Offset()}
		_, c.until = r.Bounds()
		c.turn.L = &c.mu
		if err := c.run(ctx); err != nil || c.bad == nil {
			return err
		}
		switch err := p.carefully(r, c.next, c.bad.LastOffset()); {
		case err == io.EOF:
			return nil
		case err != nil || p.Full():
			return err
		}
	}
}

// carefully prints from an offset on record by record, to the first one behind the
// offset last: only then has the reader said all that is to be said of the batch.
func (p *Printer) carefully(r *engine.Reader, from, last int64) error {
	r.Back(from)
	for passed := false; !passed && !p.Full(); {
		rec, err := r.Next()
		if err == nil {
			passed = rec.Offset > last
			err = p.record(r, rec)
		}
		if err != nil {
			if ferr := p.flush(); ferr != nil {
				return ferr
			}
			return err
		}
	}
	return p.flush()
}

// copying is one run of workers over a reader.
type copying struct {
	p            *Printer
	r            *engine.Reader
	source       *format.Source
	start, until int64 // offsets of the run's records; until is exclusive
	alone        bool  // one worker is at work

	reading sync.Mutex  // held by the worker that takes the next chunk
	taken   int64       // chunks taken; guarded by reading
	ended   atomic.Bool // nothing is left to take

	mu   sync.Mutex
	turn sync.Cond // for changes of what follows; its lock is mu
	done int64     // chunks written: whose turn it is
	stop bool      // nothing more is to be written

	// Of the worker whose turn it is:
	next int64           // the offset that follows what was written
	bad  *segments.Batch // the header of the batch that something is wrong with
	err  error
}

// workers that copy a reader. With a limit or a running number what one may write
// depends on what the one before has written.
func (c *copying) workers() int {
	if c.p.o.Limit >= 0 || c.p.o.Numbered || runtime.GOMAXPROCS(0) < 2 {
		return 1
	}
	return 2
}

func (c *copying) run(ctx context.Context) error {
	var wg sync.WaitGroup
	n := c.workers()
	c.alone = n == 1
	for range n - 1 {
		wg.Go(func() { c.worker().work(ctx) })
	}
	c.worker().work(ctx)
	wg.Wait()
	return c.err
}

func (c *copying) worker() *worker { return &worker{c: c, format: format.Own(c.p.o.Format)} }
