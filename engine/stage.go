package engine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// staged is a hidden directory of the root in which something is being made, and the lock
// that tells others that somebody is at it.
type staged struct {
	r    *Root
	in   *intent
	lock *vfs.Held
}

// stage makes the hidden directory of that name, after recording the intent.
func (r *Root) stage(ctx context.Context, name string) (*staged, error) {
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	in := &intent{Op: opStage, name: name}
	if err := r.begin(in); err != nil {
		return nil, err
	}
	s := &staged{r: r, in: in}
	err = vfs.Mkdir(r.fs, r.stagePath(name))
	if err == nil {
		s.lock, err = vfs.TryLock(r.fs, filepath.Join(r.stagePath(name), lockFileName))
	}
	if err != nil {
		return nil, errors.Join(err, s.drop())
	}
	return s, nil
}

// drop removes the hidden directory and its intent.
func (s *staged) drop() error { return s.r.dropStage(s.in) }

// release tells others that nobody is at it any more.
func (s *staged) release() {
	if s.lock != nil {
		_ = s.lock.Unlock()
	}
}

// undoStage removes a hidden directory that nobody is at any more.
func (r *Root) undoStage(in *intent) error {
	lock, err := vfs.TryLock(r.fs, filepath.Join(r.stagePath(in.name), lockFileName))
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil
	case errors.Is(err, fs.ErrNotExist): // killed before it was made
	case err != nil:
		return err
	default:
		defer lock.Unlock()
	}
	return r.dropStage(in)
}

// fillStage copies what lies outside the root, makes what is missing, and says in the
// intent where each partition is to be found.
func (r *Root) fillStage(ctx context.Context, a *adoption, e *entry, in *intent, o AdoptOptions) (empty []int32, err error) {
	stage := r.stagePath(in.name)
	progress := &copyProgress{tell: o.Progress}
	if !a.moved {
		for _, dir := range a.dirs {
			size, err := treeSize(r.fs, dir)
			if err != nil {
				return nil, err
			}
			progress.total += size
		}
	}
	for n := range int32(e.partitions) {
		to := filepath.Join(stage, segments.PartitionDir(a.name, n))
		from, ok := a.dirs[n]
		switch {
		case !ok:
			empty = append(empty, n)
			err = r.makePartition(to, e.id)
		case a.moved:
			to = from
		default:
			err = r.copyPartition(ctx, from, to, e.id, progress)
		}
		if err != nil {
			return nil, err
		}
		rel, err := r.relative(to)
		if err != nil {
			return nil, err
		}
		in.Partitions, in.Sources = append(in.Partitions, n), append(in.Sources, rel)
	}
	// The intent that will speak of them must not outlive them.
	if err := r.fs.SyncDir(stage); err != nil {
		return nil, err
	}
	return empty, r.fs.SyncDir(r.dir)
}
