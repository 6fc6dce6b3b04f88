package segments

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// LogOptions say how a Log is read. The zero value reads a directory on a local disk.
type LogOptions struct {
	// FS is where the directory is; nil means vfs.OS.
	FS vfs.FS
	// Start is the log start offset where something outside the directory knows it
	// (a checkpoint of the root): nothing below it is a record any more, whatever the
	// files hold. 0 or less: the first segment says.
	Start int64
	// Shared: the directory is on a file system that other hosts write to. A cached
	// size is not trusted there: files are opened anew to look for more.
	Shared bool
	// ReadAhead is how many bytes a reader reads at once, at least what a batch needs;
	// 0 is 512 KiB. Whoever reads a thousand partitions at a time wants less.
	ReadAhead int
	// Now is the clock that mtimes are compared with; nil means time.Now.
	Now func() time.Time
}

// Log is a read-only view of one partition's directory. It takes no lock, changes no
// byte and needs no permission to write. What it meets may be growing, rolling, being
// compacted or removed meanwhile, by any number of processes.
//
// A Log, its readers and whatever else was made from it belong to one goroutine at a
// time. It holds no file open; its readers hold one each.
type Log struct {
	dir    string
	fs     vfs.FS
	start  int64
	shared bool
	ahead  int
	now    func() time.Time

	set    *segmentSet
	loaded time.Time   // when set was
	gen    int         // how often set was loaded
	dir0   fs.FileInfo // the directory as it was opened
}

// OpenLog opens a partition's directory for reading. The error is one of reading it,
// fs.ErrNotExist by errors.Is if there is none.
func OpenLog(dir string, o LogOptions) (*Log, error) {
	l := &Log{dir: dir, fs: o.FS, start: max(o.Start, 0), shared: o.Shared, ahead: o.ReadAhead, now: o.Now}
	if l.fs == nil {
		l.fs = vfs.OS
	}
	if l.now == nil {
		l.now = time.Now
	}
	set, err := loadSegments(l.fs, dir, l.now(), false)
	if err != nil {
		return nil, err
	}
	l.set, l.loaded, l.dir0 = set, l.now(), set.dir
	return l, nil
}

// Dir is the partition's directory.
func (l *Log) Dir() string { return l.dir }

// Start is the log start offset: where the first segment begins, or higher where
// LogOptions.Start says so.
func (l *Log) Start() int64 {
	first, _, _ := l.set.ends()
	return max(l.start, first)
}

// End is the offset that the next record will get, as far as the files tell now: a
// torn tail does not count, damaged batches do as far as their headers can be
// believed. It reads the newest segment from its last index entry on.
func (l *Log) End() (int64, error) {
	if err := l.look(); err != nil {
		return 0, err
	}
	r := l.Reader(math.MaxInt64)
	defer r.Close()
	end := int64(0)
	for {
		if err := r.enter(); err == io.EOF || isGap(err) {
			break
		} else if err != nil {
			return 0, err
		}
		next, err := r.segmentEnd()
		if err != nil {
			return 0, err
		}
		end = max(end, next)
		base := r.seg.base
		r.leave()
		if _, more, err := l.laterThan(base, next); err != nil {
			return 0, err
		} else if !more {
			break
		}
	}
	if gap := l.MissingEnd(); gap != nil {
		end = max(end, gap.First)
	}
	return max(end, l.Start()), nil
}

// segmentEnd is the offset that follows the open segment.
func (r *LogReader) segmentEnd() (int64, error) {
	r.scan.SetMode(ScanSums)
	e, err := FindEnd(&r.scan, false, nil)
	if err == nil && len(e.Damage) > 0 && r.seg.viaIndex {
		r.scan.restart(openFile{r}, r.seg.path, r.seg.base, r.scan.End())
		e, err = FindEnd(&r.scan, false, nil)
	}
	return max(e.Next, r.seg.base), err
}

// MissingEnd is the gap that missing segments leave at the end of the log, nil if the
// newest segment is there. A reader reports it once, unless it stops before.
func (l *Log) MissingEnd() *GapError {
	behind := int64(0)
	if _, last, ok := l.set.ends(); ok {
		behind = last + 1
	}
	first, ok := l.set.missingBetween(behind, math.MaxInt64)
	if !ok {
		return nil
	}
	return &GapError{Dir: l.dir, First: first, Last: -1, Missing: true}
}

// SegmentCount is the number of segments that are there.
func (l *Log) SegmentCount() int { return l.set.len() }

// segmentAt returns the last segment that begins at or below offset.
func (l *Log) segmentAt(offset int64) (s SegmentInfo, ok bool, err error) {
	err = l.ask(func(set *segmentSet) error {
		i, err := set.floor(offset)
		if ok = err == nil && i >= 0; ok {
			s, err = set.at(i)
		}
		return err
	})
	return s, ok && err == nil, err
}

// segmentAfter returns the first segment that begins above base.
func (l *Log) segmentAfter(base int64) (s SegmentInfo, ok bool, err error) {
	err = l.ask(func(set *segmentSet) error {
		i, err := set.floor(base)
		if ok = err == nil && i+1 < set.len(); ok {
			s, err = set.at(i + 1)
		}
		return err
	})
	return s, ok && err == nil, err
}

// segmentReaching returns the first segment that may hold an offset >= from and a
// timestamp >= ts, and where the one behind it begins: MaxInt64 if there is none.
func (l *Log) segmentReaching(from, ts int64) (s SegmentInfo, end int64, ok bool, err error) {
	err = l.ask(func(set *segmentSet) error {
		i, err := set.floor(from)
		if err == nil {
			i, err = set.reaching(max(i, 0), ts)
		}
		if ok = err == nil && i < set.len(); !ok {
			return err
		}
		s, err = set.at(i)
		if end = math.MaxInt64; err == nil && i+1 < set.len() {
			var next SegmentInfo
			next, err = set.at(i + 1)
			end = next.Base
		}
		return err
	})
	return s, end, ok && err == nil, err
}

// ask asks the set of segments, a new one where the old one has become useless.
func (l *Log) ask(question func(*segmentSet) error) error {
	const tries = 3 // maintenance may be at work
	for range tries {
		if err := question(l.set); err != errSetChanged {
			return err
		}
		if err := l.reload(false); err != nil {
			return err
		}
	}
	if err := l.reload(true); err != nil {
		return err
	}
	return question(l.set)
}

// path is a file of the segment with the given base offset.
func (l *Log) path(base int64, suffix string) string {
	return filepath.Join(l.dir, SegmentName(base)+suffix)
}

// reload finds out anew which segments there are.
func (l *Log) reload(forceListing bool) error {
	set, err := loadSegments(l.fs, l.dir, l.now(), forceListing)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	case err != nil:
		return err
	case !vfs.SameFile(set.dir, l.dir0):
		return ErrGone
	}
	l.set, l.loaded = set, l.now()
	l.gen++
	return nil
}

// sharedGrain is how long a set of segments is believed on a shared file system.
const sharedGrain = time.Second

// look reloads the set of segments if the directory has changed since it was loaded,
// or could have without its mtime showing it.
func (l *Log) look() error {
	info, err := l.fs.Stat(l.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	case err != nil:
		return err
	case !vfs.SameFile(info, l.dir0):
		return ErrGone
	case l.shared && l.now().Sub(l.loaded) > sharedGrain:
		return l.reload(true) // attributes may come from a cache
	case l.set.settled && info.ModTime().Equal(l.set.dir.ModTime()):
		return nil
	case !info.ModTime().Equal(l.set.dir.ModTime()) || l.now().Sub(info.ModTime()) > mtimeGrain:
		return l.reload(false)
	}
	return nil
}

// laterThan returns the first segment above base, looking for one that is new. next is
// the offset that follows what the segment at base holds: a roll names the new segment
// by it, so that one Lstat tells of it even where neither the directory's mtime nor a
// listing that was made meanwhile does.
func (l *Log) laterThan(base, next int64) (int64, bool, error) {
	later, ok, err := l.segmentAfter(base)
	if err != nil || ok && later.Base <= next {
		return later.Base, ok, err
	}
	if next > base {
		if err := l.learn(next); err != nil {
			return 0, false, err
		}
	}
	if !ok {
		if err := l.look(); err != nil {
			return 0, false, err
		}
	}
	later, ok, err = l.segmentAfter(base)
	return later.Base, ok, err
}

// learn makes the segment at base, which the set does not name, known if there is one.
func (l *Log) learn(base int64) error {
	info, err := l.fs.Lstat(l.path(base, LogSuffix))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	if err := l.reload(false); err != nil {
		return err
	}
	s, ok, err := l.segmentAt(base)
	if err == nil && (!ok || s.Base < base) {
		// Its writer has not come to the list yet, or never will.
		err = l.reload(true)
	}
	return err
}
