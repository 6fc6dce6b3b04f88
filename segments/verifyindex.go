package segments

import (
	"bytes"
	"math"
)

// beyondTheEnd is said of an entry about a batch that its sealed log does not have.
const beyondTheEnd = "entry beyond the end of the log"

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
		c.failAt(beyondTheEnd)
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
		c.failAt(beyondTheEnd)
	case c.met < s.MaxTimestamp && fits:
		c.fail("time index that does not end with the largest timestamp")
	}
	c.wholeEntries()
	return nil
}
