package engine

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// quarantined is one line of manifest.json, beside the bytes that it speaks of.
type quarantined struct {
	File        string `json:"file"` // the .bin with the bytes
	Topic       string `json:"topic"`
	Partition   int32  `json:"partition"`
	Segment     string `json:"segment"` // name of the segment that they were cut from
	Position    int64  `json:"position"`
	Size        int64  `json:"size"`
	FirstOffset int64  `json:"first_offset"`
	LastOffset  int64  `json:"last_offset"`
	Time        int64  `json:"time"` // ms since the epoch
}

// quarantine takes the bytes from seg.size up to to out of the active segment, which
// is rewritten without them, and keeps them in the root's quarantine. next is the
// offset behind them.
//
// Order: the bytes and the manifest are on disk before the segment is replaced, by
// rename. Killed before that, the next run keeps the same bytes under the same name
// once more and replaces the segment; readers that have the old file open go on in it.
func (w *Writer) quarantine(seg *tail, to, next int64) error {
	dir, err := w.p.quarantineDir()
	if err != nil {
		return err
	}
	q := quarantined{
		File:  fmt.Sprintf("%s-%d.bin", segments.SegmentName(seg.base), seg.size),
		Topic: w.p.topic, Partition: w.p.number, Segment: segments.SegmentName(seg.base) + ".log",
		Position: seg.size, Size: to - seg.size, FirstOffset: seg.next, LastOffset: next - 1,
		Time: w.p.o.now().UnixMilli(),
	}
	if err := w.keepBytes(filepath.Join(dir, q.File), q.Position, q.Size); err != nil {
		return err
	}
	if err := addManifest(w.p.fs, dir, q); err != nil {
		return err
	}
	if err := w.cutOut(seg.base, q.Position, to); err != nil {
		return err
	}
	w.p.o.notice(fmt.Sprintf("%s-%d: %d bytes at byte %d of %s (offsets %d to %d) were not on disk and lie in %s",
		q.Topic, q.Partition, q.Size, q.Position, q.Segment, q.FirstOffset, q.LastOffset, filepath.Join(dir, q.File)))
	return nil
}

func (w *Writer) keepBytes(name string, from, size int64) error {
	f, err := vfs.OpenOrCreate(w.p.fs, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if err := copyRange(f, 0, w.active.log, from, size); err != nil {
		return err
	}
	return f.Sync()
}

func addManifest(fsys vfs.FS, dir string, q quarantined) error {
	line, err := json.Marshal(q)
	if err != nil {
		return err
	}
	f, err := vfs.OpenOrCreate(fsys, filepath.Join(dir, "manifest.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(append(line, '\n'), st.Size()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// cutOut replaces the active segment's log by one without the bytes from from up to to.
func (w *Writer) cutOut(base, from, to int64) error {
	size, err := w.active.size()
	if err != nil {
		return err
	}
	path := segmentPath(w.p.dir, base, ".log")
	temp := filepath.Join(w.p.dir, stateDir, "repair")
	f, err := vfs.OpenOrCreate(w.p.fs, temp)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if err := copyRange(f, 0, w.active.log, 0, from); err != nil {
		return err
	}
	if err := copyRange(f, from, w.active.log, to, size-to); err != nil {
		return err
	}
	st, err := w.active.log.Stat()
	if err != nil {
		return err
	}
	if err := f.Chmod(st.Mode().Perm()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := w.p.fs.Rename(temp, path); err != nil {
		return err
	}
	if err := w.p.fs.SyncDir(w.p.dir); err != nil {
		return err
	}
	w.active.close()
	return w.active.open(w.p, base)
}
