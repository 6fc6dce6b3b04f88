package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// AdoptOptions say how directories become topics.
type AdoptOptions struct {
	// As is the topic's name; "" keeps the one that the directories carry. It needs
	// directories of one topic only.
	As string
	// Progress is told how many bytes of a copy are done, from the goroutine that
	// copies; nil is told nothing.
	Progress func(done, total int64)
}

// Adopted tells what became of the directories of one topic.
type Adopted struct {
	Topic *Topic
	// Moved is set where the directories lay in the root and were renamed; else they
	// were copied and are still where they were.
	Moved bool
	// Empty are the partitions that were missing between the others and were made.
	Empty []int32
}

// AdoptTopic makes a topic of partition directories that were copied from elsewhere: dir
// is one of them or holds them, of one topic or of several. The topic gets a new id, so
// that nothing that was kept under the old one is taken for its own; what klog had noted
// about the directories is dropped. Configs and log start come along if dir was part of a
// root. Directories inside the root are renamed, others copied. A partition's directory
// that lies directly in the root stands for all of its topic.
func (r *Root) AdoptTopic(ctx context.Context, dir string, o AdoptOptions) ([]Adopted, error) {
	found, err := r.adoptable(dir, o.As)
	if err != nil {
		return nil, err
	}
	var all []Adopted
	for _, a := range found {
		adopted, err := r.adopt(ctx, a, o)
		if taken, ok := err.(*TopicExistsError); ok && taken.Name == a.name {
			return all, err // which names it
		}
		if err != nil {
			return all, fmt.Errorf("adopt topic %s: %w", a.name, err)
		}
		all = append(all, adopted)
	}
	return all, nil
}

// adopt makes one topic. What must be made or copied is made in a hidden directory of the
// root first, without the root's lock. Then the intent of making it takes the place of
// the intent that spoke of the hidden directory.
func (r *Root) adopt(ctx context.Context, a *adoption, o AdoptOptions) (Adopted, error) {
	e, err := r.adoptedEntry(a)
	if err != nil {
		return Adopted{}, err
	}
	if err := r.checkAdoptable(a); err != nil {
		return Adopted{}, err
	}
	in := &intent{Op: opAdopt, Topic: a.name, ID: e.id.String(), name: newID().hex()}
	if in.Checkpoints, err = a.checkpoints(r); err != nil {
		return Adopted{}, err
	}
	staged, err := r.stage(ctx, in.name)
	if err != nil {
		return Adopted{}, err
	}
	defer staged.release()
	out := Adopted{Moved: a.moved}
	if out.Empty, err = r.fillStage(ctx, a, e, in, o); err != nil {
		return Adopted{}, errors.Join(err, staged.drop())
	}
	begun, err := r.commitAdoption(ctx, a, e, in)
	if err != nil {
		if !begun {
			err = errors.Join(err, staged.drop())
		}
		return Adopted{}, err
	}
	out.Topic, err = r.Topic(a.name)
	return out, err
}

// commitAdoption makes the topic of what lies ready. Once it has begun, whoever comes
// next finishes it.
func (r *Root) commitAdoption(ctx context.Context, a *adoption, e *entry, in *intent) (begun bool, err error) {
	unlock, err := r.change(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if _, err := r.settle(ctx, a.name, a.from); err != nil {
		return false, err
	}
	if err := r.checkAdoptable(a); err != nil {
		return false, err
	}
	if err := r.waitForWriters(ctx, a); err != nil {
		return false, err
	}
	b, err := e.encode()
	if err != nil {
		return false, err
	}
	in.Entry = json.RawMessage(b)
	if err := r.begin(in); err != nil {
		return false, err
	}
	return true, r.finishAdopt(ctx, in, r.o.timeout(lockWait))
}

// waitForWriters finds out whether some writer holds a directory that is to be renamed,
// while nothing has been changed yet.
func (r *Root) waitForWriters(ctx context.Context, a *adoption) error {
	if !a.moved {
		return nil
	}
	for _, dir := range a.dirs {
		unlock, err := r.lockPartition(ctx, dir, r.o.timeout(lockWait))
		if err != nil {
			return err
		}
		unlock()
	}
	return nil
}

// finishAdopt does what of an adoption is not done yet. Each partition gets its name, its
// id and a clean state of klog's under its lock; then come checkpoints, entry, intent.
func (r *Root) finishAdopt(ctx context.Context, in *intent, wait time.Duration) error {
	id, err := ParseTopicID(in.ID)
	if err != nil {
		return err
	}
	for i, n := range in.Partitions {
		if err := r.adoptPartition(ctx, r.path(in.Sources[i]), r.partitionPath(in.Topic, n), id, wait); err != nil {
			return err
		}
	}
	// The names that they have now first, or a power cut could take both.
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	if err := removeTree(r.fs, r.stagePath(in.name)); err != nil {
		return err
	}
	for _, s := range in.Sources {
		if topic, _, ok := segments.ParsePartitionDir(s); ok && topic != in.Topic {
			if err := r.setTopicCheckpoints(topic, nil); err != nil {
				return err
			}
		}
	}
	return r.finishNaming(in, in.Topic, in.Topic)
}

func (r *Root) adoptPartition(ctx context.Context, from, to string, id TopicID, wait time.Duration) error {
	if from != to {
		_, err := r.fs.Lstat(from)
		if err == nil {
			unlock, err := r.lockPartition(ctx, from, wait)
			if err != nil {
				return err
			}
			err = r.fs.Rename(from, to)
			unlock()
			if err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	unlock, err := r.lockPartition(ctx, to, wait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.dropState(to); err != nil {
		return err
	}
	return vfs.WriteFile(r.fs, filepath.Join(to, segments.PartitionMetaName), segments.EncodePartitionMeta(id))
}

// dropState removes what klog had noted about a partition, but for the lock file, which
// is never removed.
func (r *Root) dropState(dir string) error {
	files, err := r.fs.ReadDir(filepath.Join(dir, stateDir))
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name() == lockFileName {
			continue
		}
		if err := removeTree(r.fs, filepath.Join(dir, stateDir, f.Name())); err != nil {
			return err
		}
	}
	return r.fs.SyncDir(filepath.Join(dir, stateDir))
}
