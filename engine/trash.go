package engine

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// trashRecord is what ROOT/.klog/trash/HEX says of a deleted topic: all that undelete
// needs to bring it back. HEX is also in the names of its directories, which lie in the
// root as "<topic>-<partition>.HEX-delete".
type trashRecord struct {
	Version     int              `json:"version"`
	Topic       string           `json:"topic"`
	ID          string           `json:"topic_id,omitempty"`
	Partitions  []int32          `json:"partitions"`
	Dirs        []string         `json:"directories"` // of the partitions, names in the root
	DeletedAt   int64            `json:"deleted_at"`  // ms since the epoch
	RemoveAt    int64            `json:"remove_at"`   // ms since the epoch; from then on it may go
	Bytes       int64            `json:"bytes"`
	Entry       json.RawMessage  `json:"entry,omitempty"` // the topic's; none if it had none
	Checkpoints topicCheckpoints `json:"checkpoints,omitempty"`

	name string // HEX
}

const trashVersion = 1

// purgeSuffix marks the record of a topic that is being removed for good. A rename does
// it: that works on a full disk too.
const purgeSuffix = ".purge"

// DeletedTopic is a topic that can be brought back.
type DeletedTopic struct {
	Name       string
	ID         TopicID
	Partitions int
	Bytes      int64
	DeletedAt  time.Time // zero where not known
	// RemoveAt is when it may be removed for good; zero where that is not known, as of
	// a topic that Kafka deleted or whose .klog was lost: such a one is never removed
	// by itself.
	RemoveAt time.Time
}

// check looks at what becomes part of a path.
func (rec *trashRecord) check() error {
	if err := checkTopicName(rec.Topic); err != nil {
		return err
	}
	if len(rec.Dirs) != len(rec.Partitions) {
		return fmt.Errorf("%d directories for %d partitions", len(rec.Dirs), len(rec.Partitions))
	}
	for _, dir := range rec.Dirs {
		if _, _, _, ok := segments.ParseDeletedDirName(dir); !ok {
			return fmt.Errorf("%q is not a directory of a deleted partition", dir)
		}
	}
	return nil
}

// rawID is the number that HEX stands for.
func (rec *trashRecord) rawID() (id [16]byte) {
	_, _ = hex.Decode(id[:], []byte(rec.name))
	return id
}

// described is what the record says, for others.
func (rec *trashRecord) described() DeletedTopic {
	id, _ := ParseTopicID(rec.ID)
	d := DeletedTopic{Name: rec.Topic, ID: id, Partitions: len(rec.Partitions), Bytes: rec.Bytes}
	if rec.DeletedAt != 0 {
		d.DeletedAt, d.RemoveAt = time.UnixMilli(rec.DeletedAt), time.UnixMilli(rec.RemoveAt)
	}
	return d
}

func (r *Root) trashPath(name string) string { return r.statePath(trashDirName, name) }

func (r *Root) writeTrash(rec *trashRecord) error {
	rec.Version = trashVersion
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return vfs.WriteFile(r.fs, r.trashPath(rec.name), append(b, '\n'))
}

// removeTrashRecord forgets a deletion.
func (r *Root) removeTrashRecord(file string) error {
	err := r.fs.Remove(r.trashPath(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.fs.SyncDir(r.statePath(trashDirName))
}

// trashRecords reads all records, those that can be brought back and, separately, those
// whose removal has begun.
func (r *Root) trashRecords() (kept, purged []*trashRecord, err error) {
	files, err := readDir(r.fs, r.statePath(trashDirName))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		name, purge := strings.CutSuffix(f.Name(), purgeSuffix)
		if b, err := hex.DecodeString(name); err != nil || len(b) != len(TopicID{}) {
			continue
		}
		rec, err := r.readTrash(f.Name())
		if err != nil {
			return nil, nil, err
		}
		if rec == nil {
			continue
		}
		rec.name = name
		if purge {
			purged = append(purged, rec)
		} else {
			kept = append(kept, rec)
		}
	}
	return kept, purged, nil
}

// readTrash returns nil where the record is gone.
func (r *Root) readTrash(file string) (*trashRecord, error) {
	path := r.trashPath(file)
	b, err := vfs.ReadFile(r.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rec := &trashRecord{}
	if err := json.Unmarshal(b, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := rec.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// DeletedTopics lists the topics that can be brought back, the newest deletion first.
func (r *Root) DeletedTopics(ctx context.Context) ([]DeletedTopic, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	recs, err := r.deleted()
	if err != nil {
		return nil, err
	}
	all := make([]DeletedTopic, len(recs))
	for i, rec := range recs {
		all[i] = rec.described()
	}
	return all, nil
}

// deleted returns the records of what can be brought back, newest first; for directories
// without a record one that is made up, with DeletedAt 0.
func (r *Root) deleted() ([]*trashRecord, error) {
	kept, purged, err := r.trashRecords()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, rec := range slices.Concat(kept, purged) {
		for _, dir := range rec.Dirs {
			known[dir] = true
		}
	}
	found, err := r.unrecordedTrash(known)
	if err != nil {
		return nil, err
	}
	kept = append(kept, found...)
	slices.SortStableFunc(kept, func(a, b *trashRecord) int { return cmp.Compare(b.DeletedAt, a.DeletedAt) })
	return kept, nil
}

// unrecordedTrash finds directories of deleted partitions that no record tells of: those
// of a broker, which gives each partition a HEX of its own and at times cuts the topic's
// name, or of a root whose .klog was lost.
func (r *Root) unrecordedTrash(known map[string]bool) ([]*trashRecord, error) {
	files, err := r.fs.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	byTopic := map[string]*trashRecord{}
	var recs []*trashRecord
	for _, f := range files {
		topic, n, id, ok := segments.ParseDeletedDirName(f.Name())
		if !ok || known[f.Name()] || !r.isDir(f) || !r.holdsLog(f.Name()) {
			continue
		}
		tid, err := readPartitionID(r.fs, r.path(f.Name()))
		if err != nil {
			return nil, err
		}
		name := TopicID(id).hex()
		key := topic + " " + name
		if !tid.IsZero() {
			key = topic + " " + tid.String()
		}
		rec := byTopic[key]
		if rec == nil || slices.Contains(rec.Partitions, n) {
			rec = &trashRecord{Topic: topic, name: name}
			if !tid.IsZero() {
				rec.ID = tid.String()
			}
			byTopic[key] = rec
			recs = append(recs, rec)
		}
		rec.Partitions, rec.Dirs = append(rec.Partitions, n), append(rec.Dirs, f.Name())
		size, err := treeSize(r.fs, r.path(f.Name()))
		if err != nil {
			return nil, err
		}
		rec.Bytes += size
	}
	return recs, nil
}

// holdsLog reports whether the directory of that name in the root has a segment.
func (r *Root) holdsLog(name string) bool {
	files, err := r.fs.ReadDir(r.path(name))
	return err == nil && slices.ContainsFunc(files, isLog)
}
