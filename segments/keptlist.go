package segments

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments/vfs"
)

// keptList is a long list of segments that is read where it is needed. It holds no file
// open: what is in a list's file stays true of the moment when it was Fresh, as entries
// are only added, and a shorter list comes as another file.
type keptList struct {
	fs    vfs.FS
	path  string
	info  fs.FileInfo // which file it is
	count int
	first SegmentInfo
	last  SegmentInfo

	win   []SegmentInfo // entries from number winAt on
	winAt int
}

// reaching is segmentSet.reaching: it goes through the file entry by entry.
func (k *keptList) reaching(i int, ts int64) (int, error) {
	l, f, err := k.open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const atOnce = 256
	var win []SegmentInfo
	for ; i < k.count; i += len(win) {
		win, err = l.entries(win[:0], i, min(atOnce, k.count-i))
		if err != nil {
			return 0, changed(err)
		}
		for j := range win {
			if win[j].reaches(ts) {
				return i + j, nil
			}
		}
	}
	return k.count, nil
}

// errSetChanged: the segments have to be found out anew.
var errSetChanged = errors.New("set of segments has changed")

const (
	// shortList is the length of a list up to which it is read as a whole.
	shortList = 128
	// window is how many entries of a longer one are read around the one that is asked
	// for: the next questions are about its neighbours.
	window = 128
)

// loadKept takes the kept list if it names exactly what the directory holds.
func (s *segmentSet) loadKept(fsys vfs.FS) (ok bool, err error) {
	path := filepath.Join(s.path, ListName)
	f, info, err := openStat(fsys, path)
	if err != nil {
		return false, passOver(err)
	}
	defer f.Close()
	l, err := OpenList(f)
	if err != nil || !l.Fresh(s.dir) {
		return false, passOver(err)
	}
	if l.Len() <= shortList {
		s.all, err = l.All()
		return err == nil, passOver(err)
	}
	s.kept = &keptList{fs: fsys, path: path, info: info, count: l.Len()}
	if s.kept.first, err = l.At(0); err == nil {
		s.kept.last, err = l.At(l.Len() - 1)
	}
	if err != nil {
		s.kept = nil
	}
	return err == nil, passOver(err)
}

// open opens the file again, if it is still the same.
func (k *keptList) open() (*List, vfs.File, error) {
	f, info, err := openStat(k.fs, k.path)
	switch {
	case notThere(err):
		return nil, nil, errSetChanged
	case err != nil:
		return nil, nil, err
	case !vfs.SameFile(info, k.info):
		f.Close()
		return nil, nil, errSetChanged
	}
	return &List{f: f, count: k.count}, f, nil
}

// changed makes of a list that cannot be read a reason to look anew.
func changed(err error) error {
	if errors.Is(err, ErrListStale) {
		return errSetChanged
	}
	return err
}

func (k *keptList) at(i int) (SegmentInfo, error) {
	switch i {
	case 0:
		return k.first, nil
	case k.count - 1:
		return k.last, nil
	}
	if i < k.winAt || i >= k.winAt+len(k.win) {
		if err := k.load(i); err != nil {
			return SegmentInfo{}, err
		}
	}
	return k.win[i-k.winAt], nil
}

// load reads a window around the i-th entry.
func (k *keptList) load(i int) error {
	l, f, err := k.open()
	if err != nil {
		return err
	}
	defer f.Close()
	return k.read(l, i)
}

func (k *keptList) read(l *List, i int) error {
	from := max(0, i-window/4)
	win, err := l.entries(k.win[:0], from, min(window, k.count-from))
	if err != nil {
		k.win = nil
		return changed(err)
	}
	k.win, k.winAt = win, from
	return nil
}

func (k *keptList) floor(offset int64) (int, error) {
	if offset >= k.last.Base {
		return k.count - 1, nil
	}
	if n := len(k.win); n > 0 && k.win[0].Base <= offset && (k.win[n-1].Base > offset || k.winAt+n == k.count) {
		return k.winAt + floorOf(k.win, offset), nil
	}
	l, f, err := k.open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, i, err := l.Find(offset)
	if err != nil {
		return 0, changed(err)
	}
	return i, k.read(l, max(i, 0))
}
