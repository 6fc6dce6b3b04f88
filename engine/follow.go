package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klog-project/klog/segments"
)

// FollowOptions say what a Follower follows.
type FollowOptions struct {
	// Topic, where it is not nil, is asked for partitions that are added later. They are
	// read from their beginning.
	Topic *Topic
	// Wants says which of those are wanted; nil means all.
	Wants func(partition int32) bool
	// View and Reader are the options of those partitions; From and Until are not used.
	View   ViewOptions
	Reader ReaderOptions
	// Notice receives lines for the user; nil drops them.
	Notice func(line string)
}

// Follower reads records of several partitions in the order in which they arrive, for
// as long as they do.
//
//	for {
//		r, rec, err := f.Next()
//		if err == io.EOF {
//			err = f.Wait(ctx)
//			…
//
// A Follower belongs to one goroutine.
type Follower struct {
	o       FollowOptions
	waker   *Waker
	topic   *Topic
	known   map[int32]bool // partitions of the topic that were there, wanted or not
	readers []*followed    // in the order of their partitions
	byDir   map[string]*followed
	queue   []*followed // those that may have something new
	looked  time.Time   // when new partitions were last looked for
	busy    bool        // something was read since the last Wait
	run     int         // records read since a partition had its turn
}

type followed struct {
	r      *Reader
	queued bool
}

// lookForPartitions is how long a partition that was added may go unnoticed.
const lookForPartitions = time.Second

// NewFollower follows on from where the readers stand, which have no Until. It takes
// them over: Close closes them.
func NewFollower(readers []*Reader, o FollowOptions) *Follower {
	f := &Follower{
		o:     o,
		waker: NewWaker(o.Notice),
		topic: o.Topic,
		known: make(map[int32]bool),
		byDir: make(map[string]*followed),
	}
	if f.topic != nil {
		for _, n := range f.topic.Numbers() {
			f.known[n] = true
		}
		f.waker.Watch(f.topic.root.dir)
	}
	for _, r := range readers {
		f.add(r)
	}
	return f
}

// add watches the reader's partition and lets it be read.
func (f *Follower) add(r *Reader) {
	x := &followed{r: r}
	f.readers = append(f.readers, x)
	f.byDir[r.v.p.dir] = x
	f.waker.Watch(r.v.p.dir)
	f.enqueue(x)
}

func (f *Follower) enqueue(x *followed) {
	if !x.queued {
		x.queued = true
		f.queue = append(f.queue, x)
	}
}

// Close closes all readers and ends the watch.
func (f *Follower) Close() error {
	for _, x := range f.readers {
		x.r.Close()
	}
	return f.waker.Close()
}

// Next returns the next record that has arrived, and whose it is; it lives until the
// next call. The error is io.EOF where nothing more is there for now: Wait. Other
// errors are those of Reader.Next, with the reader.
func (f *Follower) Next() (*Reader, *segments.Record, error) {
	for len(f.queue) > 0 {
		x := f.queue[0]
		rec, err := x.r.Next()
		if err == nil {
			f.busy = true
			f.turn()
			return x.r, rec, nil
		}
		if err != io.EOF {
			return x.r, nil, err
		}
		x.queued = false
		f.queue = f.queue[1:]
		if len(f.readers) > openAtOnce {
			x.r.Park()
		}
	}
	return nil, nil, io.EOF
}

// turn lets another partition come next once one has had its share.
func (f *Follower) turn() {
	const share = 1000 // records
	if f.run++; f.run < share || len(f.queue) < 2 {
		return
	}
	f.run = 0
	f.queue = append(f.queue[1:], f.queue[0])
}

// Wait waits until something may have arrived. The error is ctx's cause, or
// ErrTopicGone.
func (f *Follower) Wait(ctx context.Context) error {
	dirs, all, err := f.waker.Wait(ctx, f.busy)
	f.busy = false
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if x, ok := f.byDir[dir]; ok {
			f.enqueue(x)
		} else {
			f.looked = time.Time{} // something has happened in the root
		}
	}
	if all {
		for _, x := range f.readers {
			f.enqueue(x)
		}
	}
	return f.growth()
}

// growth takes in partitions that were added to the topic.
func (f *Follower) growth() error {
	if f.topic == nil || time.Since(f.looked) < lookForPartitions {
		return nil
	}
	f.looked = time.Now()
	now, err := f.topic.root.Topic(f.topic.name)
	switch {
	case errors.Is(err, ErrUnknownTopic), err == nil && now.id != f.topic.id:
		return fmt.Errorf("%s: %w", f.topic.name, ErrTopicGone)
	case err != nil:
		return err
	}
	for _, n := range now.Numbers() {
		if f.known[n] {
			continue
		}
		f.known[n] = true
		if f.o.Wants != nil && !f.o.Wants(n) {
			continue
		}
		if err := f.join(now, n); err != nil {
			return err
		}
	}
	return nil
}

// join begins to read a partition that was added.
func (f *Follower) join(t *Topic, n int32) error {
	p, err := t.Partition(n)
	if err != nil {
		return err
	}
	f.waker.Watch(p.dir)
	v, err := p.View(f.o.View)
	if err != nil {
		return err
	}
	o := f.o.Reader
	o.From, o.Until = v.start, -1
	r, err := v.Reader(o)
	if err != nil {
		return err
	}
	f.add(r)
	return nil
}
