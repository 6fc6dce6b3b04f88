package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// addPartitions makes the intent's partitions and gives them their names in the root.
func (r *Root) addPartitions(ctx context.Context, in *intent, topic string, id TopicID) error {
	stage := r.stagePath(in.name)
	if err := vfs.Mkdir(r.fs, stage); err != nil {
		return err
	}
	for _, n := range in.Partitions {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.makePartition(stage+"/"+segments.PartitionDir(topic, n), id); err != nil {
			return err
		}
	}
	for _, n := range in.Partitions {
		if err := r.fs.Rename(stage+"/"+segments.PartitionDir(topic, n), r.partitionPath(topic, n)); err != nil {
			return err
		}
	}
	if err := r.fs.Remove(stage); err != nil {
		return err
	}
	return r.fs.SyncDir(r.dir)
}

// makePartition makes an empty partition at dir, on disk when it returns.
func (r *Root) makePartition(dir string, id TopicID) error {
	if err := vfs.Mkdir(r.fs, dir); err != nil {
		return err
	}
	if err := vfs.Mkdir(r.fs, dir+"/"+stateDir); err != nil {
		return err
	}
	segment := segments.SegmentName(0)
	for _, f := range []struct {
		name string
		data []byte
	}{
		{stateDir + "/" + lockFileName, nil},
		{segment + segments.LogSuffix, nil},
		{segment + segments.IndexSuffix, nil},
		{segment + segments.TimeIndexSuffix, nil},
		{segments.EpochsName, segments.EncodeEpochs(segments.Epochs{{Epoch: 0, Start: 0}})},
		{segments.PartitionMetaName, segments.EncodePartitionMeta(id)},
	} {
		if err := makeFile(r.fs, dir+"/"+f.name, f.data); err != nil {
			return err
		}
	}
	if err := r.fs.SyncDir(dir + "/" + stateDir); err != nil {
		return err
	}
	return r.fs.SyncDir(dir)
}

// makeFile makes a file that nobody else knows of yet. Its directory is not synced.
func makeFile(fsys vfs.FS, path string, data []byte) error {
	f, err := vfs.Create(fsys, path)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		if _, err = f.WriteAt(data, 0); err == nil {
			err = f.Sync()
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// undoPartitions takes the intent's partitions away again, in one step each for whoever
// lists the root. They were never part of a topic, so they are empty.
func (r *Root) undoPartitions(in *intent) error {
	stage := r.stagePath(in.name)
	if err := vfs.MkdirAll(r.fs, stage); err != nil {
		return err
	}
	for _, n := range in.Partitions {
		dir := r.partitionPath(in.Topic, n)
		id, err := readPartitionID(r.fs, dir)
		if err != nil || id.String() != in.ID {
			continue // not made by this intent, or not yet
		}
		empty, err := holdsNoRecords(r.fs, dir)
		if err != nil {
			return err
		}
		if !empty {
			return fmt.Errorf("%s: belongs to no topic, but holds records: see %s", dir, r.intentPath(in.name))
		}
		if err := r.fs.Rename(dir, stage+"/"+segments.PartitionDir(in.Topic, n)); err != nil {
			return err
		}
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	return r.dropStage(in)
}

// dropStage removes what is left in the intent's hidden directory, and the intent.
func (r *Root) dropStage(in *intent) error {
	if err := removeTree(r.fs, r.stagePath(in.name)); err != nil {
		return err
	}
	return r.end(in)
}

// holdsNoRecords reports whether every log file in a partition's directory is empty.
func holdsNoRecords(fsys vfs.FS, dir string) (bool, error) {
	files, err := fsys.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, f := range files {
		if _, suffix, ok := segments.ParseSegmentName(f.Name()); !ok || suffix != segments.LogSuffix {
			continue
		}
		fi, err := fsys.Stat(dir + "/" + f.Name())
		if err != nil {
			return false, err
		}
		if fi.Size() > 0 {
			return false, nil
		}
	}
	return true, nil
}

// removeTree removes a file or directory and all that is in it; links are removed, never
// followed. What is not there is no error.
func removeTree(fsys vfs.FS, path string) error {
	fi, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.IsDir() {
		if err := removeContents(fsys, path); err != nil {
			return err
		}
	}
	err = fsys.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeContents empties a directory.
func removeContents(fsys vfs.FS, dir string) error {
	files, err := readDir(fsys, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := removeTree(fsys, dir+"/"+f.Name()); err != nil {
			return err
		}
	}
	return nil
}
