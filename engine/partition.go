package engine

import (
	"fmt"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// Partition is one partition's directory. Its methods may be called concurrently.
type Partition struct {
	dir    string  // its directory
	topic  string  // its topic's name
	number int32   // of the partition
	id     TopicID // the topic's, as known when it was opened; zero if it was not
	root   *Root   // nil for a bare directory
	t      *Topic  // nil for a bare directory
	fs     vfs.FS
	o      Options
}

// OpenPartitionDir opens a partition by its directory, for reading: one that Kafka wrote,
// one that was copied somewhere. Its name must be that of a partition ("orders-0").
func OpenPartitionDir(dir string, o Options) (*Partition, error) {
	clean := filepath.Clean(dir)
	abs, err := filepath.Abs(clean)
	if err != nil {
		return nil, err
	}
	topic, number, ok := segments.ParsePartitionDir(filepath.Base(abs))
	if !ok {
		return nil, &InvalidError{Reason: fmt.Sprintf("partition directory %q: its name must be TOPIC-NUMBER", dir)}
	}
	p := &Partition{dir: clean, topic: topic, number: number, fs: o.tolerantFS(), o: o}
	info, err := p.fs.Stat(clean)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &InvalidError{Reason: fmt.Sprintf("partition directory %q: not a directory", dir)}
	}
	p.id, err = readPartitionID(p.fs, clean)
	return p, err
}

// Dir is the partition's directory.
func (p *Partition) Dir() string { return p.dir }

// Topic is the name of the partition's topic.
func (p *Partition) Topic() string { return p.topic }

// Number is the partition's number.
func (p *Partition) Number() int32 { return p.number }

// TopicID is the topic's id when the partition was opened, zero where none is known.
func (p *Partition) TopicID() TopicID { return p.id }

// Root is the root that the partition belongs to, nil for a bare directory.
func (p *Partition) Root() *Root { return p.root }

// config is the effective config as it is now: one stat where nothing has changed. A
// bare directory has the defaults. Errors are those of Topic.Config.
func (p *Partition) config() (*Config, error) {
	if p.t == nil {
		return newConfig(nil, nil)
	}
	return p.t.Config()
}

// lockPath is the partition's append lock.
func (p *Partition) lockPath() string { return p.dir + "/" + stateDir + "/" + lockFileName }
