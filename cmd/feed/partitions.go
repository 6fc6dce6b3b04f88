package feed

import (
	"context"
	"errors"
	"sync"
)

// partitions keeps the Writers of a run, a bounded number of them open at a time.
type partitions struct {
	target *Target
	mu     sync.Mutex
	open   []*opened
	clock  int64
}

// opened is a Writer that is open. A pinned one is not closed.
type opened struct {
	Writer
	partition int32
	pins      int
	used      int64
	next      int64 // behind what this Writer has appended
}

// pin returns the Writer of a partition, opened now if need be, and keeps it open until
// unpin.
func (p *partitions) pin(partition int32) (*opened, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock++
	if o := p.find(partition); o != nil {
		o.pins++
		o.used = p.clock
		return o, nil
	}
	if most := p.target.OpenWriters; most > 0 && len(p.open) >= most {
		p.closeOldest()
	}
	w, err := p.target.Open(partition)
	if err != nil {
		return nil, err
	}
	o := &opened{Writer: w, partition: partition, pins: 1, used: p.clock}
	p.open = append(p.open, o)
	return o, nil
}

// find returns the Writer of a partition if it is open. mu is held.
func (p *partitions) find(partition int32) *opened {
	for _, o := range p.open {
		if o.partition == partition {
			return o
		}
	}
	return nil
}

// sync makes a partition durable up to the offset next.
func (p *partitions) sync(ctx context.Context, partition int32, next int64) error {
	p.mu.Lock()
	o := p.find(partition)
	if o == nil || o.next < next {
		// Another Writer has appended it, and was closed to make room.
		p.mu.Unlock()
		return p.target.SyncTo(ctx, partition, next)
	}
	o.pins++
	p.mu.Unlock()
	defer p.unpin(o)
	return o.Sync(ctx)
}

// stillThere asks each Writer that is open.
func (p *partitions) stillThere() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.open {
		if err := o.StillThere(); err != nil {
			return err
		}
	}
	return nil
}

// appended takes note of what a pinned Writer has appended.
func (p *partitions) appended(o *opened, next int64) {
	p.mu.Lock()
	o.next = next
	p.mu.Unlock()
}

func (p *partitions) unpin(o *opened) {
	p.mu.Lock()
	o.pins--
	p.mu.Unlock()
}

// closeOldest closes the Writer that has been idle longest. What Close says does not
// matter: every append has been answered, and syncing needs no particular Writer.
func (p *partitions) closeOldest() {
	oldest := -1
	for i, o := range p.open {
		if o.pins == 0 && (oldest < 0 || o.used < p.open[oldest].used) {
			oldest = i
		}
	}
	if oldest < 0 {
		return
	}
	p.open[oldest].Close()
	p.open = append(p.open[:oldest], p.open[oldest+1:]...)
}

// close closes all of them. Nothing is pinned any more.
func (p *partitions) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, o := range p.open {
		errs = append(errs, o.Close())
	}
	p.open = nil
	return errors.Join(errs...)
}
