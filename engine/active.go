package engine

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// activeSegment is the segment that is appended to, with its index files.
type activeSegment struct {
	base      int64
	log       vfs.File
	offset    vfs.File
	time      vfs.File
	lock      vfs.LockFile // the segment's own lock, on shared file systems only
	next      tail         // the tail after the append in hand
	hdr       [segments.HeaderSize]byte
	transient bool // closed at the end of each critical section
}

func (a *activeSegment) open(p *Partition, base int64) error {
	if a.log != nil && a.base == base {
		return nil
	}
	a.close()
	f, err := p.fs.OpenFile(segmentPath(p.dir, base, ".log"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	a.log, a.base = f, base
	return nil
}

func segmentPath(dir string, base int64, suffix string) string {
	return filepath.Join(dir, segments.SegmentName(base)+suffix)
}

func (a *activeSegment) size() (int64, error) {
	if a.log == nil {
		return 0, fs.ErrClosed
	}
	if a.transient {
		return vfs.FreshSize(a.log)
	}
	return vfs.Size(a.log)
}

func (a *activeSegment) hasHeader(t *tail) bool {
	n, err := a.log.ReadAt(a.hdr[:], t.lastPos)
	return n == len(a.hdr) && (err == nil || isEOF(err)) && bytes.Equal(a.hdr[:], t.lastHdr[:])
}

// leave ends a critical section. On a shared file system everything is closed, for
// closing is what makes other hosts' caches look again.
func (a *activeSegment) leave() {
	if a.transient {
		a.close()
	}
}

func (a *activeSegment) close() {
	for _, f := range []vfs.File{a.log, a.offset, a.time} {
		if f != nil {
			_ = f.Close()
		}
	}
	if a.lock != nil {
		_ = a.lock.Close()
	}
	a.log, a.offset, a.time, a.lock = nil, nil, nil, nil
}

// writeIndexes appends entries to the two indexes, behind those that s counts. The
// index files are opened only when an entry is due: most appends of a single record
// touch neither.
func (a *activeSegment) writeIndexes(p *Partition, s segments.IndexState, offset, time []byte) error {
	if len(offset) > 0 {
		if err := a.openIndex(p, &a.offset, ".index"); err != nil {
			return err
		}
		if _, err := a.offset.WriteAt(offset, s.OffsetEntries*segments.OffsetEntrySize); err != nil {
			return err
		}
	}
	if len(time) > 0 {
		if err := a.openIndex(p, &a.time, ".timeindex"); err != nil {
			return err
		}
		if _, err := a.time.WriteAt(time, s.TimeEntries*segments.TimeEntrySize); err != nil {
			return err
		}
	}
	return nil
}

func (a *activeSegment) openIndex(p *Partition, f *vfs.File, suffix string) error {
	if *f != nil {
		return nil
	}
	var err error
	*f, err = vfs.OpenOrCreate(p.fs, segmentPath(p.dir, a.base, suffix))
	return err
}

// cutIndexes takes back the entries of an append that failed.
func (a *activeSegment) cutIndexes(s segments.IndexState) error {
	if a.offset != nil {
		if err := a.offset.Truncate(s.OffsetEntries * segments.OffsetEntrySize); err != nil {
			return err
		}
	}
	if a.time != nil {
		return a.time.Truncate(s.TimeEntries * segments.TimeEntrySize)
	}
	return nil
}
