package feed

import (
	"fmt"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// note is a record that was not stored as it came.
type note struct {
	number int64 // in its chunk
	size   int64
	how    Oversize
	pieces int
}

// text is the note for the user.
func (n *note) text(unit string, number int64, limit int) string {
	s := fmt.Sprintf("%s %d: %d bytes, over max.message.bytes=%d: ", unit, number, n.size, limit)
	switch n.how {
	case Skip:
		return s + "left out"
	case Truncate:
		return s + "truncated"
	}
	return s + fmt.Sprintf("split into %d records", n.pieces)
}

// alone puts a record that is too large for a batch with others into one of its own,
// if it fits there.
func (e *encoder) alone(to int32, r *format.Row, ts int64) {
	least := segments.HeaderSize + len(r.Key) + len(r.Value)
	fits := e.o.Codec != segments.None && e.store(to, r, ts, e.o.Codec) ||
		// Compression makes noise a little larger.
		least < e.o.Limits.Message && e.store(to, r, ts, segments.None)
	if !fits && e.failed.err == nil {
		e.tooLarge(to, r, ts)
	}
}

// store makes a batch of one record and reports whether it is small enough.
func (e *encoder) store(to int32, r *format.Row, ts int64, codec segments.Codec) bool {
	from := len(e.out)
	e.start(to, codec)
	e.open = false
	e.build.Append(ts, r.Key, r.Value, r.Headers)
	out, err := e.build.Finish()
	if err != nil || len(out)-from > e.o.Limits.Message {
		e.out = out[:from]
		return false
	}
	e.out = out
	if e.piece {
		e.pieces++
	}
	e.keep(1)
	return true
}

// beginning handles a record of which only the beginning was kept, since no record of
// its size can be stored.
func (e *encoder) beginning(c *chunk) {
	if e.o.Oversize != Truncate {
		e.number, e.size = 1, c.cut
		e.tooLarge(0, nil, 0)
		return
	}
	to, ts, err := e.next(c.data)
	if e.size = c.cut; err != nil {
		e.fail(err)
		return
	}
	e.truncate(to, &e.row, ts)
}

// tooLarge handles the record in hand, which cannot be stored as it is. Only Truncate
// and Split look at the row.
func (e *encoder) tooLarge(to int32, r *format.Row, ts int64) {
	switch {
	case e.o.Oversize == Skip:
		e.skipped++
		e.notes = append(e.notes, note{number: e.number, size: e.size, how: Skip})
	case e.o.Oversize == Truncate:
		e.truncate(to, r, ts)
	case e.o.Oversize == Split && r != nil:
		e.split(to, r, ts)
	default:
		e.refuse()
	}
}

// refuse ends the chunk at a record that is too large.
func (e *encoder) refuse() { e.fail(&OversizeError{Size: e.size, Limit: e.o.Limits.Message}) }

// room is how long a value with r's key and headers may be so that its batch fits
// whatever compression makes of it; less than 1 where nothing fits.
func (e *encoder) room(r *format.Row) int {
	return e.o.Limits.Message - segments.HeaderSize - recordBound(r.Key, nil, r.Headers)
}

func (e *encoder) truncate(to int32, r *format.Row, ts int64) {
	room := e.room(r)
	if room < 1 {
		e.refuse() // key and headers alone are too large
		return
	}
	e.notes = append(e.notes, note{number: e.number, size: e.size, how: Truncate})
	r.Value = r.Value[:min(room, len(r.Value))]
	e.put(to, r, ts)
}

func (e *encoder) split(to int32, r *format.Row, ts int64) {
	room := e.room(r)
	if room < 1 {
		e.refuse() // key and headers alone are too large
		return
	}
	n := note{number: e.number, size: e.size, how: Split}
	rest := r.Value
	for len(rest) > 0 && e.failed.err == nil {
		r.Value = rest[:min(room, len(rest))]
		rest = rest[len(r.Value):]
		e.piece = len(rest) > 0
		n.pieces++
		e.put(to, r, ts)
	}
	e.piece = false
	e.notes = append(e.notes, n)
}
