package engine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// Topics returns the names of all topics, sorted.
func (r *Root) Topics(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.topicNames()
}

// topicNames lists the topics that have an entry and those that only have directories.
// What is half done, by whoever is at it or was killed, is left out.
func (r *Root) topicNames() ([]string, error) {
	half, err := r.pending()
	if err != nil {
		return nil, err
	}
	dirs, err := r.partitionDirs(half)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name := range dirs {
		names[name] = true
	}
	// Entries last: a topic that was being made during the listing may be done by now.
	files, err := readDir(r.fs, r.statePath(topicsDirName))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), entrySuffix); ok && segments.ValidTopicName(name) == nil {
			names[name] = true
		}
	}
	return sortedKeys(names), nil
}

// partitionDirs lists the partitions that lie in the root, by topic, but for those that
// are half made.
func (r *Root) partitionDirs(half pending) (map[string][]int32, error) {
	files, err := r.fs.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	dirs := map[string][]int32{}
	for _, f := range files {
		topic, n, ok := segments.ParsePartitionDir(f.Name())
		if ok && !half.topics[topic] && !half.partitions[TopicPartition{topic, n}] && r.isDir(f) {
			dirs[topic] = append(dirs[topic], n)
		}
	}
	for _, n := range dirs {
		slices.Sort(n)
	}
	return dirs, nil
}

// isDir reports whether the entry of the root is a directory or leads to one.
func (r *Root) isDir(f fs.DirEntry) bool {
	if f.Type()&fs.ModeSymlink == 0 {
		return f.IsDir()
	}
	fi, err := r.fs.Stat(r.path(f.Name()))
	return err == nil && fi.IsDir()
}

// readDir lists a directory that may be missing.
func readDir(fsys vfs.FS, name string) ([]fs.DirEntry, error) {
	files, err := fsys.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// readPartitionID returns the topic id in a partition's directory, zero where there is no
// partition.metadata, or one that tells nothing: verify says so, nothing else minds.
func readPartitionID(fsys vfs.FS, dir string) (TopicID, error) {
	path := filepath.Join(dir, segments.PartitionMetaName)
	b, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return TopicID{}, nil
	}
	if err != nil {
		return TopicID{}, err
	}
	id, err := segments.ParsePartitionMeta(b)
	if err != nil {
		return TopicID{}, nil
	}
	return id, nil
}
