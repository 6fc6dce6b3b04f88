package logfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// quiet is how long nothing must have been added to a file that was renamed until it
// counts as finished.
const quiet = 500 * time.Millisecond

// Reader reads the file at a path as it grows and is rotated. It belongs to one
// goroutine.
type Reader struct {
	path string
	f    *os.File // nil: nothing is open, the path is waited for
	id   Place    // its device and inode
	pos  int64
	seen seen
	size int64 // the largest that was seen

	idle     bool      // the end was reached since the last check of the beginning
	grew     time.Time // when bytes were last found
	finished bool      // nothing will be added to f: another file has taken its place
}

// Open reads the file at path from its beginning. A file that does not exist yet is no
// error: Peek finds nothing until it does.
func Open(path string) (*Reader, error) {
	r := &Reader{path: path}
	err := r.openPath()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.f == nil {
		return nil
	}
	err := r.f.Close()
	r.f = nil
	return err
}

// openPath opens what stands at the path now, from its beginning.
func (r *Reader) openPath() error { return r.openAt(r.path) }

// openAt opens the file name from its beginning.
func (r *Reader) openAt(name string) error {
	f, err := openRegular(name)
	if err != nil {
		return err
	}
	id, size, err := identity(f)
	if err != nil {
		f.Close()
		return err
	}
	r.begin(f, id, 0, seen{})
	r.size = size
	return nil
}

// openRegular opens a file that can be read at any position.
func openRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}

// begin goes on in f at a position.
func (r *Reader) begin(f *os.File, id Place, pos int64, c seen) {
	r.Close()
	*r = Reader{path: r.path, f: f, id: id, pos: pos, seen: c, size: pos, grew: time.Now(), idle: true}
}

// Place is where the reader stands; zero while there is no file.
func (r *Reader) Place() Place {
	if r.f == nil {
		return Place{}
	}
	return r.seen.place(r.id, r.pos)
}

// PlaceAfter is where the reader will stand when the bytes b, which Peek returned, are
// taken.
func (r *Reader) PlaceAfter(b []byte) Place {
	c := seen{head: append([]byte(nil), r.seen.head...), tail: append([]byte(nil), r.seen.tail...)}
	c.advance(b)
	return c.place(r.id, r.pos+int64(len(b)))
}

// Take moves the reader behind the bytes b, which Peek returned.
func (r *Reader) Take(b []byte) {
	r.seen.advance(b)
	r.pos += int64(len(b))
}

// Unread is how many bytes are known to lie behind the reader.
func (r *Reader) Unread() int64 { return max(0, r.size-r.pos) }

// ErrTruncated is returned when the file does not hold any more what was read of it: it
// was truncated, or written anew. Restart goes on at its beginning.
var ErrTruncated = errors.New("truncated")

// Spare is how much larger than what it shall return a buffer for Peek has to be.
const Spare = tailBytes

// Peek reads what lies behind the reader into buf and returns it, without moving. It
// returns nothing where there is nothing yet. The bytes before the position are read
// with it and compared, so that no byte of another file is ever returned.
func (r *Reader) Peek(buf []byte) ([]byte, error) {
	if r.f == nil {
		if err := r.openPath(); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return nil, err
		}
	}
	if r.idle {
		if err := r.checkHead(); err != nil {
			return nil, err
		}
	}
	before := len(r.seen.tail)
	n, err := r.f.ReadAt(buf, r.pos-int64(before))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if n < before || !equal(r.seen.tail, buf[:before]) {
		return nil, ErrTruncated
	}
	found := buf[before:n]
	r.idle = len(found) == 0
	if end := r.pos + int64(len(found)); end > r.size {
		r.size = end
		r.grew = time.Now()
	}
	return found, nil
}

// checkHead looks whether the file still begins as it did. It is done whenever there was
// a pause, in which a file may have been truncated and have grown again.
func (r *Reader) checkHead() error {
	head := make([]byte, len(r.seen.head))
	if n, err := r.f.ReadAt(head, 0); n < len(head) {
		if err == io.EOF {
			err = ErrTruncated
		}
		return err
	}
	if !equal(r.seen.head, head) {
		return ErrTruncated
	}
	return nil
}

// Restart goes to the beginning of the file that is open.
func (r *Reader) Restart() error {
	id, size, err := identity(r.f)
	if err != nil {
		return err
	}
	r.pos, r.seen, r.size, r.idle, r.grew = 0, seen{}, size, true, time.Now()
	r.id = id
	return nil
}

// Finished reports whether the file is finished: another one stands at the path, has
// content, and nothing has been added to this one for a moment. It is asked when Peek
// has found nothing new; what Peek finds after the answer true is the rest.
func (r *Reader) Finished() (bool, error) {
	if r.f == nil {
		return false, nil
	}
	if r.finished {
		return true, nil
	}
	there, size, err := at(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || there.SameFile(r.id) || size == 0 {
		return false, err
	}
	if time.Since(r.grew) < quiet && !r.wasQuiet() {
		return false, nil
	}
	r.finished = true
	return true, nil
}

// wasQuiet reports whether the file's last change is long ago: it was rotated while
// nobody looked.
func (r *Reader) wasQuiet() bool {
	st, err := r.f.Stat()
	if err != nil {
		return false
	}
	age := time.Since(st.ModTime())
	return age > quiet || age < 0
}

// Next goes on, after this file is finished, to the one that came after it: that at the
// path, or one that was there in between and was rotated too.
func (r *Reader) Next() error {
	if name := r.between(); name != "" {
		if err := r.openAt(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := r.openPath()
	if errors.Is(err, fs.ErrNotExist) {
		r.Close()
		return nil
	}
	return err
}
