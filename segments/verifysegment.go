package segments

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"

	"github.com/klog-project/klog/segments/vfs"
)

const (
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
		open, epochs := maps.Clone(v.open), v.epochs
		c := &segmentCheck{v: v, base: base, later: -1, newest: size >= 0, bound: size, path: v.path(base, LogSuffix)}
		if later, ok := v.laterBase(base); ok {
			c.later = later
		}
		err := c.run(try == verifyTries)
		c.close()
		switch {
		case err == errReplacedFile && try < verifyTries:
			v.open, v.epochs = open, epochs
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
	c.cutShort()
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

// cutShort reports a sealed log whose end is missing: it does not reach to the next segment,
// and an index has entries about batches behind its end. A cut within a batch is damage.
func (c *segmentCheck) cutShort() {
	next := c.scan.NextOffset()
	if !c.v.o.Dense || c.newest || c.times.damaged || next >= c.later {
		return
	}
	offset, time := c.index.beyond(), c.times.beyond()
	if (offset == nil || parseOffsetEntry(offset, c.base).Offset < next) && (time == nil || parseTimeEntry(time, c.base).Offset < next) {
		return
	}
	c.hold(Finding{
		File: c.path, Position: c.scan.Position(), Size: -1, FirstOffset: next, LastOffset: c.later - 1,
		What: "the log ends before records that its index knows", Repair: RepairNone,
	})
}

// readers are those of the index files.
func (c *segmentCheck) readers() [3]*entryReader {
	return [3]*entryReader{&c.index.entryReader, &c.times.entryReader, &c.txns.entryReader}
}
