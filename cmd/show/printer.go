package show

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// Options say how records are printed.
type Options struct {
	// Format writes a record.
	Format format.Formatter
	// Delimiter is set where Format writes nothing but the value and this behind it:
	// there is a shorter way for that.
	Delimiter []byte
	Plain     bool
	// Numbered: Format writes the running number, so records are formatted one after
	// the other.
	Numbered bool
	// EmptyIsNull takes an empty key or value for null.
	EmptyIsNull bool
	Filter      Filter
	// Limit is the number of records to end after; less than 0: none.
	Limit int64
	// Write takes the text. It is called by one goroutine at a time and keeps nothing.
	Write func(text []byte) error
}

// flushSize is how much text is gathered for one write.
const flushSize = 256 << 10

// Printer prints records. The zero value is not ready: New. One goroutine at a time.
type Printer struct {
	o       Options
	printed int64 // records so far
	sources map[*engine.Reader]*format.Source
	out     []byte
}

// New returns a Printer.
func New(o Options) *Printer {
	return &Printer{o: o, sources: make(map[*engine.Reader]*format.Source)}
}

// Full reports whether the limit is reached.
func (p *Printer) Full() bool { return p.o.Limit >= 0 && p.printed >= p.o.Limit }

// source describes the partition that a reader reads.
func (p *Printer) source(r *engine.Reader) *format.Source {
	s, ok := p.sources[r]
	if !ok {
		s = format.NewSource(r.Partition().Topic(), r.Partition().Number())
		p.sources[r] = s
	}
	return s
}

// record prints one record, if it is wanted.
func (p *Printer) record(r *engine.Reader, rec *segments.Record) error {
	if !p.o.Filter.Keep(rec) {
		return nil
	}
	p.o.nullify(rec)
	if large(rec) {
		return p.large(r, rec)
	}
	var err error
	p.out, err = p.o.Format.Append(p.out, p.source(r), p.printed+1, rec)
	if err != nil {
		return err
	}
	p.printed++
	if len(p.out) >= flushSize {
		return p.flush()
	}
	return nil
}

// large prints a large record piece by piece.
func (p *Printer) large(r *engine.Reader, rec *segments.Record) error {
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.o.Format.Pieces(p.source(r), p.printed+1, rec, p.o.Write); err != nil {
		return err
	}
	p.printed++
	return nil
}

// large reports whether a record's text is not to be held as a whole.
func large(r *segments.Record) bool { return len(r.Key)+len(r.Value) >= largeValue }

// nullify makes empty key and value null where that is wanted.
func (o *Options) nullify(r *segments.Record) {
	if !o.EmptyIsNull {
		return
	}
	if len(r.Key) == 0 {
		r.Key = nil
	}
	if len(r.Value) == 0 {
		r.Value = nil
	}
}

// flush writes what was gathered.
func (p *Printer) flush() error {
	if len(p.out) == 0 {
		return nil
	}
	err := p.o.Write(p.out)
	shrink(&p.out)
	return err
}

// largestText is the memory for text that is kept from write to write.
const largestText = 4 << 20

// shrink empties a text that was written. The memory of a large one goes back, and at
// once where it is huge: the collector comes only when as much again has been taken.
func shrink(text *[]byte) {
	const huge = 32 << 20
	n := cap(*text)
	if *text = (*text)[:0]; n <= largestText {
		return
	}
	if *text = nil; n >= huge {
		debug.FreeOSMemory()
	}
}

// Merge prints what several bounded readers have, in timestamp order, but for the
// first surplus records. whichever says whether those are counted before the filter.
// It ends early at the limit, with an error of a reader, or with ctx's cause.
func (p *Printer) Merge(ctx context.Context, readers []*engine.Reader, surplus int64, counted Counted) error {
	m := engine.NewMerge(readers)
	for n := 0; !p.Full(); n++ {
		if n&0x3ff == 0x3ff && ctx.Err() != nil {
			return errors.Join(p.flush(), context.Cause(ctx))
		}
		i, rec, err := m.Next()
		if err != nil {
			return errors.Join(p.flush(), notEOF(err))
		}
		if surplus > 0 {
			if counted == AllRecords || p.o.Filter.Keep(rec) {
				surplus--
			}
			continue
		}
		if err := p.record(readers[i], rec); err != nil {
			return errors.Join(p.flush(), err)
		}
	}
	return p.flush()
}

// Counted says which records a number of records counts.
type Counted int

// The ways to count.
const (
	AllRecords  Counted = iota // also those that the filter leaves out
	KeptRecords                // those that it keeps
)

// Follow prints what arrives, until the limit, an error, or the end of ctx, whose cause
// it returns. idle is called before each wait, once all text is written.
func (p *Printer) Follow(ctx context.Context, f *engine.Follower, idle func() error) error {
	for !p.Full() {
		r, rec, err := f.Next()
		switch {
		case err == nil:
			if err := p.record(r, rec); err != nil {
				return errors.Join(p.flush(), err)
			}
			continue
		case err != io.EOF:
			return errors.Join(p.flush(), err)
		}
		if err := p.flush(); err != nil {
			return err
		}
		if err := idle(); err != nil {
			return err
		}
		if err := f.Wait(ctx); err != nil {
			return err
		}
	}
	return p.flush()
}

func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
