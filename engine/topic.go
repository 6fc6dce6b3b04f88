package engine

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/klog-project/klog/segments"
)

// MaxPartitions bounds the number of partitions of one topic.
const MaxPartitions = 10_000

// Topic is a topic as it was when it was opened. Its methods may be called concurrently.
type Topic struct {
	root    *Root
	name    string
	id      TopicID
	entry   bool    // it had an entry
	count   int     // partitions are numbered from 0 to count-1
	numbers []int32 // those that are here; nil means all

	cache configCache
}

// Topic opens the topic. It makes no listing where the topic has an entry. One that is
// just being made, and has directories but no entry yet, is waited for, comingTries times
// comingPause at most. The error is a *UnknownTopicError if there is no such topic.
func (r *Root) Topic(name string) (*Topic, error) {
	if err := checkTopicName(name); err != nil {
		return nil, err
	}
	for range comingTries {
		t, coming, err := r.findTopic(name)
		if err != nil || t != nil {
			return t, err
		}
		if !coming {
			break
		}
		time.Sleep(comingPause)
	}
	names, err := r.topicNames()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, &UnknownTopicError{Name: name, Root: r.dir, Near: Nearest(name, names)}
}

// comingTries and comingPause bound the wait for a topic whose directories have their
// names already: between these and the entry lies a sync or two. Whoever makes it may
// have been killed there, and nobody comes to finish it.
const (
	comingTries = 100
	comingPause = 10 * time.Millisecond
)

// findTopic returns nil and no error where there is no such topic. coming is set if there
// are directories of one that is being made.
func (r *Root) findTopic(name string) (found *Topic, coming bool, err error) {
	t := &Topic{root: r, name: name}
	t.cache.topic = t
	e, err := t.cache.load()
	if err != nil {
		return nil, false, err
	}
	if e == nil {
		found, coming, err := t.findPartitions()
		if !found && !coming || err != nil {
			return nil, false, err
		}
		// Whoever made it may have written its entry after the first look.
		t.cache.loaded = false
		if e, err = t.cache.load(); err != nil {
			return nil, false, err
		}
		if e == nil && !found {
			return nil, true, nil
		}
	}
	if e != nil {
		t.entry, t.id, t.count, t.numbers = true, e.id, e.partitions, nil
	}
	return t, false, nil
}

// findPartitions looks for the directories of a topic that has no entry. coming is set if
// they are those of a topic that is being made.
func (t *Topic) findPartitions() (found, coming bool, err error) {
	half, err := t.root.pending()
	if err != nil {
		return false, false, err
	}
	if half.topics[t.name] {
		for _, n := range half.coming[t.name] {
			if _, err := t.root.fs.Lstat(t.root.partitionPath(t.name, n)); err == nil {
				return false, true, nil
			}
		}
		return false, false, nil
	}
	dirs, err := t.root.partitionDirs(half)
	if err != nil {
		return false, false, err
	}
	t.numbers = dirs[t.name]
	if len(t.numbers) == 0 {
		return false, false, nil
	}
	slices.Sort(t.numbers)
	t.count = int(t.numbers[len(t.numbers)-1]) + 1
	t.id, err = readPartitionID(t.root.fs, t.root.partitionPath(t.name, t.numbers[0]))
	return true, false, err
}

// Name is the topic's name.
func (t *Topic) Name() string { return t.name }

// Root is where the topic is.
func (t *Topic) Root() *Root { return t.root }

// ID is the id that the topic had when it was opened, zero where none is known.
func (t *Topic) ID() TopicID { return t.id }

// Partitions is the number of partitions, which are numbered from 0. In a directory
// of a broker that holds only some of them, Numbers says which.
func (t *Topic) Partitions() int { return t.count }

// Numbers returns the partitions that are here, rising. The slice is the caller's.
func (t *Topic) Numbers() []int32 {
	if t.numbers != nil {
		return slices.Clone(t.numbers)
	}
	n := make([]int32, t.count)
	for i := range n {
		n[i] = int32(i)
	}
	return n
}

// HasEntry reports whether klog has written down the topic's config. A topic without is
// one of Kafka's, or one whose .klog was lost: retention and compaction leave it alone.
func (t *Topic) HasEntry() bool { return t.entry }

// Partition returns partition n without looking at its directory. The error is a
// *UnknownPartitionError if the topic has none of that number here.
func (t *Topic) Partition(n int32) (*Partition, error) {
	if n < 0 || int(n) >= t.count || t.numbers != nil && !slices.Contains(t.numbers, n) {
		return nil, &UnknownPartitionError{Topic: t.name, Partition: n, Root: t.root.dir, Count: len(t.Numbers())}
	}
	return &Partition{dir: t.root.partitionPath(t.name, n), topic: t.name, number: n, id: t.id, root: t.root, t: t, fs: t.root.fs, o: t.root.o}, nil
}

// Config returns the topic's effective config as it is now. It costs one stat where
// nothing has changed. The error is ErrTopicGone if the topic of this name is another one
// by now, and a *TooNewError if a newer klog has taken over the root.
func (t *Topic) Config() (*Config, error) { return t.cache.get() }

// checkTopicName applies Kafka's rule; the error is an *InvalidError.
func checkTopicName(name string) error {
	if err := segments.ValidTopicName(name); err != nil {
		return &InvalidError{Reason: err.Error()}
	}
	return nil
}
