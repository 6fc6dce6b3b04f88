package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// runFollow is produce --follow.
func runFollow(ctx context.Context, e *Env, o produceOptions, f feed.Options) error {
	switch {
	case f.Stream != nil:
		return usagef("--follow: records of this format end where their fields do, not with a line")
	case o.partitioner == engine.RoundRobin:
		return usagef("--partitioner round-robin: the lines of a followed file keep their order, in one partition or one for each key")
	}
	path, err := filepath.Abs(o.follow)
	if err != nil {
		return err
	}
	t, err := openTarget(ctx, e, o)
	if err != nil {
		return err
	}
	t.configure(e, &o, &f)
	fo := t.followOptions(e, &o, path)
	fo.Durable = f.Sync.Exit
	unlock, err := t.lockFollow(path, fo.State)
	if err != nil {
		return err
	}
	defer unlock()
	ctx, done := o.output(ctx, e, &f)
	defer done()
	watch := watchFeed(e, &f, -1)
	defer watch.stop()
	res, err := feed.Follow(ctx, f, fo)
	return watch.end(res, err)
}

// followOptions connect a follow with the topic.
func (t *produceTarget) followOptions(e *Env, o *produceOptions, path string) feed.FollowOptions {
	home := int32(o.partition)
	if home < 0 {
		h := fnv.New32a()
		h.Write([]byte(path))
		home = int32(h.Sum32() % uint32(t.topic.Partitions()))
	}
	writer := func(n int32) (*engine.Writer, error) {
		p, err := t.topic.Partition(n)
		if err != nil {
			return nil, err
		}
		return p.OpenWriter(engine.WriterOptions{LockTimeout: o.lockTimeout(e)})
	}
	return feed.FollowOptions{
		Path:    path,
		State:   followState(t.topic, path),
		TopicID: t.topic.ID().String(),
		Home:    home,
		LastSequence: func(ctx context.Context, n int32, producer int64) (int32, int64, bool, error) {
			w, err := writer(n)
			if err != nil {
				return 0, 0, false, err
			}
			defer w.Close()
			return w.LastSequence(ctx, producer)
		},
		NewProducer: func(ctx context.Context) (int64, error) {
			w, err := writer(home)
			if err != nil {
				return 0, err
			}
			defer w.Close()
			return w.NewProducerID(ctx)
		},
		Notice: e.Notice,
	}
}

// followState is the file in which a follow of the file path remembers how far it came.
// A path may be longer than a file's name and hold anything, so its hash stands there.
func followState(t *engine.Topic, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(t.Root().Dir(), ".klog", "follow", t.Name()+"-"+hex.EncodeToString(sum[:8]))
}

// followedError tells that a file is being followed into the topic already.
type followedError struct {
	path, topic string
	held        *engine.LockedError
}

func (f *followedError) Error() string {
	return fmt.Sprintf("%s: is being followed into %s already, by %s", f.path, f.topic, f.held.Holder)
}

func (f *followedError) Unwrap() error { return f.held }

// lockFollow keeps a second run of the same follow away, until unlock.
func (t *produceTarget) lockFollow(path, state string) (unlock func(), err error) {
	if err := vfs.MkdirAll(vfs.OS, filepath.Dir(state)); err != nil {
		return nil, err
	}
	held, err := t.topic.Root().Hold(state + ".lock")
	var locked *engine.LockedError
	if errors.As(err, &locked) {
		return nil, &followedError{path, t.topic.Name(), locked}
	}
	if err != nil {
		return nil, err
	}
	return func() { held.Unlock() }, nil
}
