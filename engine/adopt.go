package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
		if err != nil {
			return all, fmt.Errorf("adopt topic %s: %w", a.name, err)
		}
		all = append(all, adopted)
	}
	return all, nil
}

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
	topic, number, one := segments.ParsePartitionDir(filepath.Base(abs))
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
		if _, err := r.fs.ReadDir(abs); err != nil {
			return nil, err
		}
		found[topic] = &adoption{from: topic, dirs: map[int32]string{number: abs}}
	} else if found, err = r.findAdoptable(within, only); err != nil {
		return nil, err
	}
	return r.nameAdopted(found, dir, within, as, inside)
}

// findAdoptable groups the partition directories in a directory by topic.
func (r *Root) findAdoptable(within, only string) (map[string]*adoption, error) {
	files, err := r.fs.ReadDir(within)
	if err != nil {
		return nil, err
	}
	found := map[string]*adoption{}
	for _, f := range files {
		topic, n, ok := segments.ParsePartitionDir(f.Name())
		if !ok || only != "" && topic != only {
			continue
		}
		path := filepath.Join(within, f.Name())
		if fi, err := r.fs.Stat(path); err != nil || !fi.IsDir() {
			continue
		}
		if found[topic] == nil {
			found[topic] = &adoption{from: topic, dirs: map[int32]string{}}
		}
		found[topic].dirs[n] = path
	}
	return found, nil
}

func (r *Root) nameAdopted(found map[string]*adoption, dir, within, as string, inside bool) ([]*adoption, error) {
	if len(found) == 0 {
		return nil, &InvalidError{Reason: dir + ": holds no partition directories (TOPIC-NUMBER)"}
	}
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

// copyProgress counts the bytes of a copy.
type copyProgress struct {
	tell        func(done, total int64)
	done, total int64
}

func (c *copyProgress) add(n int) {
	c.done += int64(n)
	if c.tell != nil {
		c.tell(c.done, c.total)
	}
}

// copyPartition copies a partition's segments and epochs, and gives it the id; all is on
// disk when it returns. What is not the log's is left.
func (r *Root) copyPartition(ctx context.Context, from, to string, id TopicID, progress *copyProgress) error {
	files, err := r.fs.ReadDir(from)
	if err != nil {
		return err
	}
	if err := vfs.MkdirAll(r.fs, filepath.Join(to, stateDir)); err != nil {
		return err
	}
	if err := makeFile(r.fs, filepath.Join(to, stateDir, lockFileName), nil); err != nil {
		return err
	}
	if err := makeFile(r.fs, filepath.Join(to, segments.PartitionMetaName), segments.EncodePartitionMeta(id)); err != nil {
		return err
	}
	for _, f := range files {
		_, _, segment := segments.ParseSegmentName(f.Name())
		if !f.Type().IsRegular() || !segment && f.Name() != segments.EpochsName {
			continue
		}
		if err := r.copyFile(ctx, filepath.Join(from, f.Name()), filepath.Join(to, f.Name()), progress); err != nil {
			return err
		}
	}
	if err := r.fs.SyncDir(filepath.Join(to, stateDir)); err != nil {
		return err
	}
	return r.fs.SyncDir(to)
}

// copyFile copies as much of a file as there is.
func (r *Root) copyFile(ctx context.Context, from, to string, progress *copyProgress) (err error) {
	src, err := r.fs.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := vfs.Create(r.fs, to)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := dst.Close(); err == nil {
			err = cerr
		}
	}()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, rerr := src.ReadAt(buf, at)
		if n > 0 {
			if _, err := dst.WriteAt(buf[:n], at); err != nil {
				return err
			}
			at += int64(n)
			progress.add(n)
		}
		if errors.Is(rerr, io.EOF) {
			return dst.Sync()
		}
		if rerr != nil {
			return rerr
		}
	}
}
