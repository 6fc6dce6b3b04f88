package segments

import "fmt"

// follow keeps track of transactions over the segments. It returns true if b is the
// marker with which a transaction was aborted that was seen to begin.
func (v *verifier) follow(b Batch) (aborted bool) {
	switch {
	case b.ProducerID < 0 || !b.Transactional():
		return false
	case !b.Control():
		if _, open := v.open[b.ProducerID]; !open {
			v.open[b.ProducerID] = b.BaseOffset
		}
		return false
	}
	m, ok, err := readMarker(b)
	if err != nil || !ok {
		return false
	}
	_, begun := v.open[b.ProducerID]
	delete(v.open, b.ProducerID)
	return begun && m.Type == AbortMarker
}

// txnCheck holds a .txnindex against the batches of its segment: each entry is about
// an abort marker, and each marker that ended something has one.
type txnCheck struct {
	entryReader
	base    int64
	a       AbortedTxn
	last    int64
	begun   bool
	damaged bool
}

func newTxnCheck(file openedFile, base int64, sealed bool) *txnCheck {
	return &txnCheck{entryReader: newEntryReader(file, AbortedTxnSize, sealed), base: base, last: base - 1}
}

func (c *txnCheck) advance() error {
	c.begun = true
	if err := c.next(); err != nil || c.cur == nil {
		return err
	}
	a, err := parseAbortedTxn(c.cur, c.base, c.last)
	if err != nil {
		c.failAt(ParseReason(err))
		return nil
	}
	c.a, c.last = a, a.LastOffset
	return nil
}

func (c *txnCheck) batch(b Batch, aborted bool) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	for c.cur != nil && c.a.LastOffset < b.BaseOffset {
		if !c.damaged {
			c.failAt("entry that is not about an abort marker")
			return nil
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	if c.fault != nil {
		return nil
	}
	if c.cur == nil || c.a.LastOffset > b.LastOffset() {
		// The newest segment's entry may be on its way: it is written behind the log.
		if aborted && c.sealed && !c.damaged {
			c.fail(fmt.Sprintf("no entry for the transaction of producer %d aborted at offset %d", b.ProducerID, b.BaseOffset))
		}
		return nil
	}
	if !b.Control() || b.ProducerID != c.a.ProducerID {
		c.failAt("entry that is not about an abort marker")
		return nil
	}
	return c.advance()
}

// finish checks the rest; next is the offset that follows the segment.
func (c *txnCheck) finish(next int64) error {
	if !c.begun {
		if err := c.advance(); err != nil {
			return err
		}
	}
	if c.sealed && c.cur != nil && !c.damaged && c.fault == nil {
		c.failAt("entry beyond the end of the log")
	}
	c.wholeEntries()
	return nil
}
