package segments_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

const unknown = segments.UnknownTimestamp

// newList makes a partition directory with a list of n segments, 10 offsets each.
func newList(t *testing.T, n int) (dir string, l *segments.List) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "orders-0")
	if err := os.MkdirAll(filepath.Join(dir, ".klog"), 0o777); err != nil {
		t.Fatal(err)
	}
	var all []segments.SegmentInfo
	for i := range n {
		all = append(all, segments.SegmentInfo{Base: int64(i * 10), MaxTimestamp: int64(1000 + i)})
		addFile(t, dir, segments.SegmentName(int64(i*10))+".log")
	}
	if err := segments.RewriteList(vfs.OS, dir, all, stat(t, dir)); err != nil {
		t.Fatal(err)
	}
	return dir, openList(t, dir)
}

func openList(t *testing.T, dir string) *segments.List {
	t.Helper()
	f, err := vfs.OS.OpenFile(filepath.Join(dir, segments.ListName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l, err := segments.OpenList(f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}

func addFile(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestListFind(t *testing.T) {
	_, l := newList(t, 100)
	for _, tt := range []struct {
		offset int64
		want   int
	}{{-1, -1}, {0, 0}, {9, 0}, {10, 1}, {555, 55}, {990, 99}, {math.MaxInt64, 99}} {
		s, i, err := l.Find(tt.offset)
		if err != nil || i != tt.want || i >= 0 && s.Base != int64(tt.want*10) {
			t.Errorf("offset %d: got %v, number %d, %v, want number %d", tt.offset, s, i, err, tt.want)
		}
	}
	_, empty := newList(t, 0)
	if _, i, err := empty.Find(5); i != -1 || err != nil {
		t.Errorf("in an empty list: got %d, %v", i, err)
	}
}

func TestListFollowsTheDirectory(t *testing.T) {
	dir, l := newList(t, 3)
	if !l.Fresh(stat(t, dir)) {
		t.Fatal("a new list is not fresh")
	}
	// A writer rolls: the files first, the list after.
	addFile(t, dir, segments.SegmentName(30)+".log")
	setMTime(t, dir, 1)
	if l.Fresh(stat(t, dir)) {
		t.Error("a list that does not know the new segment is fresh")
	}
	if err := l.SetMaxTimestamp(2, 77); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendSegment(30, stat(t, dir)); err != nil {
		t.Fatal(err)
	}
	other := openList(t, dir)
	if !other.Fresh(stat(t, dir)) || other.Len() != 4 {
		t.Errorf("got %d segments, fresh %v; want 4, fresh", other.Len(), other.Fresh(stat(t, dir)))
	}
	want := []segments.SegmentInfo{{0, 1000}, {10, 1001}, {20, 77}, {30, unknown}}
	if got, err := other.All(); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	// Another name comes: not fresh, until it is confirmed under the lock.
	addFile(t, dir, "leader-epoch-checkpoint")
	setMTime(t, dir, 2)
	if other.Fresh(stat(t, dir)) {
		t.Error("fresh although the directory changed")
	}
	if err := other.Confirm(stat(t, dir)); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(); err != nil || !l.Fresh(stat(t, dir)) {
		t.Errorf("not fresh after it was confirmed: %v", err)
	}
	// A roll by somebody who found the list not fresh leaves it so.
	if err := l.AppendSegment(40, nil); err != nil {
		t.Fatal(err)
	}
	if l.Fresh(stat(t, dir)) || l.Len() != 5 {
		t.Error("fresh without a directory time")
	}
	if err := l.AppendSegment(40, nil); !errors.Is(err, segments.ErrListStale) {
		t.Errorf("the same segment twice: got %v", err)
	}
}

// setMTime gives a directory a time of its own: real ones may be equal within a tick.
func setMTime(t *testing.T, dir string, n int64) {
	t.Helper()
	at := stat(t, dir).ModTime().Add(1_000_000_007)
	if err := os.Chtimes(dir, at, at); err != nil {
		t.Fatal(n, err)
	}
}

func TestListDamage(t *testing.T) {
	dir, _ := newList(t, 2)
	name := filepath.Join(dir, segments.ListName)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := range good {
		bad := append([]byte(nil), good...)
		bad[at] ^= 0x10
		if err := readList(t, name, bad); !errors.Is(err, segments.ErrListStale) {
			t.Errorf("byte %d changed: got %v, want ErrListStale", at, err)
		}
	}
	for n := range good {
		if err := readList(t, name, good[:n]); !errors.Is(err, segments.ErrListStale) {
			t.Errorf("cut to %d bytes: got %v, want ErrListStale", n, err)
		}
	}
	// A segment that is being added is not counted yet.
	if err := readList(t, name, append(append([]byte(nil), good...), 1, 2, 3)); err != nil {
		t.Error(err)
	}
}

func readList(t *testing.T, name string, data []byte) error {
	t.Helper()
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := segments.OpenList(f)
	if err != nil {
		return err
	}
	_, err = l.All()
	return err
}

func TestMergeSegments(t *testing.T) {
	list := []segments.SegmentInfo{{0, 5}, {10, 6}, {20, 7}, {40, unknown}}
	all, missing := segments.MergeSegments(list, []int64{0, 20, 30, 40, 50})
	wantAll := []segments.SegmentInfo{{0, 5}, {10, 6}, {20, 7}, {30, unknown}, {40, unknown}, {50, unknown}}
	if d := cmp.Diff(wantAll, all); d != "" {
		t.Errorf("all (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]segments.SegmentInfo{{10, 6}}, missing); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	if all, missing := segments.MergeSegments(nil, nil); all != nil || missing != nil {
		t.Errorf("got %v %v", all, missing)
	}
}

func TestG041ReadSegmentDir(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"00000000000000000000.log", "00000000000000000007.log", "0.log", "0000000000000000010.log", "000000000000000000010.log",
		"99999999999999999999.log", "-0000000000000000001.log", "00000000000000000005.log.bak", "00000000000000000009.log.deleted",
		"00000000000000000008.index", "README", ".DS_Store",
	} {
		addFile(t, dir, name)
	}
	if err := os.Mkdir(filepath.Join(dir, "00000000000000000011.log"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("00000000000000000012.log", filepath.Join(dir, "00000000000000000012.log")); err != nil {
		t.Fatal(err)
	}
	got, err := segments.ReadSegmentDir(vfs.OS, dir)
	if d := cmp.Diff([]int64{0, 7}, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// memFile is a file of a list that is only read.
type memFile struct {
	vfs.File
	data []byte
}

func (m memFile) ReadAt(p []byte, off int64) (int, error) { return readerOf(m.data).ReadAt(p, off) }
