package feed

import (
	"context"
	"strconv"
)

// Result counts the input records of a run.
type Result struct {
	Records int64 // that were handled
	Safe    int64 // that are in the log
	LeftOut int64 // that were too large and left out
	Changed int64 // that were too large and truncated or split
	Bytes   int64 // that were appended to the log
}

// delivery appends chunks in their turn and keeps count. It belongs to whoever has the
// turn.
type delivery struct {
	o       *Options
	frame   *framing
	ctx     context.Context // of appends
	parts   *partitions
	durable *durable
	several bool      // there are several partitions to go to
	follow  *follower // keeps a count of its own; nil: there is none

	res     Result
	stop    *StopError // nothing is appended any more
	offsets []int64    // of the batches in hand that are appended
	line    []byte     // of text, reused
}

// deliver appends what the encoder made of a chunk, and sets stop when that fails or
// when the chunk ends the run.
func (d *delivery) deliver(c *chunk, e *encoder) {
	if d.stop != nil {
		return
	}
	base := d.res.Records
	done, err := d.append(e)
	d.count(e, done)
	serr := d.durable.settle(d.ctx, d.res.Safe)
	if err == nil {
		err = serr
	}
	first := e.number // relative: the first so many records are all safe
	if e.failed.number > 0 {
		first = e.failed.number - 1
	}
	for _, b := range e.batches[done:] {
		first = min(first, b.first-1)
	}
	d.tell(e, base, first)
	if serr == nil || !d.o.Sync.Batch {
		if perr := d.print(c, e, done, first); err == nil {
			err = perr
		}
	}
	d.res.Records = base + first
	d.o.Progress(int64(len(c.data)))
	if err == nil && e.failed.err != nil {
		err = e.failed.err
		if e.failed.number > 0 {
			err = &RecordError{Unit: d.o.unit(), Number: base + e.failed.number, Err: err}
		}
	}
	if err != nil {
		d.halt(err)
	}
}

// append appends the batches in hand and returns how many of them are in the log, the
// first so many.
func (d *delivery) append(e *encoder) (done int, err error) {
	d.offsets = d.offsets[:0]
	if d.follow != nil && len(e.batches) > 0 {
		if err := d.follow.before(e); err != nil {
			return 0, err
		}
	}
	for from := 0; done < len(e.batches) && err == nil; {
		end := done + 1
		for end < len(e.batches) && e.batches[end].partition == e.batches[done].partition {
			end++
		}
		var n int
		n, err = d.appendTo(e.batches[done:end], e.out[from:e.batches[end-1].end])
		done += n
		from = e.batches[end-1].end
	}
	if err == nil && d.follow != nil {
		d.follow.after(e)
	}
	return done, err
}

// appendTo appends batches of one partition and returns how many of them are in the
// log.
func (d *delivery) appendTo(batches []batch, raw []byte) (int, error) {
	partition := batches[0].partition
	w, err := d.parts.pin(partition)
	if err != nil {
		return 0, err
	}
	defer d.parts.unpin(w)
	a, err := w.Append(d.ctx, raw)
	records := int64(0)
	for _, b := range batches[:a.Batches] {
		records += int64(b.records)
	}
	at := a.Next - records
	for _, b := range batches[:a.Batches] {
		d.offsets = append(d.offsets, at)
		at += int64(b.records)
	}
	size := int64(len(raw))
	if err != nil && a.Batches < len(batches) {
		size = size * int64(a.Batches) / int64(len(batches))
	}
	if a.Batches > 0 {
		d.res.Bytes += size
		d.parts.appended(w, a.Next)
		d.durable.appended(partition, a.Next, size, records)
	}
	return a.Batches, err
}

// count adds the first done batches to the result.
func (d *delivery) count(e *encoder, done int) {
	d.res.Safe += e.already
	for _, b := range e.batches[:done] {
		d.res.Safe += b.done
	}
}

// tell names the records that were left out or cut, as far as they count as handled.
func (d *delivery) tell(e *encoder, base, first int64) {
	for i := range e.notes {
		n := &e.notes[i]
		if n.number > first {
			continue
		}
		if n.how == Skip {
			d.res.LeftOut++
		} else {
			d.res.Changed++
		}
		d.o.Notice(n.how, n.text(d.o.unit(), base+n.number, d.o.Limits.Message))
	}
}

// print writes the offsets of the first done batches, and the first records to Tee.
func (d *delivery) print(c *chunk, e *encoder, done int, first int64) error {
	if d.o.Offsets != nil && done > 0 {
		if err := d.printOffsets(e.batches[:done]); err != nil {
			return err
		}
	}
	if d.o.Tee != nil {
		if _, err := d.o.Tee.Write(d.records(c, e, first)); err != nil {
			return err
		}
	}
	return d.o.Flush()
}

// records is the input of the first records of a chunk.
func (d *delivery) records(c *chunk, e *encoder, first int64) []byte {
	if first >= e.number && c.cut == 0 {
		return c.data
	}
	rest := c.data
	for ; first > 0 && len(rest) > 0; first-- {
		_, next := d.frame.first(rest)
		if next < 0 {
			next = len(rest)
		}
		rest = rest[next:]
	}
	handled := c.data[:len(c.data)-len(rest)]
	if c.cut > 0 && len(handled) > 0 {
		handled = append(d.line[:0], handled...)
		handled = append(handled, d.frame.delim...)
	}
	return handled
}

func (d *delivery) printOffsets(batches []batch) error {
	for i, b := range batches {
		d.line = append(d.line[:0], d.o.Target.Topic...)
		d.line = append(d.line, '\t')
		d.line = strconv.AppendInt(d.line, int64(b.partition), 10)
		d.line = append(d.line, '\t')
		prefix := len(d.line)
		for n := range int64(b.records) {
			d.line = strconv.AppendInt(d.line[:prefix], d.offsets[i]+n, 10)
			d.line = append(d.line, '\n')
			if _, err := d.o.Offsets.Write(d.line); err != nil {
				return err
			}
		}
	}
	return nil
}

// halt ends the run: what comes is not appended any more.
func (d *delivery) halt(err error) {
	if d.stop == nil {
		d.stop = &StopError{Safe: d.res.Safe, First: d.res.Records, Several: d.several, Err: err}
	}
}
