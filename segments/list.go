package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sort"

	"github.com/klog-project/klog/segments/vfs"
)

// ListName is where the list of segments lies below a partition's directory.
const ListName = ".klog/segments"

// The list of segments is klog's own file. It tells a reader which segments there are
// without listing a directory of ten thousand names, and it tells everybody which
// segments there should be: what is named here and not on disk was removed by none of
// klog's commands.
//
// All integers are big endian. A header:
//
//	 0  4       magic "KSEG"
//	 4  uint16  version, 1
//	 6  uint16  size of an entry, 24
//	 8  int64   number of entries
//	16  int64   mtime of the partition's directory, in ns since the epoch, for which
//	            the entries are exactly its segments; 0: for none
//	24  4       zero
//	28  uint32  CRC-32C of bytes 0 to 27
//
// and one entry a segment, rising by base offset:
//
//	 0  int64   base offset
//	 8  int64   largest timestamp in ms; -1: the segment has none; -2^63: not known,
//	            as of the active segment
//	16  4       zero
//	20  uint32  CRC-32C of bytes 0 to 19
//
// Who changes it holds the partition's append lock. Readers take no lock: a header or
// entry that is read while it is written fails its checksum and means the same as a
// list that is not there. The rules that make it worth believing:
//
//   - A segment is created, and its directory synced, before the list names it; the
//     list forgets a segment before its files are removed or renamed. So whatever is
//     killed in between leaves files that the list does not name, never the reverse.
//   - The directory's mtime changes with every name that comes or goes in it, and not
//     with what happens in .klog below. It is written into the header last. A reader
//     believes the list if the mtime is still the same; else it lists the directory.
//     mtimes have a grain (a few ms on most file systems), so a reader also copes with
//     a segment that is gone when it opens it, and looks for a segment named by the
//     log's end when it comes there.
//   - Nobody makes the list anew from the directory alone while there is one: names
//     that are on the list and not on disk stay on it (MergeSegments).
const (
	listMagic      = "KSEG"
	listVersion    = 1
	listHeaderSize = 32
	listEntrySize  = 24
)

// UnknownTimestamp is the MaxTimestamp of a segment whose largest timestamp has not
// been written down: the active segment, or one that something else than klog sealed.
const UnknownTimestamp = math.MinInt64

// ErrListStale is returned when the list of segments cannot be believed: it is damaged,
// being written, or of a version that this program does not know. The directory has to
// be listed instead.
var ErrListStale = errors.New("list of segments is not usable")

// SegmentInfo is one entry of the list of segments.
type SegmentInfo struct {
	Base         int64
	MaxTimestamp int64 // ms since the epoch; -1: none; UnknownTimestamp
}

// List is a partition's list of segments, open. Its methods read what they need from
// the file. A List belongs to one goroutine.
type List struct {
	f     vfs.File
	count int
	mtime int64
	buf   []byte // scratch
}

// OpenList reads the header of the list in f, which stays the caller's to close. The
// error is ErrListStale if there is no usable header.
func OpenList(f vfs.File) (*List, error) {
	l := &List{f: f}
	return l, l.Reload()
}

// Reload reads the header again, as another process may have changed it.
func (l *List) Reload() error {
	var b [listHeaderSize]byte
	if err := l.readAt(b[:], 0); err != nil {
		return err
	}
	if string(b[:4]) != listMagic || binary.BigEndian.Uint16(b[4:]) != listVersion ||
		binary.BigEndian.Uint16(b[6:]) != listEntrySize || !sealed(b[:]) {
		return fmt.Errorf("%w: no valid header", ErrListStale)
	}
	count := int64(binary.BigEndian.Uint64(b[8:]))
	if count < 0 || count > math.MaxInt32 {
		return fmt.Errorf("%w: %d entries", ErrListStale, count)
	}
	l.count, l.mtime = int(count), int64(binary.BigEndian.Uint64(b[16:]))
	return nil
}

// Fresh reports whether the list names exactly the segments in the partition's
// directory, which dir describes.
func (l *List) Fresh(dir fs.FileInfo) bool {
	return l.mtime != 0 && l.mtime == dirTime(dir)
}

// dirTime is the directory's mtime as the header holds it. 0 stands for no time: such
// a list is never fresh.
func dirTime(dir fs.FileInfo) int64 {
	if dir == nil || dir.ModTime().IsZero() {
		return 0
	}
	return dir.ModTime().UnixNano()
}

// Len is the number of segments.
func (l *List) Len() int { return l.count }

// At returns the i-th segment, counted from 0.
func (l *List) At(i int) (SegmentInfo, error) {
	var b [listEntrySize]byte
	if err := l.readAt(b[:], entryAt(i)); err != nil {
		return SegmentInfo{}, err
	}
	return parseSegmentInfo(b[:])
}

// Find returns the last segment with a base offset <= offset, reading about log2(Len)
// entries, and its number. The number is -1 if all lie above.
func (l *List) Find(offset int64) (SegmentInfo, int, error) {
	var found SegmentInfo
	var failed error
	n := sort.Search(l.count, func(i int) bool {
		if failed != nil {
			return true
		}
		s, err := l.At(i)
		failed = err
		if err != nil || s.Base > offset {
			return true
		}
		found = s
		return false
	})
	if failed != nil {
		return SegmentInfo{}, -1, failed
	}
	return found, n - 1, nil
}

// All returns every segment.
func (l *List) All() ([]SegmentInfo, error) {
	return l.entries(nil, 0, l.count)
}

// entries appends n entries from number i on to all.
func (l *List) entries(all []SegmentInfo, i, n int) ([]SegmentInfo, error) {
	const atOnce = 256 // a damaged count must not cost memory
	if need := min(n, atOnce) * listEntrySize; cap(l.buf) < need {
		l.buf = make([]byte, need)
	}
	for n > 0 {
		b := l.buf[:min(n, atOnce)*listEntrySize]
		if err := l.readAt(b, entryAt(i)); err != nil {
			return nil, err
		}
		for ; len(b) > 0; b = b[listEntrySize:] {
			s, err := parseSegmentInfo(b)
			if err != nil {
				return nil, err
			}
			if n := len(all); n > 0 && all[n-1].Base >= s.Base {
				return nil, fmt.Errorf("%w: base offset %d behind %d", ErrListStale, s.Base, all[n-1].Base)
			}
			all = append(all, s)
			i++
			n--
		}
	}
	return all, nil
}

// AppendSegment adds the new active segment. Its files exist and the directory is
// synced. dir describes the directory as it is now if the list was Fresh before the
// files were made, so that it is again; else it is nil.
func (l *List) AppendSegment(base int64, dir fs.FileInfo) error {
	if l.count > 0 {
		last, err := l.At(l.count - 1)
		if err != nil {
			return err
		}
		if last.Base >= base {
			return fmt.Errorf("%w: segment %d behind %d", ErrListStale, base, last.Base)
		}
	}
	e := appendSegmentInfo(nil, SegmentInfo{Base: base, MaxTimestamp: UnknownTimestamp})
	if _, err := l.f.WriteAt(e, entryAt(l.count)); err != nil {
		return fmt.Errorf("list of segments: %w", err)
	}
	return l.writeHeader(l.count+1, dirTime(dir))
}

// SetMaxTimestamp writes down the largest timestamp of the i-th segment once it is
// sealed; -1 stands for none.
func (l *List) SetMaxTimestamp(i int, ts int64) error {
	s, err := l.At(i)
	if err != nil {
		return err
	}
	s.MaxTimestamp = ts
	if _, err := l.f.WriteAt(appendSegmentInfo(nil, s), entryAt(i)); err != nil {
		return fmt.Errorf("list of segments: %w", err)
	}
	return nil
}

// Confirm says that the list names exactly the segments in the directory as dir
// describes it: after a change of names other than segments under the append lock, if
// the list was Fresh before.
func (l *List) Confirm(dir fs.FileInfo) error { return l.writeHeader(l.count, dirTime(dir)) }

func (l *List) writeHeader(count int, mtime int64) error {
	if _, err := l.f.WriteAt(listHeader(count, mtime), 0); err != nil {
		return fmt.Errorf("list of segments: %w", err)
	}
	l.count, l.mtime = count, mtime
	return nil
}

// readAt makes a list that ends too early a stale one.
func (l *List) readAt(b []byte, off int64) error {
	err := readFullAt(l.f, b, off)
	switch {
	case len(b) == 0 || err == nil:
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("%w: ends at byte %d", ErrListStale, off)
	}
	return err
}

// EncodeList is a whole list as a file holds it. dir is as for AppendSegment.
func EncodeList(all []SegmentInfo, dir fs.FileInfo) []byte {
	b := listHeader(len(all), dirTime(dir))
	for _, s := range all {
		b = appendSegmentInfo(b, s)
	}
	return b
}

func listHeader(count int, mtime int64) []byte {
	b := append(make([]byte, 0, listHeaderSize+count*listEntrySize), listMagic...)
	b = binary.BigEndian.AppendUint16(b, listVersion)
	b = binary.BigEndian.AppendUint16(b, listEntrySize)
	b = binary.BigEndian.AppendUint64(b, uint64(count))
	b = binary.BigEndian.AppendUint64(b, uint64(mtime))
	b = append(b, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, checksum(b))
}

func entryAt(i int) int64 { return listHeaderSize + int64(i)*listEntrySize }

func appendSegmentInfo(dst []byte, s SegmentInfo) []byte {
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.Base))
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.MaxTimestamp))
	dst = append(dst, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(dst, checksum(dst[from:]))
}

func parseSegmentInfo(b []byte) (SegmentInfo, error) {
	if !sealed(b[:listEntrySize]) {
		return SegmentInfo{}, fmt.Errorf("%w: bad checksum of an entry", ErrListStale)
	}
	return SegmentInfo{
		Base:         int64(binary.BigEndian.Uint64(b)),
		MaxTimestamp: int64(binary.BigEndian.Uint64(b[8:])),
	}, nil
}

// sealed reports whether b ends with the checksum of what is before it.
func sealed(b []byte) bool {
	n := len(b) - 4
	return binary.BigEndian.Uint32(b[n:]) == checksum(b[:n])
}

// ReadSegmentDir lists the base offsets of the segments in a partition's directory,
// rising: of the regular files named exactly like a .log file. Everything else in the
// directory is passed over.
func ReadSegmentDir(fsys vfs.FS, dir string) ([]int64, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var bases []int64
	for _, e := range entries { // sorted by name, which is by offset
		base, suffix, ok := ParseSegmentName(e.Name())
		if ok && suffix == LogSuffix && e.Type().IsRegular() {
			bases = append(bases, base)
		}
	}
	return bases, nil
}

// MergeSegments joins a list with the segments found on disk, both rising. all is the
// list as it should go on: what it named, and what is on disk beside. missing are the
// segments that only the list names.
func MergeSegments(list []SegmentInfo, disk []int64) (all, missing []SegmentInfo) {
	for len(list) > 0 || len(disk) > 0 {
		switch {
		case len(list) == 0 || len(disk) > 0 && disk[0] < list[0].Base:
			all = append(all, SegmentInfo{Base: disk[0], MaxTimestamp: UnknownTimestamp})
			disk = disk[1:]
			continue
		case len(disk) == 0 || list[0].Base < disk[0]:
			missing = append(missing, list[0])
		default:
			disk = disk[1:]
		}
		all = append(all, list[0])
		list = list[1:]
	}
	return all, missing
}

// RewriteList replaces a partition's list as a whole, or makes it: when segments leave
// at the front, and when compaction replaces them. dir is as for AppendSegment.
func RewriteList(fsys vfs.FS, partitionDir string, all []SegmentInfo, dir fs.FileInfo) error {
	return vfs.WriteFile(fsys, filepath.Join(partitionDir, ListName), EncodeList(all, dir))
}
