package segments

import (
	"errors"
	"io"
	"io/fs"

	"github.com/klog-project/klog/segments/vfs"
)

// LogReader reads a log's batches in order from some offset on, to the end as it is
// now and, called again later, on from there. It holds one file open, none after Park.
//
// A LogReader belongs to one goroutine at a time, together with its Log.
type LogReader struct {
	l    *Log
	want int64 // lowest offset that is still wanted
	end  int64 // the offset that follows everything met so far

	seg  segmentFile
	scan Scanner

	after  int64 // base of the last segment that was read to its end, -1
	expect int64 // base of the one known to follow it, -1
	told   int64 // base of the missing segment at the log's end that was reported, -1

	// Of the place where no good batch begins:
	looked struct {
		file    badPlace // as it was before the last try to read there
		damaged bool     // and was found to be damaged
	}
	torn   badPlace      // examined, and found to be half of a write
	stuck  *CorruptError // Next returns it until SkipCorrupt
	resume int64         // where SkipCorrupt goes on
}

// segmentFile is the segment that a LogReader is in.
type segmentFile struct {
	in       bool
	base     int64
	path     string
	f        vfs.File    // nil while parked
	info     fs.FileInfo // which file it is
	gen      int         // the Log's when the file was last known to be the one at path
	viaIndex bool        // an index entry said where to begin
}

// Reader returns a LogReader whose first batch is the one that holds offset from, or
// the first behind it where from lies in a hole. It opens nothing yet.
func (l *Log) Reader(from int64) *LogReader {
	r := &LogReader{l: l}
	r.scan.once = int64(l.ahead)
	r.SeekTo(from)
	return r
}

// SeekTo goes on at another offset, whatever happened before.
func (r *LogReader) SeekTo(offset int64) {
	r.leave()
	r.want = max(offset, 0)
	r.after, r.expect, r.told = -1, -1, -1
	r.stuck = nil
}

// Offset is the lowest offset that is still wanted: the one that follows the last
// batch returned.
func (r *LogReader) Offset() int64 { return r.want }

// File is the path of the segment that the last batch came from.
func (r *LogReader) File() string { return r.scan.file }

// Release gives back the memory of the batch that was returned last; its bytes are
// gone. Whoever has decompressed a huge batch need not hold it twice.
func (r *LogReader) Release() { r.scan.release() }

// Close closes the open file and gives the memory back. The reader may be used again.
func (r *LogReader) Close() error {
	r.leave()
	r.scan.release()
	return nil
}

// Park closes the open file and keeps the place in it: it is opened again when more of
// it is needed. Memory that holds nothing is given back.
func (r *LogReader) Park() {
	r.closeFile()
	if len(r.scan.ahead()) == 0 {
		r.scan.buf = nil
	}
}

func (r *LogReader) closeFile() {
	if r.seg.f != nil {
		r.seg.f.Close()
		r.seg.f = nil
	}
}

// Next returns the next batch that reaches the wanted offset, whole, its checksum
// checked. Its Raw is valid until the next call. The first batch may begin below the
// wanted offset; control batches are returned like others.
//
// The error is io.EOF at the present end, of which half a batch is no part; a
// *CorruptError where damage lies, again and again until SkipCorrupt; a *GapError
// once where offsets are gone; ErrGone when the directory is no longer the one that
// was opened; else one of reading.
func (r *LogReader) Next() (Batch, error) {
	for {
		b, err := r.step()
		if err != nil {
			return Batch{}, err
		}
		if b.LastOffset() >= r.want {
			r.want = b.LastOffset() + 1
			return b, nil
		}
	}
}

// NextChunk fills c with the next batches that reach the wanted offset, as many as one
// read brings. The errors are those of Next. Checksums are left to the caller: where
// one is wrong it continues behind the last good batch with SeekTo and Next, which tell
// whether it is damage.
func (r *LogReader) NextChunk(c *Chunk) error {
	for {
		next := int64(0) // the offset that the batches in front lead to
		err := r.advance(func() error {
			next = r.scan.NextOffset()
			return r.scan.nextRun(c)
		})
		if err != nil {
			return err
		}
		for len(c.Batches) > 0 && c.Batches[0].LastOffset() < r.want {
			b := c.Batches[0]
			if !b.CheckCRC() {
				return r.nextAsChunk(c, b.Position, next)
			}
			next = b.LastOffset() + 1
			c.Batches = c.Batches[1:]
		}
		r.end = max(r.end, r.scan.NextOffset())
		if len(c.Batches) > 0 {
			r.want = max(r.want, r.scan.NextOffset())
			return nil
		}
	}
}

// nextAsChunk makes a chunk of what Next returns from a place on that has been passed:
// a batch is bad there of which it is not sure that nobody wants it.
func (r *LogReader) nextAsChunk(c *Chunk, pos, next int64) error {
	r.scan.Resume(pos, next)
	b, err := r.Next()
	if err != nil {
		return err
	}
	c.Batches, c.Shared = append(c.Batches[:0], b), true
	return nil
}

// SkipCorrupt goes on behind the damage that Next has reported: at the next good
// batch, where there is one.
func (r *LogReader) SkipCorrupt() {
	if r.stuck != nil {
		r.stuck = nil
		r.scan.Resume(r.resume, r.scan.NextOffset())
	}
}

// skip makes of an error that a search does not mind nil, and goes on behind it.
func (r *LogReader) skip(err error) error {
	var gap *GapError
	var bad *CorruptError
	switch {
	case errors.As(err, &gap):
		return nil
	case errors.As(err, &bad) && r.stuck != nil:
		r.SkipCorrupt()
		return nil
	}
	return err
}

// step returns the next batch, wanted or not.
func (r *LogReader) step() (b Batch, err error) {
	err = r.advance(func() (err error) {
		b, err = r.scan.Next()
		return err
	})
	if err == nil {
		r.end = max(r.end, b.LastOffset()+1)
	}
	return b, err
}

// advance calls read until it succeeds, in whatever segment that may be.
func (r *LogReader) advance(read func() error) error {
	for r.stuck == nil {
		if !r.seg.in {
			if err := r.enter(); err != nil {
				return err
			}
		}
		err := read()
		var bad *CorruptError
		switch {
		case err == nil:
			return nil
		case err == io.EOF:
			err = r.atEnd()
		case errors.As(err, &bad):
			err = r.atBad(bad)
		}
		switch {
		case err == errReplaced:
			// Compaction has put another file there, which may hold what the old one
			// did not, or retention has removed it: the offset says where to go on.
			r.leave()
		case err != nil:
			return err
		}
	}
	return r.stuck
}

// openFile is the segment's file as the Scanner reads it: while parked it is opened
// again when bytes are really needed.
type openFile struct{ r *LogReader }

// errReplaced: another file has taken the place of the one that was parked, or none.
var errReplaced = errors.New("segment was replaced")

func (o openFile) ReadAt(p []byte, off int64) (int, error) {
	if o.r.seg.f == nil {
		if same, err := o.r.refresh(); err != nil || !same {
			return 0, orReplaced(err)
		}
	}
	return o.r.seg.f.ReadAt(p, off)
}

func orReplaced(err error) error {
	if err == nil {
		return errReplaced
	}
	return err
}

// refresh opens the segment's file anew and reports whether it is still the same one.
func (r *LogReader) refresh() (bool, error) {
	r.closeFile()
	f, info, err := openStat(r.l.fs, r.seg.path)
	switch {
	case notThere(err):
		return false, nil
	case err != nil:
		return false, err
	case !vfs.SameFile(info, r.seg.info):
		f.Close()
		return false, nil
	}
	r.seg.f = f
	return true, nil
}

// stat looks at the segment's file, of which a parked one must still be at its path.
func (r *LogReader) stat() (fs.FileInfo, error) {
	if r.seg.f != nil {
		return r.seg.f.Stat()
	}
	info, err := r.l.fs.Stat(r.seg.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errReplaced
	case err != nil:
		return nil, err
	case !vfs.SameFile(info, r.seg.info):
		return nil, errReplaced
	}
	return info, nil
}

// notThere: the name leads to no segment (any more).
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular)
}

// leave forgets the segment; the offset decides where to go next.
func (r *LogReader) leave() {
	r.closeFile()
	r.seg = segmentFile{}
	r.torn, r.looked.file = badPlace{}, badPlace{}
}
