package segments

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

const (
	// heldFindings is how many findings of one segment wait for its end, when it is
	// known that they are about the files that are there; more are told at once.
	heldFindings = 256
	// verifyTries is how often a segment is read whose files are replaced meanwhile.
	verifyTries = 3
)

// errReplacedFile means that a file is no longer the one that was opened.
var errReplacedFile = errors.New("replaced while it was read")

// segmentCheck is the verification of one segment.
type segmentCheck struct {
	v      *verifier
	base   int64
	later  int64 // base of the next segment, -1: none
	newest bool
	bound  int64 // where the log ends for us
	path   string

	files   []openedFile
	log     vfs.File
	scan    *Scanner
	index   *offsetCheck
	times   *timeCheck
	txns    *txnCheck
	state   IndexState
	scratch [2][]byte
	damaged bool
	held    []Finding
	beyond  *Finding // batches with offsets that belong to the next segment
	read    int64    // bytes told to Read
}

// openedFile is a file of the segment, and which one it was.
type openedFile struct {
	path string
	info fs.FileInfo // nil: there was none
	f    vfs.File
}

// segment verifies one segment. size is where to stop in the newest one, else -1.
func (v *verifier) segment(base, size int64) error {
	for try := 1; ; try++ {
		c := &segmentCheck{v: v, base: base, later: -1, newest: size >= 0, bound: size, path: v.path(base, LogSuffix)}
		if later, ok := v.laterBase(base); ok {
			c.later = later
		}
		err := c.run(try == verifyTries)
		c.close()
		switch {
		case err == errReplacedFile && try < verifyTries:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return v.segmentGone(base)
		}
		return err
	}
}

// segmentGone decides about a segment whose log is not there any more.
func (v *verifier) segmentGone(base int64) error {
	listed, err := v.stillListed(base)
	if err != nil || !listed {
		return err
	}
	return v.report(v.missingSegment(base))
}

func (c *segmentCheck) run(lastTry bool) error {
	if err := c.openAll(); err != nil {
		return err
	}
	c.state = NewIndexState()
	c.scan = NewScanner(c.log, c.path, c.base, 0, c.bound, c.base)
	batches := int64(0)
	for {
		b, more, err := c.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := c.batch(b); err != nil {
			return err
		}
		batches++
	}
	if err := c.finish(); err != nil {
		return err
	}
	if err := c.confirm(); err != nil && !lastTry {
		return err
	}
	v := c.v
	v.res.Segments++
	v.res.Bytes += c.scan.Position()
	v.res.Batches += batches
	v.res.LastFile, v.res.LastSize = c.path, c.scan.Position()
	v.floor = max(v.floor, c.scan.NextOffset())
	if c.later >= 0 {
		v.floor = min(v.floor, c.later)
	}
	c.progress(c.bound)
	return c.tell()
}

// openAll opens the log and its indexes. The log is opened first and its end taken
// before any index is looked at.
func (c *segmentCheck) openAll() (err error) {
	if c.log, err = c.openFile(LogSuffix); err != nil {
		return err
	}
	size := c.files[0].info.Size()
	if c.bound < 0 || size < c.bound {
		c.bound = size
	}
	vfs.Advise(c.log, 0, c.bound, vfs.Sequential)
	index, err := c.openIndex(IndexSuffix)
	if err != nil {
		return err
	}
	times, err := c.openIndex(TimeIndexSuffix)
	if err != nil {
		return err
	}
	txns, err := c.openIndex(TxnIndexSuffix)
	if err != nil {
		return err
	}
	c.index = newOffsetCheck(index, c.base, !c.newest)
	c.times = newTimeCheck(times, c.base, !c.newest)
	c.txns = newTxnCheck(txns, c.base, !c.newest)
	return nil
}

func (c *segmentCheck) openFile(suffix string) (vfs.File, error) {
	name := c.v.path(c.base, suffix)
	f, err := openRegular(c.v.fs, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	c.files = append(c.files, openedFile{name, info, f})
	return f, nil
}

// openIndex opens an index file; one that is not there is none.
func (c *segmentCheck) openIndex(suffix string) (openedFile, error) {
	_, err := c.openFile(suffix)
	name := c.v.path(c.base, suffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.files = append(c.files, openedFile{path: name})
	case errors.Is(err, errNotRegular):
		c.hold(AboutFile(name, "not a regular file", RepairNone))
		c.files = append(c.files, openedFile{path: name})
	case err != nil:
		return openedFile{}, err
	}
	return c.files[len(c.files)-1], nil
}

func (c *segmentCheck) close() {
	for _, f := range c.files {
		if f.f != nil {
			f.f.Close()
		}
	}
}

// next returns the next good batch; more is false at the end. Damage on the way is
// reported.
func (c *segmentCheck) next() (b Batch, more bool, err error) {
	for {
		b, err = c.scan.Next()
		var bad *CorruptError
		switch {
		case err == nil:
			return b, true, nil
		case err == io.EOF:
			return Batch{}, false, nil
		case !errors.As(err, &bad):
			return Batch{}, false, err
		}
		if more, err = c.bad(bad); !more || err != nil {
			return Batch{}, false, err
		}
	}
}

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
	c.damaged = true
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

// batch checks one good batch against everything that speaks of it.
func (c *segmentCheck) batch(b Batch) error {
	c.placed(b)
	if err := c.index.batch(b); err != nil {
		return err
	}
	if err := c.times.batch(b); err != nil {
		return err
	}
	aborted := c.v.follow(b)
	if err := c.txns.batch(b, aborted); err != nil {
		return err
	}
	c.scratch[0], c.scratch[1] = c.state.Add(b.BatchHeader, c.base, b.Position, c.v.o.IndexInterval, c.scratch[0][:0], c.scratch[1][:0])
	if err := c.v.epochs.batch(c.v, c.path, b); err != nil {
		return err
	}
	if done := b.Position + b.Size(); done-c.read >= scanBuffer {
		if err := context.Cause(c.v.ctx); err != nil {
			return err
		}
		c.progress(done)
	}
	if c.v.o.Deep {
		return c.deep(b)
	}
	return nil
}

func (c *segmentCheck) progress(done int64) {
	if c.v.o.Read != nil && done > c.read {
		c.v.o.Read(done - c.read)
	}
	c.read = done
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

// finish checks what is known only at the segment's end.
func (c *segmentCheck) finish() error {
	end := c.scan.Position()
	if c.beyond != nil {
		if err := c.reachesBeyond(); err != nil {
			return err
		}
	}
	if err := c.index.finish(end, c.state.OffsetEntries); err != nil {
		return err
	}
	if err := c.times.finish(c.state); err != nil {
		return err
	}
	if err := c.txns.finish(c.scan.NextOffset()); err != nil {
		return err
	}
	for _, r := range c.readers() {
		if r.fault != nil {
			c.hold(r.finding())
		}
	}
	return nil
}

// readers are those of the index files.
func (c *segmentCheck) readers() [3]*entryReader {
	return [3]*entryReader{&c.index.entryReader, &c.times.entryReader, &c.txns.entryReader}
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
