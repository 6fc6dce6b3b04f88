package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// CheckpointKind names one of Kafka's checkpoint files, which hold one offset for each
// partition of a root.
type CheckpointKind string

// The checkpoints of a root.
const (
	// LogStartCheckpoint: the first offset that is to be read, where it is above the
	// base of the first segment.
	LogStartCheckpoint CheckpointKind = segments.LogStartName
	// RecoveryPointCheckpoint: everything below is on disk.
	RecoveryPointCheckpoint CheckpointKind = segments.RecoveryPointName
	// ReplicationCheckpoint: the high watermark.
	ReplicationCheckpoint CheckpointKind = segments.HighWatermarkName
	// CleanerCheckpoint: where the next compaction begins.
	CleanerCheckpoint CheckpointKind = segments.CleanerOffsetName
)

func checkpointKinds() [4]CheckpointKind {
	return [...]CheckpointKind{LogStartCheckpoint, RecoveryPointCheckpoint, ReplicationCheckpoint, CleanerCheckpoint}
}

// TopicPartition names a partition of a root.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func (tp TopicPartition) compare(o TopicPartition) int {
	return cmp.Or(cmp.Compare(tp.Topic, o.Topic), cmp.Compare(tp.Partition, o.Partition))
}

// Checkpoint is what a checkpoint says of one partition; ok is false if nothing.
func (r *Root) Checkpoint(kind CheckpointKind, topic string, partition int32) (offset int64, ok bool, err error) {
	m, err := r.Checkpoints(kind)
	offset, ok = m[TopicPartition{topic, partition}]
	return offset, ok, err
}

// Checkpoints reads a checkpoint. A file that is missing or empty has no entries.
func (r *Root) Checkpoints(kind CheckpointKind) (map[TopicPartition]int64, error) {
	return readCheckpoint(r.fs, r.path(string(kind)))
}

func readCheckpoint(fsys vfs.FS, path string) (map[TopicPartition]int64, error) {
	b, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := segments.ParseOffsetCheckpoint(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := make(map[TopicPartition]int64, len(lines))
	for _, l := range lines {
		m[TopicPartition{l.Topic, l.Partition}] = l.Offset
	}
	return m, nil
}

// SetCheckpoint gives one partition an offset in a checkpoint; what it says of others is
// kept as it is found then. It takes the root's lock, so the caller must hold no
// partition's lock.
func (r *Root) SetCheckpoint(ctx context.Context, kind CheckpointKind, topic string, partition int32, offset int64) error {
	unlock, err := r.lockRoot(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return r.editCheckpoint(kind, func(m map[TopicPartition]int64) {
		m[TopicPartition{topic, partition}] = offset
	})
}

// editCheckpoint reads a checkpoint again and replaces it, unless edit changed nothing.
// The root's lock is held.
func (r *Root) editCheckpoint(kind CheckpointKind, edit func(map[TopicPartition]int64)) error {
	m, err := r.Checkpoints(kind)
	if err != nil {
		return err
	}
	edited := maps.Clone(m)
	if edited == nil {
		edited = map[TopicPartition]int64{}
	}
	if edit(edited); maps.Equal(m, edited) {
		return nil
	}
	path := r.path(string(kind))
	if err := vfs.WriteFile(r.fs, path, encodeCheckpoint(edited)); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// topicCheckpoints is what the checkpoints of a root say of one topic.
type topicCheckpoints map[CheckpointKind]map[int32]int64

// topicCheckpoints returns what the checkpoints say of the topic.
func (r *Root) topicCheckpoints(topic string) (topicCheckpoints, error) {
	all := topicCheckpoints{}
	for _, kind := range checkpointKinds() {
		m, err := r.Checkpoints(kind)
		if err != nil {
			return nil, err
		}
		for tp, offset := range m {
			if tp.Topic != topic {
				continue
			}
			if all[kind] == nil {
				all[kind] = map[int32]int64{}
			}
			all[kind][tp.Partition] = offset
		}
	}
	return all, nil
}

// setTopicCheckpoints makes the checkpoints say of the topic what all says and no more:
// with nil nothing, so that a new topic does not begin where an old one of its name
// ended. The root's lock is held.
func (r *Root) setTopicCheckpoints(topic string, all topicCheckpoints) error {
	for _, kind := range checkpointKinds() {
		err := r.editCheckpoint(kind, func(m map[TopicPartition]int64) {
			maps.DeleteFunc(m, func(tp TopicPartition, _ int64) bool { return tp.Topic == topic })
			for partition, offset := range all[kind] {
				m[TopicPartition{topic, partition}] = offset
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func encodeCheckpoint(m map[TopicPartition]int64) []byte {
	var lines []segments.PartitionOffset
	for _, tp := range slices.SortedFunc(maps.Keys(m), TopicPartition.compare) {
		lines = append(lines, segments.PartitionOffset{Topic: tp.Topic, Partition: tp.Partition, Offset: m[tp]})
	}
	return segments.EncodeOffsetCheckpoint(lines)
}
