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

// VerifyOptions say how thorough Verify is.
type VerifyOptions struct {
	// Deep decompresses and decodes every record.
	Deep bool
	// Read, if not nil, is told how many more bytes of log have been read.
	Read func(bytes int64)
}

// VerifyFinding is a finding and whose it is. Topic is "" and Partition -1 where it
// belongs to none.
type VerifyFinding struct {
	segments.Finding
	Topic     string
	Partition int32
}

// Verify checks the partition's files, beside whoever writes to them, as
// segments.Verify does; that its checkpoints and the writers' hint fit its log; and
// that it is there and of its topic. It takes no lock and changes nothing. report is
// called with each finding; an error of it ends the run.
//
// The error is one of reading, ErrTopicGone if the topic was deleted meanwhile.
func (p *Partition) Verify(ctx context.Context, o VerifyOptions, report func(VerifyFinding) error) (segments.VerifyResult, error) {
	v := &partitionVerifier{p: p, sink: report}
	// What may only be reached by the end is read before the end is.
	known, err := v.knownEnds()
	if err != nil {
		return segments.VerifyResult{}, err
	}
	so := segments.VerifyOptions{FS: p.fs, Deep: o.Deep, IndexInterval: p.indexInterval(), Dense: p.dense(), Read: o.Read}
	res, err := segments.Verify(ctx, p.dir, so, v.segments)
	if errors.Is(err, fs.ErrNotExist) {
		err = v.missingDirectory(err)
		res.Findings = v.count
		return res, err
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", p, err)
	}
	if err := v.checkEnds(known, res); err != nil {
		return res, err
	}
	if err := v.checkID(); err != nil {
		return res, err
	}
	res.Findings = v.count
	return res, nil
}

// indexInterval is the topic's index.interval.bytes, 0 where it cannot be told.
func (p *Partition) indexInterval() int {
	cfg, err := p.config()
	if err != nil {
		return 0
	}
	return int(cfg.IndexIntervalBytes)
}

// dense reports whether it is known that nothing compacts the partition. What a broker
// did to it before it was the topic's is in the checkpoint of its cleaner.
func (p *Partition) dense() bool {
	if p.t == nil || !p.t.HasEntry() {
		return false
	}
	cfg, err := p.config()
	if err != nil || cfg.Compacted() {
		return false
	}
	cleaned, err := readCheckpoint(p.fs, p.rootFile(CleanerCheckpoint))
	_, was := cleaned[TopicPartition{p.topic, p.number}]
	return err == nil && !was
}

// partitionVerifier is one run of Partition.Verify.
type partitionVerifier struct {
	p     *Partition
	sink  func(VerifyFinding) error
	count int
	lost  bool // the newest segment is missing, which has been told
}

func (v *partitionVerifier) segments(f segments.Finding) error {
	v.count++
	v.lost = v.lost || f.What == segments.MissingSegment && f.LastOffset < 0
	return v.sink(VerifyFinding{f, v.p.topic, v.p.number})
}

// missingDirectory decides about a partition whose directory is not there, or is not
// any more.
func (v *partitionVerifier) missingDirectory(cause error) error {
	p := v.p
	if _, err := p.fs.Stat(p.dir); err == nil || !errors.Is(err, fs.ErrNotExist) || p.root == nil {
		return fmt.Errorf("%s: %w", p, cause)
	}
	now, err := p.root.Topic(p.topic)
	if errors.Is(err, ErrUnknownTopic) || err == nil && now.id != p.id {
		return fmt.Errorf("%s: %w", p, ErrTopicGone)
	}
	if err != nil {
		return err
	}
	return v.segments(segments.AboutFile(p.dir, "missing partition directory", segments.RepairNone))
}

// knownEnds is what is known of a partition's log apart from its segments.
type knownEnds struct {
	hint     int64 // next offset by the writers' hint, -1: no hint of this boot
	start    int64 // log start, -1: no checkpoint
	recovery int64 // recovery point, -1: no checkpoint
}

func (v *partitionVerifier) knownEnds() (knownEnds, error) {
	k := knownEnds{hint: v.p.hintedEnd(), start: -1, recovery: -1}
	abs, err := filepath.Abs(v.p.dir)
	if err != nil {
		return k, err
	}
	for kind, at := range map[CheckpointKind]*int64{LogStartCheckpoint: &k.start, RecoveryPointCheckpoint: &k.recovery} {
		m, err := readCheckpoint(v.p.fs, filepath.Join(filepath.Dir(abs), string(kind)))
		if errors.Is(err, segments.ErrCorrupt) || errors.Is(err, segments.ErrUnknownVersion) {
			continue // a finding about the root
		}
		if err != nil {
			return k, err
		}
		if offset, ok := m[TopicPartition{v.p.topic, v.p.number}]; ok {
			*at = offset
		}
	}
	return k, nil
}

// hintedEnd is the next offset by the hint, -1 if there is none of this boot for this
// topic.
func (p *Partition) hintedEnd() int64 {
	b, err := vfs.ReadFile(p.fs, filepath.Join(p.dir, stateDir, "hint"))
	if err != nil || len(b) < blockSize {
		return -1
	}
	blk := block{mem: b[:blockSize], slot: -1}
	if !blk.valid() {
		return -1
	}
	t, ok := blk.load()
	if !ok || !t.topic.fits(p.id) || !thisMachine().lives(t.boot, t.bootTime) {
		return -1
	}
	return t.next
}

// checkEnds compares what is known with the log's end. A log that seems too short is
// looked at again: it may have been truncated in order.
func (v *partitionVerifier) checkEnds(known knownEnds, res segments.VerifyResult) error {
	end := res.End
	if v.lost || max(known.hint, known.start, known.recovery) <= end {
		return nil
	}
	known, err := v.knownEnds()
	if err != nil {
		return err
	}
	// Not the Partition's own bounds: they end at the log start where the log does not
	// reach it.
	log, err := segments.OpenLog(v.p.dir, segments.LogOptions{FS: v.p.fs, Now: v.p.o.Now})
	if err != nil {
		return v.p.gone(err)
	}
	if end, err = log.End(); err != nil {
		return v.p.gone(err)
	}
	switch {
	case known.hint > end:
		return v.shortLog(res, end, known.hint)
	case known.recovery > end:
		return v.beyond(RecoveryPointCheckpoint, "recovery point beyond the end of the log", end, known.recovery)
	case known.start > end:
		return v.beyond(LogStartCheckpoint, "log start beyond the end of the log", end, known.start)
	}
	return nil
}

// shortLog reports that the log does not reach to the offset that was known.
func (v *partitionVerifier) shortLog(res segments.VerifyResult, end, known int64) error {
	f := segments.AboutFile(v.p.dir, "the log ends before records that were acknowledged", segments.RepairAdvance)
	if res.LastFile != "" {
		f.File, f.Position = res.LastFile, res.LastSize
	}
	f.FirstOffset, f.LastOffset = end, known-1
	return v.segments(f)
}

// beyond reports a checkpoint that speaks of offsets the log does not have.
func (v *partitionVerifier) beyond(kind CheckpointKind, what string, end, known int64) error {
	f := segments.AboutFile(v.p.rootFile(kind), what, segments.RepairAdvance)
	f.FirstOffset, f.LastOffset = end, known-1
	return v.segments(f)
}

// rootFile is a file of the root, or of the directory in which a bare one lies.
func (p *Partition) rootFile(kind CheckpointKind) string {
	return filepath.Join(filepath.Dir(p.dir), string(kind))
}

// checkID checks that the directory is of the topic that its name says.
func (v *partitionVerifier) checkID() error {
	p := v.p
	if p.root == nil || p.id == (TopicID{}) {
		return nil
	}
	id, err := readPartitionID(p.fs, p.dir)
	if err != nil || id == (TopicID{}) || id == p.id {
		return err
	}
	if now, err := p.root.Topic(p.topic); err != nil || now.id == id {
		return err // deleted and made anew meanwhile
	}
	return v.segments(segments.AboutFile(filepath.Join(p.dir, segments.PartitionMetaName),
		fmt.Sprintf("topic id %s, the topic's is %s", id, p.id), segments.RepairRebuild))
}
