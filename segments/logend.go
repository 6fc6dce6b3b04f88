package segments

import (
	"errors"
	"io/fs"

	"github.com/klog-project/klog/segments/vfs"
)

// atEnd is called where the open segment has no more bytes. nil means: try again.
//
// The order matters: only once a later segment is known to exist can this one grow no
// more, so its size is looked at once again after that.
func (r *LogReader) atEnd() error {
	if more, err := r.grown(); more || err != nil {
		return err
	}
	later, ok, err := r.l.laterThan(r.seg.base, r.scan.NextOffset())
	if err != nil {
		return err
	}
	if more, err := r.grown(); more || err != nil {
		return err
	}
	if err := r.stillThere(); err != nil {
		return err
	}
	if !ok {
		return r.atLogEnd()
	}
	r.after, r.expect = r.seg.base, later
	r.leave()
	return nil
}

// grown takes notice of the segment's present size. It reports whether bytes came; the
// error is errReplaced where so many are gone that the place has to be found anew.
func (r *LogReader) grown() (bool, error) {
	if r.l.shared {
		// Opening is what makes a network file system ask its server.
		if same, err := r.refresh(); err != nil || !same {
			return false, orReplaced(err)
		}
	}
	info, err := r.stat()
	if err != nil {
		return false, err
	}
	switch size := info.Size(); {
	case size < r.scan.Position():
		return false, errReplaced
	case size > r.scan.End():
		r.scan.SetEnd(size)
		return true, nil
	}
	return false, nil
}

// stillThere is errReplaced if the open file is not the one at its path. As long as the
// set of segments was not loaded anew, what follows this segment in it follows this
// very file, and nothing needs to be asked.
func (r *LogReader) stillThere() error {
	if r.seg.gen == r.l.gen {
		return nil
	}
	info, err := r.l.fs.Stat(r.seg.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errReplaced
	case err != nil:
		return err
	case !vfs.SameFile(info, r.seg.info):
		return errReplaced
	}
	r.seg.gen = r.l.gen
	return nil
}

// atBad is called where no good batch begins. nil means: try again.
//
// What is bad at first sight may be half of a write that is whole by now, a torn tail
// that a writer has cut and written over, a segment that was replaced, or the fault of
// an index. So what the file is like is noted first, and only what is read after that,
// and is bad again in a file that is the same still, is examined; and what is called
// damage then is read once more.
func (r *LogReader) atBad(bad *CorruptError) error {
	now, later, err := r.lookAround()
	if err != nil {
		return err
	}
	if r.looked.file != now {
		r.looked.file, r.looked.damaged = now, false
		r.scan.SetEnd(now.size)
		return nil
	}
	if !now.sealed && now == r.torn {
		r.scan.SetEnd(now.size)
		return r.atLogEnd()
	}
	tail, err := ExamineTail(openFile{r}, now.base, now.pos, now.size, r.scan.NextOffset(), now.sealed)
	switch {
	case err != nil:
		return err
	case tail.Torn:
		r.torn = now
		r.scan.SetEnd(now.size)
		return r.atLogEnd()
	case r.seg.viaIndex:
		r.seg.viaIndex = false
		r.scan.restart(openFile{r}, r.seg.path, now.base, now.size)
		return nil
	case !r.looked.damaged:
		r.looked.damaged = true
		r.scan.SetEnd(now.size)
		return nil
	}
	return r.damage(tail.describe(bad), tail, now.size, later)
}

// badPlace is a place where no good batch begins, and what its file is like.
type badPlace struct {
	base, pos, size int64
	sealed          bool // there is a later segment
}

// lookAround says what the file is like now, and where the next segment begins: -1 if
// there is none.
func (r *LogReader) lookAround() (now badPlace, later int64, err error) {
	later, sealed, err := r.l.laterThan(r.seg.base, r.scan.NextOffset())
	if err != nil {
		return badPlace{}, 0, err
	}
	if !sealed {
		later = -1
	}
	if err := r.stillThere(); err != nil {
		return badPlace{}, 0, err
	}
	if r.l.shared {
		if same, err := r.refresh(); err != nil || !same {
			return badPlace{}, 0, orReplaced(err)
		}
	}
	info, err := r.stat()
	if err != nil {
		return badPlace{}, 0, err
	}
	if info.Size() < r.scan.Position() {
		return badPlace{}, 0, errReplaced
	}
	return badPlace{r.seg.base, r.scan.Position(), info.Size(), sealed}, later, nil
}

// damage makes what ExamineTail found the error that Next returns, and prepares
// SkipCorrupt. later is the base of the next segment, -1 if there is none. Damage that
// ends below the wanted offset is nobody's concern.
func (r *LogReader) damage(e *CorruptError, tail Tail, size, later int64) error {
	switch {
	case e.LastOffset >= 0:
	case tail.End == size && later > e.FirstOffset:
		e.LastOffset = later - 1
	case tail.Offsets > 0:
		e.LastOffset = e.FirstOffset + tail.Offsets - 1
	}
	r.stuck, r.resume = e, tail.End
	if e.LastOffset >= 0 && e.LastOffset < r.want {
		r.SkipCorrupt()
		return nil
	}
	return e
}
