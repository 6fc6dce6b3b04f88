package segments

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// heldFindings is how many findings of one segment wait for its end, when it is known
// that they are about the files that are there; more are told at once.
const heldFindings = 256

// bad decides about bytes that are no good batch. more is false if the log ends there.
func (c *segmentCheck) bad(bad *CorruptError) (more bool, err error) {
	pos, next := c.scan.Position(), c.scan.NextOffset()
	if c.newest {
		if more, done, err := c.lookAgain(); more || done || err != nil {
			return more, err
		}
	}
	t, err := ExamineTail(c.log, c.base, pos, c.scan.End(), next, !c.newest)
	if err != nil || t.Torn {
		return false, err
	}
	if c.newest {
		// A writer may have cut the tail and written over it while it was examined.
		if more, done, err := c.lookAgain(); more || done || err != nil {
			return more, err
		}
	}
	d := t.describe(bad)
	if d.LastOffset < 0 && t.End == c.scan.End() && c.later > d.FirstOffset {
		d.LastOffset = c.later - 1
	} else if d.LastOffset < 0 && t.Offsets > 0 {
		d.LastOffset = d.FirstOffset + t.Offsets - 1
	}
	c.index.skip(t.End)
	c.times.damaged = true
	c.txns.damaged = true
	c.scan.Resume(t.End, next)
	return true, c.find(Finding{
		File: c.path, Position: d.Position, Size: d.Size,
		FirstOffset: d.FirstOffset, LastOffset: d.LastOffset, What: d.Reason, Repair: RepairQuarantine,
	})
}

// lookAgain reads once more where no good batch began: half of a write may be whole by
// now, or cut off. more is true if there is a batch, done if the log ends there.
func (c *segmentCheck) lookAgain() (more, done bool, err error) {
	info, err := c.log.Stat()
	if err != nil {
		return false, false, err
	}
	pos, next := c.scan.Position(), c.scan.NextOffset()
	size := info.Size()
	if size <= pos {
		return false, true, nil
	}
	// A batch that is whole but reaches beyond the end that we saw came later.
	peek := NewScanner(c.log, c.path, c.base, pos, size, next)
	b, err := peek.Next()
	if err == nil && b.Position+b.Size() > c.bound {
		return false, true, nil
	}
	if err != nil && ignoreDamage(err) != nil {
		return false, false, err
	}
	c.scan.SetEnd(min(c.bound, size))
	return err == nil, false, nil
}

// placed notes whether the batch has offsets that belong to the next segment.
func (c *segmentCheck) placed(b Batch) {
	if c.later < 0 || b.LastOffset() < c.later {
		return
	}
	if c.beyond == nil {
		c.beyond = &Finding{
			File: c.path, Position: b.Position, FirstOffset: max(b.BaseOffset, c.later),
			What: "offset beyond the next segment", Repair: RepairNone,
		}
	}
	c.beyond.Size = b.Position + b.Size() - c.beyond.Position
	c.beyond.LastOffset = b.LastOffset()
}

// reachesBeyond reports batches whose offsets the next segment holds too. Compaction
// leaves it so for a moment, when it has replaced the first of several segments by all
// of them: that is waited for.
func (c *segmentCheck) reachesBeyond() error {
	const tries, pause = 10, 20 * time.Millisecond
	for range tries {
		info, err := c.v.fs.Lstat(c.v.path(c.later, LogSuffix))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			break
		}
		select {
		case <-c.v.ctx.Done():
			return context.Cause(c.v.ctx)
		case <-time.After(pause):
		}
	}
	c.hold(*c.beyond)
	return nil
}

// find takes a finding about the log, hold one about the whole segment.
func (c *segmentCheck) find(f Finding) error {
	c.hold(f)
	if len(c.held) < heldFindings {
		return nil
	}
	if err := c.confirm(); err != nil {
		return err
	}
	return c.tell()
}

func (c *segmentCheck) hold(f Finding) { c.held = append(c.held, f) }

func (c *segmentCheck) tell() error {
	for _, f := range c.held {
		if err := c.v.report(f); err != nil {
			return err
		}
	}
	c.held = c.held[:0]
	return nil
}

// confirm makes sure that what was found is about the files that are there: compaction
// may have replaced them, one after the other, and a writer that found its own index
// wanting may have made it anew.
func (c *segmentCheck) confirm() error {
	if len(c.held) == 0 {
		return nil
	}
	for i, f := range c.files {
		info, err := c.v.fs.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.info == nil:
			continue
		case errors.Is(err, fs.ErrNotExist) && i > 0:
			return errReplacedFile
		case err != nil:
			return err
		case f.info == nil || !vfs.SameFile(info, f.info):
			return errReplacedFile
		}
	}
	for _, r := range c.readers() {
		if same, err := r.faultStays(); err != nil {
			return err
		} else if !same {
			return errReplacedFile
		}
	}
	return nil
}
