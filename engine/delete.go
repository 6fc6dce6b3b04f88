package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// DeleteTopic takes a topic away. Its partitions stay in the trash for topic.trash.ms,
// from where UndeleteTopic brings them back; with now they are removed at once. Writers
// are waited for, partition by partition: if one does not give way in time the error is a
// *LockedError and the topic is as it was. A process that is killed in the middle leaves
// a topic that is deleted.
func (r *Root) DeleteTopic(ctx context.Context, name string, now bool) (DeletedTopic, error) {
	if err := checkTopicName(name); err != nil {
		return DeletedTopic{}, err
	}
	rec, err := r.moveToTrash(ctx, name, now)
	if err != nil {
		return DeletedTopic{}, err
	}
	if now {
		_, err = r.purge(ctx, func(other *trashRecord) bool { return other.name == rec.name })
	}
	return rec.described(), err
}

func (r *Root) moveToTrash(ctx context.Context, name string, now bool) (*trashRecord, error) {
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	done, err := r.settle(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := r.Topic(name)
	if err != nil {
		// Perhaps an earlier attempt, which was killed, has just been finished.
		for _, in := range done {
			if in.Op == opDelete && in.Topic == name && !now {
				return in.Trash, nil
			}
		}
		return nil, err
	}
	in, err := r.deletion(t, now)
	if err != nil {
		return nil, fmt.Errorf("delete topic %s: %w", name, err)
	}
	if err := r.begin(in); err != nil {
		if now && noSpace(err) {
			err = r.deleteOnFullDisk(ctx, in)
		}
		if err != nil {
			return nil, fmt.Errorf("delete topic %s: %w", name, err)
		}
		return in.Trash, nil
	}
	if err := r.finishDelete(ctx, in, r.o.timeout(lockWait)); err != nil {
		err = errors.Join(err, r.undoDelete(in))
		return nil, fmt.Errorf("delete topic %s: %w", name, err)
	}
	return in.Trash, nil
}

// deletion is the intent of deleting a topic, with all that can bring it back.
func (r *Root) deletion(t *Topic, now bool) (*intent, error) {
	c, err := t.Config()
	if err != nil {
		return nil, err
	}
	checkpoints, err := r.topicCheckpoints(t.name)
	if err != nil {
		return nil, err
	}
	at := r.o.now().UnixMilli()
	rec := &trashRecord{
		Version: trashVersion, Topic: t.name, Partitions: t.Numbers(), Checkpoints: checkpoints,
		DeletedAt: at, RemoveAt: at, name: newID().hex(),
	}
	if !now {
		rec.RemoveAt += min(c.TopicTrashMs, maxInt64-at)
	}
	if !t.id.IsZero() {
		rec.ID = t.id.String()
	}
	for _, n := range rec.Partitions {
		rec.Dirs = append(rec.Dirs, segments.DeletedDirName(t.name, n, rec.rawID()))
		size, err := treeSize(r.fs, r.partitionPath(t.name, n))
		if err != nil {
			return nil, err
		}
		rec.Bytes += size
	}
	in := &intent{Op: opDelete, Topic: t.name, ID: rec.ID, Partitions: rec.Partitions, Trash: rec, name: rec.name}
	if t.entry {
		if rec.Entry, err = vfs.ReadFile(r.fs, r.entryPath(t.name)); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// finishDelete does what of a deletion is not done yet. The order on disk: the record
// that brings it back; the entry goes, and with it the topic; the directories, each under
// its partition's lock, so that no append is acknowledged into a directory that has
// moved; the checkpoints; the intent.
func (r *Root) finishDelete(ctx context.Context, in *intent, wait time.Duration) error {
	rec := in.Trash
	rec.name = in.name
	if err := r.writeTrash(rec); err != nil {
		return err
	}
	if err := r.removeEntry(in.Topic); err != nil {
		return err
	}
	for i, n := range in.Partitions {
		if err := r.movePartition(ctx, r.partitionPath(in.Topic, n), r.path(rec.Dirs[i]), in.ID, wait); err != nil {
			return err
		}
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	if err := r.setTopicCheckpoints(in.Topic, nil); err != nil {
		return err
	}
	return r.end(in)
}

// deleteOnFullDisk removes a topic for good where no space is left to write down that it
// is being done: it needs no new block. Killed in the middle, it leaves directories that
// are in the trash without a record, or still a topic's, and can be deleted again.
func (r *Root) deleteOnFullDisk(ctx context.Context, in *intent) error {
	for i, n := range in.Partitions {
		if err := r.movePartition(ctx, r.partitionPath(in.Topic, n), r.path(in.Trash.Dirs[i]), in.ID, r.o.timeout(lockWait)); err != nil {
			return errors.Join(err, r.restorePartitions(in))
		}
	}
	if err := r.removeEntry(in.Topic); err != nil {
		return err
	}
	if err := r.removeDirs(in.Trash); err != nil {
		return err
	}
	return r.setTopicCheckpoints(in.Topic, nil)
}

// noSpace reports whether err says that the disk or a quota is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// undoDelete brings back what a deletion that cannot go on has moved. No lock is needed:
// nobody writes to a directory of the trash. Where it fails too, the intent stays, and
// the deletion is finished by whoever comes next.
func (r *Root) undoDelete(in *intent) error {
	if err := r.restorePartitions(in); err != nil {
		return err
	}
	return r.finishRestore(in)
}

// movePartition renames a partition's directory under its append lock. One that is not
// there, or belongs to another topic, was moved before.
func (r *Root) movePartition(ctx context.Context, from, to, id string, wait time.Duration) error {
	has, err := readPartitionID(r.fs, from)
	if err != nil {
		return err
	}
	if _, err := r.fs.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if id != "" && !has.IsZero() && has.String() != id {
		return nil
	}
	unlock, err := r.lockPartition(ctx, from, wait)
	if err != nil {
		return err
	}
	defer unlock()
	return r.fs.Rename(from, to)
}

// lockPartition takes the append lock of the partition in dir. A link that leads nowhere
// has none.
func (r *Root) lockPartition(ctx context.Context, dir string, wait time.Duration) (unlock func(), err error) {
	if _, err := r.fs.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err := vfs.MkdirAll(r.fs, dir+"/"+stateDir); err != nil {
		return nil, err
	}
	return r.lock(ctx, dir+"/"+stateDir+"/"+lockFileName, wait)
}

// UndeleteTopic brings back the newest deleted topic of that name, with its id, config
// and records. The error is a *TopicExistsError if the name is in use, and a
// *UnknownTopicError if no deleted topic has it.
func (r *Root) UndeleteTopic(ctx context.Context, name string) (*Topic, error) {
	if err := checkTopicName(name); err != nil {
		return nil, err
	}
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	done, err := r.settle(ctx, name)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(done, func(in *intent) bool { return in.Op == opUndelete && in.Topic == name }) {
		return r.Topic(name)
	}
	rec, err := r.newestDeleted(name)
	if err != nil {
		return nil, err
	}
	if err := r.checkFree(name); err != nil {
		return nil, err
	}
	in := &intent{Op: opUndelete, Topic: name, ID: rec.ID, Partitions: rec.Partitions, Trash: rec, name: rec.name}
	if err := r.begin(in); err != nil {
		return nil, fmt.Errorf("undelete topic %s: %w", name, err)
	}
	if err := r.finishUndelete(in); err != nil {
		return nil, fmt.Errorf("undelete topic %s: %w", name, err)
	}
	return r.Topic(name)
}

func (r *Root) newestDeleted(name string) (*trashRecord, error) {
	recs, err := r.deleted()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, rec := range recs {
		if rec.Topic == name {
			return rec, nil
		}
		names = append(names, rec.Topic)
	}
	return nil, &UnknownTopicError{Name: name, Root: r.dir, Near: Nearest(name, names), Deleted: true}
}

// finishUndelete does what of an undelete is not done yet.
func (r *Root) finishUndelete(in *intent) error {
	in.Trash.name = in.name
	if err := r.restorePartitions(in); err != nil {
		return err
	}
	return r.finishRestore(in)
}

// restorePartitions renames a deleted topic's directories back.
func (r *Root) restorePartitions(in *intent) error {
	for i, n := range in.Partitions {
		from, to := r.path(in.Trash.Dirs[i]), r.partitionPath(in.Topic, n)
		if _, err := r.fs.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := r.fs.Rename(from, to); err != nil {
			return err
		}
	}
	return r.fs.SyncDir(r.dir)
}

// finishRestore makes a topic whose directories are back a topic again: checkpoints,
// then the entry, then what tells of the deletion goes.
func (r *Root) finishRestore(in *intent) error {
	rec := in.Trash
	if err := r.setTopicCheckpoints(in.Topic, rec.Checkpoints); err != nil {
		return err
	}
	if len(rec.Entry) > 0 {
		if err := r.writeRawEntry(in.Topic, rec.Entry); err != nil {
			return err
		}
	}
	if err := r.removeTrashRecord(rec.name); err != nil {
		return err
	}
	return r.end(in)
}
