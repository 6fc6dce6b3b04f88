package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/klog-project/klog/engine"
)

// durable makes what is appended durable, as far and as early as the policy wants.
//
// While a run goes on, a goroutine syncs beside the appends, half of Sync.Bytes before
// the limit: an append waits for it only where the disk is slower than the input.
type durable struct {
	policy Sync
	parts  *partitions
	ctx    context.Context // of what is synced while a run goes on
	failed func(error)     // told of a failure while nothing is appended

	mu      sync.Mutex
	idle    sync.Cond
	dirty   map[int32]int64 // by partition: the end of what is not synced
	bytes   int64           // appended and not synced, what is being synced included
	records int64
	safe    int64 // input records that are safe
	known   int64 // of them, those that are known to be on disk
	running bool
	timer   *time.Timer // runs while something is not synced and Every is set
	err     error       // a sync failed: it sticks
}

func newDurable(ctx context.Context, policy Sync, parts *partitions, failed func(error)) *durable {
	d := &durable{policy: policy, parts: parts, ctx: ctx, failed: failed, dirty: map[int32]int64{}}
	d.idle.L = &d.mu
	return d
}

// appended is told what an append to a partition has added, up to the offset next.
func (d *durable) appended(partition int32, next, bytes, records int64) {
	d.mu.Lock()
	d.dirty[partition] = next
	d.bytes += bytes
	d.records += records
	d.mu.Unlock()
}

// settle is called when a chunk has been appended, safe being how many input records
// are safe if it returns nil: what the policy wants on disk by then is.
func (d *durable) settle(ctx context.Context, safe int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.safe = safe
	p := &d.policy
	if d.err == nil && (p.Batch || p.Messages > 0 && d.records >= p.Messages) {
		return d.syncNow(ctx)
	}
	if d.err == nil && p.Bytes > 0 && d.bytes >= p.Bytes/2 && !d.running {
		d.running = true
		go d.background()
	}
	for d.err == nil && p.Bytes > 0 && d.bytes >= p.Bytes && d.running {
		d.idle.Wait()
	}
	if p.Every > 0 && d.timer == nil && len(d.dirty) > 0 {
		d.timer = time.AfterFunc(p.Every, d.tick)
	}
	return d.err
}

// syncNow syncs everything and waits for it. mu is held.
func (d *durable) syncNow(ctx context.Context) error {
	for d.running {
		d.idle.Wait()
	}
	if d.err == nil && len(d.dirty) > 0 {
		d.running = true
		d.run(ctx)
	}
	return d.err
}

// tick syncs what has not been synced for the longest time allowed.
func (d *durable) tick() {
	d.mu.Lock()
	d.timer = nil
	start := !d.running && d.err == nil && len(d.dirty) > 0
	d.running = d.running || start
	d.mu.Unlock()
	if start {
		d.background()
	}
}

func (d *durable) background() {
	d.mu.Lock()
	d.run(d.ctx)
	err := d.err
	d.mu.Unlock()
	if err != nil {
		d.failed(err)
	}
}

// run syncs what is dirty now. It is called with mu held and running set, and gives mu
// up while it syncs.
func (d *durable) run(ctx context.Context) {
	dirty, bytes, records, safe := d.dirty, d.bytes, d.records, d.safe
	d.dirty = map[int32]int64{}
	d.mu.Unlock()
	err := d.syncAll(ctx, dirty)
	d.mu.Lock()
	d.running = false
	if err != nil {
		d.err = d.wrap(err)
	} else {
		d.known = max(d.known, safe)
		d.bytes -= bytes
		d.records -= records
	}
	d.idle.Broadcast()
}

func (d *durable) syncAll(ctx context.Context, ends map[int32]int64) error {
	for p, next := range ends {
		if err := d.parts.sync(ctx, p, next); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the work of a run. With Sync.Exit everything is on disk when it returns
// nil.
func (d *durable) finish(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.policy.Exit || d.policy.Batch {
		if err := d.syncNow(ctx); err != nil {
			return err
		}
		d.err = d.parts.stillThere()
		return d.err
	}
	for d.running {
		d.idle.Wait()
	}
	return d.err
}

// wrap is the error of a run whose sync failed. What is known to be on disk is no matter
// where the topic is gone. mu is held.
func (d *durable) wrap(err error) error {
	if errors.Is(err, engine.ErrTopicGone) {
		return err
	}
	return &SyncError{Durable: d.known, Err: err}
}

// syncEverything syncs what is not on disk yet, whatever the policy.
func (d *durable) syncEverything(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncNow(ctx)
}

// knownSafe is how many of the input records that are safe are known to be on disk.
func (d *durable) knownSafe() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known
}
