// Package engine works on roots: directories of topics, whose partitions any number of
// processes append to and read at once, with no server between them.
//
// A Root is opened for reading with Open, which creates nothing, or for writing with
// Create. It gives Topics, and those give Partitions. A Partition is appended to with a
// Writer and read with a Reader or a View; OpenPartitionDir opens one by its directory
// alone, also one that a Kafka broker wrote. Root has the methods that make, change and
// delete topics: each happens wholly or not at all, whatever kills the process.
//
// What may be used by several goroutines says so. Everything may be used by several
// processes: what belongs to one partition is guarded by its append lock, what belongs to
// none by the root's, which is taken first. Readers take no lock and write nothing.
//
// Errors wrap what errors.Is and errors.As find: ErrNoRoot, ErrUnknownTopic,
// ErrUnknownPartition, ErrTopicExists, ErrTopicGone, ErrInvalid (of which ConfigError is
// one), ErrTooNew, ErrSharedFS, *LockedError, segments.ErrCorrupt, and the system's own.
package engine
