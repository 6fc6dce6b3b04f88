package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// String is the partition as Kafka writes it: topic-number.
func (p *Partition) String() string { return segments.PartitionDir(p.topic, p.number) }

// wrap gives an error its partition, and what was being done.
func (p *Partition) wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", step, p, err)
}

// fits reports whether a hint of topic id may belong to a partition of topic have. A
// partition whose id is not known accepts any.
func (id TopicID) fits(have TopicID) bool { return id == have || have == (TopicID{}) }

const epochsName = "leader-epoch-checkpoint"

// epochs is the partition's history of leader epochs, empty where there is no file or
// none that can be read: it is told by the batches as well.
func (p *Partition) epochs() (segments.Epochs, error) {
	b, err := vfs.ReadFile(p.fs, filepath.Join(p.dir, epochsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	es, err := segments.ParseEpochs(b)
	if err != nil {
		return nil, nil
	}
	return es, nil
}

func (p *Partition) setEpochs(es segments.Epochs) error {
	return vfs.WriteFile(p.fs, filepath.Join(p.dir, epochsName), segments.EncodeEpochs(es))
}

// quarantineDir is where the bytes go that are taken out of this partition's log.
func (p *Partition) quarantineDir() (string, error) {
	top := filepath.Join(p.dir, stateDir)
	if p.root != nil {
		top = p.root.statePath()
	}
	dir := filepath.Join(top, "quarantine", p.String())
	return dir, vfs.MkdirAll(p.fs, dir)
}

// recoveryCheckpoint is the partition's line in the root's
// recovery-point-offset-checkpoint, 0 where there is none.
func (p *Partition) recoveryCheckpoint() int64 {
	if p.root == nil {
		return 0
	}
	at, ok, err := p.root.Checkpoint(RecoveryPointCheckpoint, p.topic, p.number)
	if err != nil || !ok {
		return 0
	}
	return at
}

// setRecoveryCheckpoint notes in the root that everything below at is on disk, if the
// partition is still there: gone says so under the root's lock. A topic that was made
// anew under the name must not be told that its log reaches so far.
func (p *Partition) setRecoveryCheckpoint(ctx context.Context, at int64, gone func() error) error {
	if p.root == nil {
		return nil
	}
	unlock, err := p.root.lockRoot(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := gone(); err != nil {
		return err
	}
	return p.root.editCheckpoint(RecoveryPointCheckpoint, func(m map[TopicPartition]int64) {
		m[TopicPartition{p.topic, p.number}] = at
	})
}
