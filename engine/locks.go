package engine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/segments"
)

// LockKind is what a lock of a root guards.
type LockKind string

// The locks that a root has.
const (
	RootLock   LockKind = "root"   // what belongs to no single partition: create, delete, configs
	AppendLock LockKind = "append" // the end of a partition's log
	FollowLock LockKind = "follow" // one file being followed into a topic
	KafkaLock  LockKind = "kafka"  // the whole root: a Kafka broker runs on it
)

// Lock is one process at one lock.
type Lock struct {
	Kind      LockKind
	Path      string // the lock file
	Topic     string // "" unless the lock is a partition's or of a follow
	Partition int32  // -1 unless the lock is a partition's
	LockUser
}

// Locks lists who holds and who waits for any lock of the root, as the kernel tells it at
// this moment. It takes no lock and writes nothing. Where the system does not tell (other
// than Linux, or in a container whose /proc is not its own) the list is empty.
func (r *Root) Locks(ctx context.Context) ([]Lock, error) {
	table := lockTable()
	all := r.locksAt(nil, table, Lock{Kind: RootLock, Path: r.statePath(lockFileName), Partition: -1})
	all = r.locksAt(all, table, Lock{Kind: KafkaLock, Path: r.path(kafkaLockName), Partition: -1})
	topics, err := r.topicNames()
	if err != nil {
		return nil, err
	}
	for _, name := range topics {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := r.Topic(name)
		if errors.Is(err, ErrUnknownTopic) {
			continue // deleted since it was listed
		}
		if err != nil {
			return nil, err
		}
		for _, n := range t.Numbers() {
			path := filepath.Join(r.partitionPath(name, n), stateDir, lockFileName)
			all = r.locksAt(all, table, Lock{Kind: AppendLock, Path: path, Topic: name, Partition: n})
		}
	}
	files, err := readDir(r.fs, r.statePath(followDirName))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		all = r.locksAt(all, table, Lock{Kind: FollowLock, Path: r.statePath(followDirName, f.Name()), Topic: followedTopic(f.Name()), Partition: -1})
	}
	return all, nil
}

// followedTopic is the topic in the name of a follow's lock file, TOPIC-HASH.lock; "" where
// the name is none.
func followedTopic(file string) string {
	name, ok := strings.CutSuffix(file, ".lock")
	i := strings.LastIndexByte(name, '-')
	if !ok || i < 0 || segments.ValidTopicName(name[:i]) != nil {
		return ""
	}
	return name[:i]
}

// locksAt appends l once for each process at it. A file that is not there or cannot be
// read is nobody's.
func (r *Root) locksAt(all []Lock, table map[string][]LockUser, l Lock) []Lock {
	kind := flockType
	if l.Kind == KafkaLock {
		kind = posixType
	}
	users, err := lockUsers(table, kind, l.Path)
	if err != nil {
		return all
	}
	for _, u := range users {
		l.LockUser = u
		all = append(all, l)
	}
	return all
}
