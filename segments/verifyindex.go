package segments

import (
	"bytes"
	"fmt"
	"io"
	"math"
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

// offsetCheck holds an .index against the batches of its segment.
//
// An entry is right if its position is where a batch begins and its offset the last one
// of that batch, or of one behind it: older brokers made one entry for several batches.
type offsetCheck struct {
	entryReader
	base    int64
	e       OffsetEntry // the current entry
	last    OffsetEntry // the one before
	begun   bool
	skipTo  int64 // entries into what lies before are not looked at
	pending int64 // offset of an entry that must be the last of a later batch, -1: none
	from    []byte
	fromPos int64 // the entry that is pending
}

func newOffsetCheck(file openedFile, base int64, sealed bool) *offsetCheck {
	return &offsetCheck{
		entryReader: newEntryReader(file, OffsetEntrySize, sealed), base: base,
		last: OffsetEntry{Offset: base - 1}, pending: -1,
	}
}

// advance moves to the next entry and checks that it rises.
func (c *offsetCheck) advance() error {
	if c.begun {
		c.last = c.e
	}
	c.begun = true
	if err := c.next(); err != nil || c.cur == nil {
		return err
	}
	c.e = parseOffsetEntry(c.cur, c.base)
	if c.e.Offset > c.last.Offset && c.e.Position > c.last.Position {
		return nil
	}
	if zeros, err := c.padding(); zeros || err != nil {
		c.cur = nil
		c.size = c.pos
		return err
	}
	c.failAt("entries that do not rise")
	return nil
}

// skip makes up to which position entries cannot be checked, as there is damage.
func (c *offsetCheck) skip(to int64) { c.skipTo = to }

func (c *offsetCheck) batch(b Batch) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	if c.pending >= 0 && b.LastOffset() >= c.pending {
		c.settle(b)
	}
	for c.cur != nil && c.e.Position < b.Position {
		if c.e.Position >= c.skipTo {
			c.failAt("entry that points between batches")
			return nil
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	if c.cur == nil || c.e.Position != b.Position {
		return nil
	}
	switch {
	case c.e.Offset < b.LastOffset():
		c.failAt("entry with an offset that is not its batch's last")
		return nil
	case c.e.Offset > b.LastOffset():
		c.pending, c.from, c.fromPos = c.e.Offset, bytes.Clone(c.cur), c.pos
	}
	return c.advance()
}

// settle decides about an entry that speaks of several batches, of which b is the last.
func (c *offsetCheck) settle(b Batch) {
	if b.LastOffset() != c.pending && b.Position >= c.skipTo {
		c.fault = &entryFault{position: c.fromPos, size: c.size - c.fromPos, what: "entry with an offset that is not its batch's last", raw: c.from}
		c.cur = nil
	}
	c.pending = -1
}

// finish checks the rest at the end of the segment. due is how many entries the index
// would have if it was made now.
func (c *offsetCheck) finish(end, due int64) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	if !c.sealed || c.fault != nil {
		return nil
	}
	switch {
	case c.file.f == nil && due > 0:
		c.fail("missing index")
	case c.cur != nil && c.e.Position >= c.skipTo:
		c.failAt("entry beyond the end of the log")
	case c.count == 0 && due > 0:
		c.fail("index without entries")
	}
	c.wholeEntries()
	return nil
}

// timeCheck holds a .timeindex against the batches of its segment.
//
// An entry (T, O) is right if the batch with offset O is the first whose largest
// timestamp is T or more, and has exactly T.
type timeCheck struct {
	entryReader
	base    int64
	e       TimeEntry
	last    TimeEntry
	begun   bool
	damaged bool  // batches are missing of which entries may speak
	highest int64 // largest timestamp of the batches so far
	met     int64 // largest timestamp of an entry so far, -1: none
}

func newTimeCheck(file openedFile, base int64, sealed bool) *timeCheck {
	return &timeCheck{
		entryReader: newEntryReader(file, TimeEntrySize, sealed), base: base,
		last: TimeEntry{Timestamp: -1, Offset: base}, highest: -1, met: -1,
	}
}

func (c *timeCheck) advance() error {
	if c.begun && c.cur != nil {
		c.last = c.e
	}
	c.begun = true
	if err := c.next(); err != nil || c.cur == nil {
		return err
	}
	c.e = parseTimeEntry(c.cur, c.base)
	if c.e.blank(c.base) && (c.count > 1 || c.size > TimeEntrySize) {
		if zeros, err := c.padding(); zeros || err != nil {
			c.cur = nil
			c.size = c.pos
			return err
		}
	}
	if c.e.Timestamp <= c.last.Timestamp || c.e.Offset < c.last.Offset {
		c.failAt("entries that do not rise")
	}
	return nil
}

func (c *timeCheck) batch(b Batch) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	for c.cur != nil && c.e.Offset <= b.LastOffset() {
		hidden := c.damaged && c.e.Offset < b.BaseOffset
		if !hidden && (c.e.Timestamp != b.MaxTimestamp || c.highest >= c.e.Timestamp) {
			c.failAt("entry that is not about the first batch with its timestamp")
			return nil
		}
		c.met = c.e.Timestamp
		if err := c.advance(); err != nil {
			return err
		}
	}
	c.highest = max(c.highest, b.MaxTimestamp)
	return nil
}

// finish checks the rest at the end of the segment, whose state is s.
func (c *timeCheck) finish(s IndexState) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	if !c.sealed || c.fault != nil {
		return nil
	}
	fits := s.OffsetOfMax-c.base <= math.MaxInt32
	switch {
	case c.file.f == nil && s.MaxTimestamp >= 0 && fits:
		c.fail("missing time index")
	case c.cur != nil && !c.damaged:
		c.failAt("entry beyond the end of the log")
	case c.met < s.MaxTimestamp && fits:
		c.fail("time index that does not end with the largest timestamp")
	}
	c.wholeEntries()
	return nil
}
