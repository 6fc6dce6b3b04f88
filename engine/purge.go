package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// PurgeTrash removes for good the deleted topics whose time has come, and what an earlier
// removal left. It holds the root's lock only while it marks them, so that an undelete
// gets all of a topic or nothing. It returns what went.
func (r *Root) PurgeTrash(ctx context.Context, now time.Time) ([]DeletedTopic, error) {
	return r.purge(ctx, func(rec *trashRecord) bool { return rec.RemoveAt <= now.UnixMilli() })
}

// RemoveDeleted removes for good all deleted topics of that name, whatever their age,
// also those that only directories tell of. It returns what went.
func (r *Root) RemoveDeleted(ctx context.Context, name string) ([]DeletedTopic, error) {
	gone, err := r.purge(ctx, func(rec *trashRecord) bool { return rec.Topic == name })
	if err != nil {
		return gone, err
	}
	unlock, err := r.change(ctx)
	if err != nil {
		return gone, err
	}
	defer unlock()
	recs, err := r.deleted()
	if err != nil {
		return gone, err
	}
	for _, rec := range recs {
		if rec.Topic != name || rec.DeletedAt != 0 {
			continue
		}
		if err := r.removeDirs(rec); err != nil {
			return gone, fmt.Errorf("remove deleted topic %s: %w", name, err)
		}
		gone = append(gone, rec.described())
	}
	return gone, nil
}

func (r *Root) purge(ctx context.Context, due func(*trashRecord) bool) ([]DeletedTopic, error) {
	recs, err := r.markPurged(ctx, due)
	if err != nil {
		return nil, err
	}
	var gone []DeletedTopic
	for _, rec := range recs {
		if err := ctx.Err(); err != nil {
			return gone, err
		}
		if err := r.removeDeleted(rec); err != nil {
			return gone, fmt.Errorf("remove deleted topic %s: %w", rec.Topic, err)
		}
		gone = append(gone, rec.described())
	}
	return gone, nil
}

// markPurged marks what is due and returns all that is marked.
func (r *Root) markPurged(ctx context.Context, due func(*trashRecord) bool) ([]*trashRecord, error) {
	kept, purged, err := r.trashRecords()
	if err != nil || !slices.ContainsFunc(kept, due) {
		return purged, err
	}
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if kept, purged, err = r.trashRecords(); err != nil {
		return nil, err
	}
	half, err := r.pending()
	if err != nil {
		return nil, err
	}
	for _, rec := range kept {
		if !due(rec) || half.topics[rec.Topic] {
			continue
		}
		if err := r.fs.Rename(r.trashPath(rec.name), r.trashPath(rec.name+purgeSuffix)); err != nil {
			return nil, err
		}
		purged = append(purged, rec)
	}
	return purged, r.fs.SyncDir(r.statePath(trashDirName))
}

// removeDeleted removes the directories of a marked record, then the record. Two
// processes may be at it.
func (r *Root) removeDeleted(rec *trashRecord) error {
	if err := r.removeDirs(rec); err != nil {
		return err
	}
	return r.removeTrashRecord(rec.name + purgeSuffix)
}

// removeDirs removes the directories of a deleted topic.
func (r *Root) removeDirs(rec *trashRecord) error {
	for _, dir := range rec.Dirs {
		if err := r.removePartition(r.path(dir)); err != nil {
			return err
		}
	}
	return r.fs.SyncDir(r.dir)
}

// removePartition removes a partition's files, then its directory. What neither klog nor
// Kafka put there stays, and the directory with it. Where dir is a link to a directory,
// that directory stays, empty, and the link goes.
func (r *Root) removePartition(dir string) error {
	fi, err := r.fs.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := readDir(r.fs, dir)
	if err != nil {
		return err
	}
	foreign := 0
	for _, f := range files {
		if !partitionFile(f) {
			foreign++
			continue
		}
		if err := removeTree(r.fs, dir+"/"+f.Name()); err != nil {
			return err
		}
	}
	if foreign > 0 && fi.Mode()&fs.ModeSymlink == 0 {
		r.o.notice(fmt.Sprintf("%s: stays, for it holds %d files that are not klog's", dir, foreign))
		return nil
	}
	err = r.fs.Remove(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// partitionFile reports whether a name in a partition's directory is klog's or Kafka's.
func partitionFile(f fs.DirEntry) bool {
	if f.Name() == stateDir {
		return f.IsDir()
	}
	if !f.Type().IsRegular() {
		return false
	}
	name := strings.TrimSuffix(f.Name(), tempSuffix)
	_, _, segment := segments.ParseSegmentName(name)
	return segment || name == segments.EpochsName || name == segments.PartitionMetaName
}

// treeSize sums the sizes of the files below path, following no links but path itself.
func treeSize(fsys vfs.FS, path string) (int64, error) {
	files, err := readDir(fsys, path)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, f := range files {
		sub := path + "/" + f.Name()
		if f.IsDir() {
			n, err := treeSize(fsys, sub)
			if err != nil {
				return 0, err
			}
			sum += n
			continue
		}
		fi, err := fsys.Lstat(sub)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += fi.Size()
	}
	return sum, nil
}
