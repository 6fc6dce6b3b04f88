package engine

import (
	"errors"
	"fmt"
)

// What errors.Is finds behind the errors of this package.
var (
	// ErrNoRoot: the directory that should hold the logs is not there.
	ErrNoRoot = errors.New("no such root")
	// ErrUnknownTopic: the root has no topic of that name.
	ErrUnknownTopic = errors.New("no such topic")
	// ErrUnknownPartition: the topic has no partition of that number here.
	ErrUnknownPartition = errors.New("no such partition")
	// ErrTopicExists: the name is taken, or too like another one.
	ErrTopicExists = errors.New("topic exists already")
	// ErrInvalid: a name, a number or a config that the rules do not allow.
	ErrInvalid = errors.New("not valid")
	// ErrTooNew: the root was written by a klog that this one must not write beside.
	ErrTooNew = errors.New("written by a newer klog")
	// ErrSharedFS: writing to a shared file system has not been enabled.
	ErrSharedFS = errors.New("shared file system")
)

// NoRootError names the directory that is missing. It is ErrNoRoot.
type NoRootError struct{ Dir string }

func (e *NoRootError) Error() string { return e.Dir + ": no such root" }

// Unwrap makes errors.Is(err, ErrNoRoot) true.
func (e *NoRootError) Unwrap() error { return ErrNoRoot }

// UnknownTopicError is ErrUnknownTopic and says where it was looked for.
type UnknownTopicError struct {
	Name string
	Root string // the directory that was searched
	Near string // the most similar name there, or ""
	// Deleted is set where a deleted topic was looked for.
	Deleted bool
}

func (e *UnknownTopicError) Error() string {
	if e.Deleted {
		return fmt.Sprintf("%s: no such deleted topic in %s", e.Name, e.Root)
	}
	return fmt.Sprintf("%s: no such topic in %s", e.Name, e.Root)
}

// Unwrap makes errors.Is(err, ErrUnknownTopic) true.
func (e *UnknownTopicError) Unwrap() error { return ErrUnknownTopic }

// UnknownPartitionError is ErrUnknownPartition.
type UnknownPartitionError struct {
	Topic     string
	Partition int32
	Root      string
	Count     int // how many partitions the topic has
}

func (e *UnknownPartitionError) Error() string {
	return fmt.Sprintf("%s: no partition %d in %s, which has %d of it", e.Topic, e.Partition, e.Root, e.Count)
}

// Unwrap makes errors.Is(err, ErrUnknownPartition) true.
func (e *UnknownPartitionError) Unwrap() error { return ErrUnknownPartition }

// NoPartitionError tells that there is nothing to adopt. It is ErrUnknownPartition.
type NoPartitionError struct {
	Dir   string // as it was given
	Below bool   // Dir is called as no partition is, so its own directories were looked at
}

func (e *NoPartitionError) Error() string {
	if e.Below {
		return e.Dir + ": holds no partition directories (TOPIC-NUMBER, with a segment file in it)"
	}
	return e.Dir + ": is no partition directory: it holds no segment file"
}

// Unwrap makes errors.Is(err, ErrUnknownPartition) true.
func (e *NoPartitionError) Unwrap() error { return ErrUnknownPartition }

// TopicExistsError is ErrTopicExists.
type TopicExistsError struct {
	Name string
	// Other is the existing topic whose name collides with Name: Kafka takes '.' and
	// '_' for the same. "" where the name itself is taken.
	Other string
}

func (e *TopicExistsError) Error() string {
	if e.Other != "" {
		return fmt.Sprintf("%s: collides with topic %s ('.' and '_' count as the same)", e.Name, e.Other)
	}
	return e.Name + ": topic exists already"
}

// Unwrap makes errors.Is(err, ErrTopicExists) true.
func (e *TopicExistsError) Unwrap() error { return ErrTopicExists }

// InvalidError is ErrInvalid: what was asked for breaks a rule.
type InvalidError struct {
	Reason string // what was given and what would be right
}

func (e *InvalidError) Error() string { return e.Reason }

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// TooNewError is ErrTooNew: nothing was written.
type TooNewError struct {
	Path string // the file that says so
	Need int    // format that a writer must understand
}

func (e *TooNewError) Error() string {
	return fmt.Sprintf("%s: writing here needs format %d, this klog knows %d: use the newer klog", e.Path, e.Need, FormatVersion)
}

// Unwrap makes errors.Is(err, ErrTooNew) true.
func (e *TooNewError) Unwrap() error { return ErrTooNew }

// SharedFSError is ErrSharedFS: nothing was written.
type SharedFSError struct {
	Dir string // the root
	FS  string // name of the file system, or "unknown"
}

func (e *SharedFSError) Error() string {
	return fmt.Sprintf("%s: is on a shared file system (%s) where writing is not enabled", e.Dir, e.FS)
}

// Unwrap makes errors.Is(err, ErrSharedFS) true.
func (e *SharedFSError) Unwrap() error { return ErrSharedFS }
