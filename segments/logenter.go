package segments

import (
	"errors"
	"io"
)

// enter opens the segment that holds the wanted offset, or the first one behind it.
func (r *LogReader) enter() error {
	const tries = 5 // a listing made during renames may lack a file or name one that is gone
	for try := 0; ; try++ {
		base, err := r.choose(try > 0)
		if err == errLookAgain {
			err = r.l.reload(true)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		err = r.open(base)
		if err == nil || !notThere(err) || try >= tries {
			return err
		}
		if err := r.l.reload(try > 0); err != nil {
			return err
		}
		// Compaction may have moved what the missing segment held into the one that
		// was read to its end before.
		r.after = -1
	}
}

// errLookAgain: before a gap is reported the directory is listed once more.
var errLookAgain = errors.New("look again")

// choose picks the segment to enter. listed says that the set was loaded just now.
func (r *LogReader) choose(listed bool) (int64, error) {
	s, ok, err := r.l.segmentAt(r.want)
	leading := !ok
	if err == nil && (leading || s.Base <= r.after) {
		s, ok, err = r.l.segmentAfter(max(r.want, r.after))
	}
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return r.beyondAll(listed)
	}
	gap := r.gapBefore(s.Base, leading)
	switch {
	case gap == nil:
		return s.Base, nil
	case !listed:
		return 0, errLookAgain
	}
	r.want = s.Base
	return 0, gap
}

// beyondAll is choose where all segments have been read.
func (r *LogReader) beyondAll(listed bool) (int64, error) {
	gen := r.l.gen
	if err := r.l.look(); err != nil {
		return 0, err
	}
	if r.l.gen != gen {
		return r.choose(listed)
	}
	return 0, r.atLogEnd()
}

// gapBefore tells what is gone between the wanted offset and the segment at base.
func (r *LogReader) gapBefore(base int64, leading bool) *GapError {
	if first, ok := r.missingBefore(base); ok {
		return &GapError{Dir: r.l.dir, First: first, Last: base - 1, Missing: true}
	}
	if leading && base > r.want && base != r.expect {
		return &GapError{Dir: r.l.dir, First: r.want, Last: base - 1}
	}
	return nil
}

// missingBefore returns the first wanted offset that lay in a segment which only the
// kept list knows. Where segments are missing the others have all been listed.
func (r *LogReader) missingBefore(base int64) (int64, bool) {
	m := r.l.set.missing
	for i := range m {
		end := base
		if j := floorOf(r.l.set.all, m[i].Base) + 1; j < len(r.l.set.all) {
			end = min(end, r.l.set.all[j].Base)
		}
		if i+1 < len(m) {
			end = min(end, m[i+1].Base)
		}
		if m[i].Base < base && m[i].Base > r.after && end > r.want {
			return max(m[i].Base, r.want), true
		}
	}
	return 0, false
}

// atLogEnd is io.EOF, or once the gap that the missing newest segment leaves.
func (r *LogReader) atLogEnd() error {
	if gap := r.l.MissingEnd(); gap != nil && gap.First != r.told && gap.First > r.after {
		r.told = gap.First
		return &GapError{Dir: gap.Dir, First: max(gap.First, r.end), Last: -1, Missing: true}
	}
	return io.EOF
}

// open enters the segment at base and finds the place of the wanted offset in it.
func (r *LogReader) open(base int64) error {
	path := r.l.path(base, LogSuffix)
	f, info, err := openStat(r.l.fs, path)
	if err != nil {
		return err
	}
	r.leave()
	r.seg = segmentFile{in: true, base: base, path: path, f: f, info: info, gen: r.l.gen}
	r.scan.restart(openFile{r}, path, base, info.Size())
	r.seekInSegment()
	return nil
}
