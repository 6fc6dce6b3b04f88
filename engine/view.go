package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// ViewOptions say how a partition is looked at. The zero value is right for reading
// one partition to its end.
type ViewOptions struct {
	// Committed: the end is the last stable offset, and the records of aborted
	// transactions are not seen.
	Committed bool
	// ReadAhead is how many bytes are read at once; 0 is half a MiB. Whoever reads many
	// partitions side by side takes less of each.
	ReadAhead int
	// MaxDecompressed bounds the memory for one compressed batch, in bytes; 0 is
	// segments.DefaultMaxDecompressed.
	MaxDecompressed int
}

// View is a partition as it is at one moment: it fixes the end that bounded reads go
// to and that positions are counted from. A View and all that is made from it belong
// to one goroutine at a time. It holds no file open.
type View struct {
	p     *Partition
	o     ViewOptions
	log   *segments.Log
	start int64
	end   int64
}

// View looks at the partition now. The error is ErrTopicGone if its directory is no
// longer there.
func (p *Partition) View(o ViewOptions) (*View, error) {
	start, err := p.checkpointStart()
	if err != nil {
		return nil, err
	}
	log, err := segments.OpenLog(p.dir, segments.LogOptions{
		FS:        p.fs,
		Start:     start,
		Shared:    p.onShared(),
		ReadAhead: o.ReadAhead,
		Now:       p.o.Now,
	})
	if err != nil {
		return nil, p.gone(err)
	}
	v := &View{p: p, o: o, log: log, start: log.Start()}
	if v.end, err = log.End(); err != nil {
		return nil, p.gone(err)
	}
	if o.Committed {
		v.end, err = v.stableEnd()
	}
	return v, p.gone(err)
}

func (v *View) stableEnd() (int64, error) {
	s, err := v.log.StableEnd(v.end)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	end, err := s.At(v.end)
	return max(end, v.start), err
}

// onShared reports whether other hosts may write to the partition's files. A file
// system of unknown kind counts as shared.
func (p *Partition) onShared() bool {
	if p.root != nil && p.root.shared {
		return true
	}
	if !vfs.IsOS(p.fs) {
		return false
	}
	t, err := vfs.FSType(p.dir)
	return err == nil && t.Shared
}

// gone words what reading says about a directory that is not there (any more).
func (p *Partition) gone(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, segments.ErrGone), p.root != nil && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", p, ErrTopicGone)
	}
	return err
}

// Partition is what the view is of.
func (v *View) Partition() *Partition { return v.p }

// Start is the first offset that can be read.
func (v *View) Start() int64 { return v.start }

// End is the offset behind the last record that can be read: the one that the next
// record will get, or with Committed the last stable offset.
func (v *View) End() int64 { return v.end }

// Bounds are the first offset that can be read and the one that the next record will
// get.
func (p *Partition) Bounds() (start, end int64, err error) {
	v, err := p.View(ViewOptions{})
	if err != nil {
		return 0, 0, err
	}
	return v.start, v.end, nil
}

// LastN returns the offset at which the last n visible records of the view begin, and
// how many there are: fewer than n if the partition holds no more. keep, where it is
// not nil, says which records count.
func (v *View) LastN(n int64, keep func(*segments.Record) bool) (offset, count int64, err error) {
	offset, count, err = v.log.LastN(n, segments.LastOptions{
		From:            v.start,
		Until:           v.end,
		Committed:       v.o.Committed,
		Keep:            keep,
		MaxDecompressed: v.o.MaxDecompressed,
	})
	return offset, count, v.p.gone(err)
}

// OffsetForTime returns the offset of the first record whose timestamp is at or after
// ms, in the order of offsets; the view's end if it has none.
func (v *View) OffsetForTime(ms int64) (int64, error) {
	offset, found, err := v.log.OffsetForTime(ms, v.start)
	switch {
	case err != nil:
		return 0, v.p.gone(err)
	case !found:
		return v.end, nil
	}
	return min(offset, v.end), nil
}

// addOffset is a + n without wrapping around; n is not negative.
func addOffset(a, n int64) int64 {
	if n > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + n
}
