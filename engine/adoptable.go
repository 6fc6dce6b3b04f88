package engine

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// adoption is a topic that is to be made of directories.
type adoption struct {
	from   string           // their topic's name
	name   string           // what it shall be called
	dirs   map[int32]string // by partition
	within string           // where they lie
	moved  bool             // that is inside the root
}

// adoptable finds the topics that dir offers.
func (r *Root) adoptable(dir, as string) ([]*adoption, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	within, only := abs, ""
	topic, number, named := segments.ParsePartitionDir(filepath.Base(abs))
	one := named // and alone
	if one {
		within = filepath.Dir(abs)
	}
	inside, isRoot, err := r.contains(within)
	if err != nil {
		return nil, err
	}
	if isRoot && !one {
		return nil, &InvalidError{Reason: dir + ": is the root itself: name one of its partition directories"}
	}
	if isRoot {
		only, one = topic, false
	}
	found := map[string]*adoption{}
	if one {
		if ok, err := r.holdsSegment(abs); err != nil {
			return nil, err
		} else if !ok {
			return nil, &NoPartitionError{Dir: dir}
		}
		found[topic] = &adoption{from: topic, dirs: map[int32]string{number: abs}}
	} else if found, err = r.findAdoptable(within, only); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &NoPartitionError{Dir: dir, Below: !named}
	}
	return r.nameAdopted(found, dir, within, as, inside)
}

// findAdoptable groups the partition directories in a directory by topic.
func (r *Root) findAdoptable(within, only string) (map[string]*adoption, error) {
	files, err := r.fs.ReadDir(within)
	if err != nil {
		return nil, err
	}
	found, holds := map[string]*adoption{}, map[string]bool{}
	for _, f := range files {
		topic, n, ok := segments.ParsePartitionDir(f.Name())
		if !ok || only != "" && topic != only {
			continue
		}
		path := filepath.Join(within, f.Name())
		if fi, err := r.fs.Stat(path); err != nil || !fi.IsDir() {
			continue
		}
		ok, err := r.holdsSegment(path)
		if err != nil {
			return nil, err
		}
		if ok {
			holds[topic] = true
		} else if only == "" {
			continue
		}
		if found[topic] == nil {
			found[topic] = &adoption{from: topic, dirs: map[int32]string{}}
		}
		found[topic].dirs[n] = path
	}
	// In the root itself all of a topic's directories belong to it, also an empty one.
	maps.DeleteFunc(found, func(topic string, _ *adoption) bool { return !holds[topic] })
	return found, nil
}

// holdsSegment reports whether a directory holds a segment file: many a directory is
// called NAME-NUMBER and is no partition.
func (r *Root) holdsSegment(dir string) (bool, error) {
	files, err := r.fs.ReadDir(dir)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		_, suffix, ok := segments.ParseSegmentName(f.Name())
		return ok && suffix == segments.LogSuffix && f.Type().IsRegular()
	}), nil
}

func (r *Root) nameAdopted(found map[string]*adoption, dir, within, as string, inside bool) ([]*adoption, error) {
	if as != "" && len(found) > 1 {
		return nil, &InvalidError{Reason: fmt.Sprintf("%s: holds %d topics, which cannot all be called %s", dir, len(found), as)}
	}
	var all []*adoption
	for _, topic := range sortedKeys(found) {
		a := found[topic]
		a.name, a.within, a.moved = topic, within, inside
		if as != "" {
			a.name = as
		}
		if len(found) > 1 && slices.Contains(internalTopics[:], topic) {
			r.o.notice(topic + " is Kafka's own and is left out")
			continue
		}
		if err := checkNewTopicName(a.name); err != nil {
			return nil, err
		}
		if last := slices.Max(slices.Collect(maps.Keys(a.dirs))); last >= MaxPartitions {
			return nil, checkPartitions(int(last) + 1)
		}
		all = append(all, a)
	}
	return all, nil
}

// contains reports whether a directory lies in the root, or is it.
func (r *Root) contains(dir string) (inside, isRoot bool, err error) {
	root, err := r.fs.Stat(r.dir)
	if err != nil {
		return false, false, err
	}
	for up := dir; ; up = filepath.Dir(up) {
		fi, err := r.fs.Stat(up)
		if err != nil {
			return false, false, err
		}
		if vfs.SameFile(fi, root) {
			return true, up == dir, nil
		}
		if filepath.Dir(up) == up {
			return false, false, nil
		}
	}
}

// checkAdoptable looks whether the name is free: but for the directories themselves,
// where they lie in the root and are to keep it.
func (r *Root) checkAdoptable(a *adoption) error {
	if _, isRoot, err := r.contains(a.within); err != nil {
		return err
	} else if isRoot {
		e, err := r.readEntry(a.from)
		if err != nil {
			return err
		}
		if e != nil && a.from != a.name {
			return fmt.Errorf("the directory is in use: %w", &TopicExistsError{Name: a.from})
		}
		if e != nil {
			return &TopicExistsError{Name: a.from}
		}
		if a.from == a.name {
			return nil
		}
	}
	return r.checkFree(a.name, a.from)
}

// adoptedEntry is the entry of the topic: a new id, and the configs of the old entry if
// there is one beside the directories.
func (r *Root) adoptedEntry(a *adoption) (*entry, error) {
	e := &entry{id: newID(), partitions: int(slices.Max(slices.Collect(maps.Keys(a.dirs)))) + 1}
	there := newRoot(a.within, r.o)
	old, err := there.readEntry(a.from)
	if err != nil {
		return nil, err
	}
	if old != nil {
		e.configs, e.others = old.configs, old.others
		e.partitions = max(e.partitions, old.partitions)
	}
	return e, nil
}

// checkpoints is what the checkpoints beside the directories say of them; only the log
// start means anything elsewhere.
func (a *adoption) checkpoints(r *Root) (topicCheckpoints, error) {
	m, err := readCheckpoint(r.fs, filepath.Join(a.within, string(LogStartCheckpoint)))
	if err != nil {
		return nil, err
	}
	starts := map[int32]int64{}
	for n := range a.dirs {
		if offset, ok := m[TopicPartition{a.from, n}]; ok {
			starts[n] = offset
		}
	}
	return topicCheckpoints{LogStartCheckpoint: starts}, nil
}

// relative is a path inside the root as it is seen from there, whatever links led to it.
func (r *Root) relative(path string) (string, error) {
	root, err := r.fs.Stat(r.dir)
	if err != nil {
		return "", err
	}
	rel := filepath.Base(path)
	for up := filepath.Dir(path); ; up = filepath.Dir(up) {
		fi, err := r.fs.Stat(up)
		if err != nil {
			return "", err
		}
		if vfs.SameFile(fi, root) {
			return rel, nil
		}
		if filepath.Dir(up) == up {
			return "", fmt.Errorf("%s: is not in %s", path, r.dir)
		}
		rel = filepath.Join(filepath.Base(up), rel)
	}
}
