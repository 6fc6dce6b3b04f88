package segments

import (
	"bytes"
	"fmt"
	"io"
)

// entryFault is the first thing that is wrong with an index file. One is enough: the
// file as a whole is made anew from the log.
type entryFault struct {
	position int64 // -1: the file as a whole
	size     int64 // -1: up to the end
	what     string
	raw      []byte // what was read at position
}

// entryReader reads the entries of an index file one after the other, in bounded
// memory.
type entryReader struct {
	file   openedFile // f is nil where there is none
	size   int64      // of the file when it was opened
	entry  int64      // of one entry
	sealed bool       // the segment grows no more

	buf   []byte
	at    int64  // file position behind buf
	cur   []byte // the current entry, nil behind the last
	pos   int64  // its position
	count int64  // entries so far, the current one included
	fault *entryFault
}

func newEntryReader(file openedFile, entry int64, sealed bool) entryReader {
	r := entryReader{file: file, entry: entry, sealed: sealed}
	if file.f != nil {
		r.size = file.info.Size()
	}
	return r
}

// next moves to the next whole entry; cur is nil if there is none.
func (r *entryReader) next() error {
	const window = 8 << 10
	if r.cur = nil; r.fault != nil || r.file.f == nil {
		return nil
	}
	if len(r.buf) == 0 {
		n := min(window/r.entry, (r.size-r.at)/r.entry) * r.entry
		if n == 0 {
			return nil
		}
		r.buf = make([]byte, n)
		got, err := r.file.f.ReadAt(r.buf, r.at)
		if err != nil && err != io.EOF {
			return err
		}
		r.buf = r.buf[:int64(got)/r.entry*r.entry]
		if len(r.buf) == 0 {
			r.size = r.at // it became shorter
			return nil
		}
		r.at += int64(len(r.buf))
	}
	r.pos = r.at - int64(len(r.buf))
	r.cur, r.buf = r.buf[:r.entry], r.buf[r.entry:]
	r.count++
	return nil
}

// failAt makes the current entry the fault.
func (r *entryReader) failAt(what string) {
	r.fault = &entryFault{position: r.pos, size: r.size - r.pos, what: what, raw: bytes.Clone(r.cur)}
	r.cur = nil
}

// fail is a fault of the file as a whole.
func (r *entryReader) fail(what string) {
	r.fault = &entryFault{position: -1, size: -1, what: what}
	r.cur = nil
}

// beyond returns the entry that lies beyond the end of the log, nil if none does.
func (r *entryReader) beyond() []byte {
	if r.fault == nil || r.fault.what != beyondTheEnd {
		return nil
	}
	return r.fault.raw
}

func (r *entryReader) finding() Finding {
	return Finding{
		File: r.file.path, Position: r.fault.position, Size: r.fault.size,
		FirstOffset: -1, LastOffset: -1, What: r.fault.what, Repair: RepairRebuild,
	}
}

// faultStays reports whether what was found wrong is still what stands in the file.
func (r *entryReader) faultStays() (bool, error) {
	if r.fault == nil || r.fault.raw == nil {
		return true, nil
	}
	now := make([]byte, len(r.fault.raw))
	if err := readFullAt(r.file.f, now, r.fault.position); err != nil {
		return false, ignoreShort(err)
	}
	return bytes.Equal(now, r.fault.raw), nil
}

// padding reports whether the current entry begins the space that was preallocated: the
// file holds nothing but zeros from there on.
func (r *entryReader) padding() (bool, error) {
	if !allZero(r.cur) {
		return false, nil
	}
	buf := make([]byte, 64<<10)
	for at := r.pos; at < r.size; {
		n, err := readAtMost(r.file.f, buf, at, r.size)
		if err != nil || n == 0 {
			return err == nil, err
		}
		if !allZero(buf[:n]) {
			return false, nil
		}
		at += int64(n)
	}
	return true, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// wholeEntries checks that a sealed index ends where an entry does.
func (r *entryReader) wholeEntries() {
	if r.fault == nil && r.sealed && r.size%r.entry != 0 {
		r.fail(fmt.Sprintf("size of %d bytes is no multiple of %d", r.size, r.entry))
	}
}
