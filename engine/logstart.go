package engine

import (
	"path/filepath"

	"github.com/klog-project/klog/segments"
)

// LogStart is the first offset that is to be read: the one of the root's checkpoint or
// the base of the first segment, whichever is greater. For a bare directory the
// checkpoint of the directory it lies in counts. A partition without segments starts at
// its checkpoint.
func (p *Partition) LogStart() (int64, error) {
	start, err := p.checkpointStart()
	if err != nil {
		return 0, err
	}
	log, err := segments.OpenLog(p.dir, segments.LogOptions{FS: p.fs, Start: start, Now: p.o.Now})
	if err != nil {
		return 0, p.gone(err)
	}
	return log.Start(), nil
}

// checkpointStart is what the checkpoint of log starts says of the partition, -1 if
// nothing.
func (p *Partition) checkpointStart() (int64, error) {
	abs := p.dir
	if p.root == nil {
		var err error
		if abs, err = filepath.Abs(p.dir); err != nil {
			return 0, err
		}
	}
	m, err := readCheckpoint(p.fs, filepath.Join(filepath.Dir(abs), string(LogStartCheckpoint)))
	if err != nil {
		return 0, err
	}
	if start, ok := m[TopicPartition{p.topic, p.number}]; ok {
		return start, nil
	}
	return -1, nil
}
