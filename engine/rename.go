package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// RenameTopic gives a topic another name. It keeps its id, config and records. Writers
// are waited for as in DeleteTopic; for a moment the topic has neither name.
func (r *Root) RenameTopic(ctx context.Context, name, to string) (*Topic, error) {
	if err := checkTopicName(name); err != nil {
		return nil, err
	}
	if err := checkNewTopicName(to); err != nil {
		return nil, err
	}
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	done, err := r.settle(ctx, name, to)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(done, func(in *intent) bool { return in.Op == opRename && in.Topic == name && in.To == to }) {
		return r.Topic(to)
	}
	t, err := r.Topic(name)
	if err != nil {
		return nil, err
	}
	if err := r.checkFree(to, name); err != nil {
		return nil, err
	}
	in := &intent{Op: opRename, Topic: name, To: to, Partitions: t.Numbers()}
	if !t.id.IsZero() {
		in.ID = t.id.String()
	}
	if t.entry {
		if in.Entry, err = vfs.ReadFile(r.fs, r.entryPath(name)); err != nil {
			return nil, err
		}
	}
	if in.Checkpoints, err = r.topicCheckpoints(name); err != nil {
		return nil, err
	}
	if err := r.begin(in); err != nil {
		return nil, fmt.Errorf("rename topic %s: %w", name, err)
	}
	if err := r.finishRename(ctx, in, r.o.timeout(lockWait)); err != nil {
		err = errors.Join(err, r.undoRename(in))
		return nil, fmt.Errorf("rename topic %s: %w", name, err)
	}
	return r.Topic(to)
}

// finishRename does what of a rename is not done yet.
func (r *Root) finishRename(ctx context.Context, in *intent, wait time.Duration) error {
	if err := r.removeEntry(in.Topic); err != nil {
		return err
	}
	for _, n := range in.Partitions {
		if err := r.movePartition(ctx, r.partitionPath(in.Topic, n), r.partitionPath(in.To, n), in.ID, wait); err != nil {
			return err
		}
	}
	return r.finishNaming(in, in.Topic, in.To)
}

// undoRename brings the old name back after a rename that cannot go on. Where it fails
// too, the intent stays, and the rename is finished by whoever comes next.
func (r *Root) undoRename(in *intent) error {
	if err := r.removeEntry(in.To); err != nil {
		return err
	}
	for _, n := range in.Partitions {
		// No entry tells of the new name, so nobody writes there.
		if err := r.movePartition(context.Background(), r.partitionPath(in.To, n), r.partitionPath(in.Topic, n), in.ID, r.o.timeout(lockWait)); err != nil {
			return err
		}
	}
	return r.finishNaming(in, in.To, in.Topic)
}

// finishNaming makes directories that are called by a topic's name a topic.
func (r *Root) finishNaming(in *intent, not, name string) error {
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	if err := r.setTopicCheckpoints(not, nil); err != nil {
		return err
	}
	if err := r.setTopicCheckpoints(name, in.Checkpoints); err != nil {
		return err
	}
	if len(in.Entry) > 0 {
		if err := r.writeRawEntry(name, in.Entry); err != nil {
			return err
		}
	}
	return r.end(in)
}
