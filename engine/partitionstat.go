package engine

import (
	"errors"
	"io/fs"

	"github.com/klog-project/klog/segments"
)

// PartitionStat is what can be said of a partition without reading its records.
type PartitionStat struct {
	Start    int64 // first offset that is to be read
	End      int64 // the one that the next record will get
	Segments int
	Bytes    int64 // of the log files
	Epoch    int32 // the latest leader epoch, -1 where none is known
}

// Stat looks at the partition's files. A partition in use may have grown meanwhile.
func (p *Partition) Stat() (PartitionStat, error) {
	v, err := p.View(ViewOptions{})
	if err != nil {
		return PartitionStat{}, err
	}
	st := PartitionStat{Start: v.start, End: v.end, Segments: v.log.SegmentCount(), Epoch: -1}
	if st.Bytes, err = p.Bytes(); err != nil {
		return PartitionStat{}, err
	}
	epochs, err := p.epochs()
	if err != nil {
		return PartitionStat{}, err
	}
	if last, ok := epochs.Latest(); ok {
		st.Epoch = last.Epoch
	}
	return st, nil
}

// Bytes is the size of the partition's log files.
func (p *Partition) Bytes() (int64, error) {
	files, err := p.fs.ReadDir(p.dir)
	if err != nil {
		return 0, p.gone(err)
	}
	var sum int64
	for _, f := range files {
		if _, suffix, ok := segments.ParseSegmentName(f.Name()); !ok || suffix != segments.LogSuffix || !f.Type().IsRegular() {
			continue
		}
		fi, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return 0, err
		}
		sum += fi.Size()
	}
	return sum, nil
}

// Bytes is the size of the log files of all partitions that are here.
func (t *Topic) Bytes() (int64, error) {
	var sum int64
	for _, n := range t.Numbers() {
		p, err := t.Partition(n)
		if err != nil {
			return 0, err
		}
		b, err := p.Bytes()
		if err != nil {
			return 0, err
		}
		sum += b
	}
	return sum, nil
}
