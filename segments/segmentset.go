package segments

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// segmentSet is which segments a partition has, as it was found at one moment.
type segmentSet struct {
	all     []SegmentInfo // those that are there, rising; nil where kept knows them
	kept    *keptList     // nil: all has them
	missing []SegmentInfo // those that only the kept list names
	path    string        // the partition's directory
	dir     fs.FileInfo   // what it was before the rest was looked at
	settled bool          // a change since then would have changed the directory's mtime
}

// mtimeGrain is how far apart two changes of a directory are that surely give it
// different mtimes.
const mtimeGrain = 2 * time.Second

// loadSegments finds out which segments dir has: from the kept list where that names
// exactly what is there, else by listing the directory, which costs milliseconds with
// thousands of segments. forceListing does the latter in any case.
func loadSegments(fsys vfs.FS, dir string, now time.Time, forceListing bool) (*segmentSet, error) {
	info, err := fsys.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	s := &segmentSet{path: dir, dir: info, settled: now.Sub(info.ModTime()) > mtimeGrain}
	if !forceListing {
		ok, err := s.loadKept(fsys)
		if ok || err != nil {
			return s, err
		}
	}
	kept, err := readKeptList(fsys, dir)
	if err != nil {
		return nil, err
	}
	disk, err := s.list(fsys, dir)
	if err != nil {
		return nil, err
	}
	s.join(kept, disk)
	return s, s.confirmMissing(fsys, dir)
}

// join takes what is on disk, with the timestamps that the list knows.
func (s *segmentSet) join(kept []SegmentInfo, disk []int64) {
	s.all = make([]SegmentInfo, 0, len(disk))
	for _, base := range disk {
		for len(kept) > 0 && kept[0].Base < base {
			s.missing = append(s.missing, kept[0])
			kept = kept[1:]
		}
		info := SegmentInfo{Base: base, MaxTimestamp: UnknownTimestamp}
		if len(kept) > 0 && kept[0].Base == base {
			info = kept[0]
			kept = kept[1:]
		}
		s.all = append(s.all, info)
	}
	s.missing = append(s.missing, kept...)
}

// list is ReadSegmentDir without holes. A name that comes while a directory is listed
// may be in the listing or not, so of two segments that are made meanwhile it may hold
// the second alone, and a reader would pass over the first without a word. Segments are
// made one after the other: what a second listing holds up to the last one of the first
// is all there was.
func (s *segmentSet) list(fsys vfs.FS, dir string) ([]int64, error) {
	first, err := ReadSegmentDir(fsys, dir)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	if now, err := fsys.Stat(dir); err == nil && s.settled && now.ModTime().Equal(s.dir.ModTime()) {
		return first, nil // nothing came meanwhile
	}
	disk, err := ReadSegmentDir(fsys, dir)
	last := first[len(first)-1]
	return slices.DeleteFunc(disk, func(base int64) bool { return base > last }), err
}

// confirmMissing forgets of the missing segments those that the kept list does not
// name any more: it forgets a segment before the file goes, and so tells, read once
// more after the directory, removal in order from loss.
func (s *segmentSet) confirmMissing(fsys vfs.FS, dir string) error {
	if len(s.missing) == 0 {
		return nil
	}
	kept, err := readKeptList(fsys, dir)
	if err != nil {
		return err
	}
	named := make(map[int64]bool, len(kept))
	for _, k := range kept {
		named[k.Base] = true
	}
	s.missing = slices.DeleteFunc(s.missing, func(m SegmentInfo) bool { return !named[m.Base] })
	return nil
}

// readKeptList returns the whole list of segments that klog keeps, nil if there is none
// to be believed.
func readKeptList(fsys vfs.FS, dir string) ([]SegmentInfo, error) {
	f, err := openRegular(fsys, filepath.Join(dir, ListName))
	if err != nil {
		return nil, passOver(err)
	}
	defer f.Close()
	l, err := OpenList(f)
	if err != nil {
		return nil, passOver(err)
	}
	all, err := l.All()
	return all, passOver(err)
}

// passOver leaves of the errors of reading a file that a reader can do without those
// that say nothing about the file: no descriptors left, a broken disk.
func passOver(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errNotRegular) || errors.Is(err, ErrListStale) {
		return nil
	}
	return err
}

var errNotRegular = errors.New("not a regular file")

// openRegular opens a file for reading. What only looks like one is refused without
// waiting for anything: opening a FIFO would block until somebody writes to it.
func openRegular(fsys vfs.FS, name string) (vfs.File, error) {
	f, _, err := openStat(fsys, name)
	return f, err
}

// openStat is openRegular and says what was opened.
func openStat(fsys vfs.FS, name string) (vfs.File, fs.FileInfo, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// len is the number of segments.
func (s *segmentSet) len() int {
	if s.kept != nil {
		return s.kept.count
	}
	return len(s.all)
}

// at is the i-th segment, counted from 0.
func (s *segmentSet) at(i int) (SegmentInfo, error) {
	if s.kept != nil {
		return s.kept.at(i)
	}
	return s.all[i], nil
}

// ends are the bases of the first and the last segment; ok is false if there is none.
func (s *segmentSet) ends() (first, last int64, ok bool) {
	switch {
	case s.kept != nil:
		return s.kept.first.Base, s.kept.last.Base, true
	case len(s.all) == 0:
		return 0, 0, false
	}
	return s.all[0].Base, s.all[len(s.all)-1].Base, true
}

// floor is the number of the last segment that begins at or below offset, -1 if all
// begin above it.
func (s *segmentSet) floor(offset int64) (int, error) {
	if s.kept != nil {
		return s.kept.floor(offset)
	}
	return floorOf(s.all, offset), nil
}

func floorOf(all []SegmentInfo, offset int64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].Base > offset }) - 1
}

// after returns the base offset of the first segment that begins above base.
func (s *segmentSet) after(base int64) (int64, bool, error) {
	i, err := s.floor(base)
	if err != nil || i+1 >= s.len() {
		return 0, false, err
	}
	next, err := s.at(i + 1)
	return next.Base, err == nil, err
}

// reaching returns the number of the first segment from number i on of which it is not
// known that all timestamps are below ts, or len.
func (s *segmentSet) reaching(i int, ts int64) (int, error) {
	if s.kept != nil {
		return s.kept.reaching(i, ts)
	}
	for i < len(s.all) && !s.all[i].reaches(ts) {
		i++
	}
	return i, nil
}

// reaches reports whether the segment may hold a timestamp >= ts.
func (s SegmentInfo) reaches(ts int64) bool {
	return s.MaxTimestamp >= ts || s.MaxTimestamp == UnknownTimestamp
}

// missingBetween returns the lowest base offset of a missing segment in [from, to).
func (s *segmentSet) missingBetween(from, to int64) (int64, bool) {
	for _, m := range s.missing {
		if m.Base >= from && m.Base < to {
			return m.Base, true
		}
	}
	return 0, false
}
