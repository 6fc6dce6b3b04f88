package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// reading is what a command that prints records has open.
type reading struct {
	e           *Env
	o           *readOptions
	topic       *engine.Topic // nil for a partition's directory
	views       []*engine.View
	viewOptions engine.ViewOptions
	filter      show.Filter
	printer     *show.Printer
	damaged     bool // --skip-corrupt went on behind something
}

// openReading opens the topic, or the partition's directory, that a user has named and
// looks at its partitions as they are now.
func (e *Env) openReading(o *readOptions, name string) (*reading, error) {
	o.tellTimes(e)
	s := &reading{e: e, o: o, filter: o.filter(), printer: show.New(o.showOptions(e.Out()))}
	partitions, err := s.open(name)
	if err != nil {
		return nil, err
	}
	s.viewOptions = engine.ViewOptions{
		Committed: o.isolation == readCommitted,
		ReadAhead: s.readAhead(len(partitions)),
	}
	for _, p := range partitions {
		v, err := p.View(s.viewOptions)
		if err != nil {
			return nil, err
		}
		s.views = append(s.views, v)
	}
	return s, nil
}

// readAhead is how much is read at once: little for a few records, whose memory has to
// be touched for the first time, and little of each of many partitions.
func (s *reading) readAhead(partitions int) int {
	const aFew, perRecord, least = 256, 1 << 10, 16 << 10
	n := engine.ReadAheadFor(partitions)
	c := s.o.count
	if s.o.last >= 0 {
		c = s.o.last
	}
	if c >= 0 && c < aFew && !s.o.follow {
		return min(n, max(least, int(c)*perRecord))
	}
	return n
}

// open finds the partitions that are meant.
func (s *reading) open(name string) ([]*engine.Partition, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return s.openDir(name)
	}
	root, err := s.e.openRoot()
	if err != nil {
		return nil, err
	}
	s.topic, err = root.Topic(name)
	if err != nil {
		return nil, withHint(err, dirHint(err, name))
	}
	numbers := s.topic.Numbers()
	if len(s.o.partitions) > 0 {
		numbers = nil
		for n := range s.o.partitions.All() {
			if _, err := s.topic.Partition(n); err != nil {
				return nil, err
			}
			numbers = append(numbers, n)
		}
	}
	partitions := make([]*engine.Partition, len(numbers))
	for i, n := range numbers {
		if partitions[i], err = s.topic.Partition(n); err != nil {
			return nil, err
		}
	}
	return partitions, nil
}

func (s *reading) openDir(dir string) ([]*engine.Partition, error) {
	p, err := s.e.openPartitionDir(dir)
	switch {
	case err != nil:
		return nil, err
	case len(s.o.partitions) > 0 && !s.o.partitions.Has(p.Number()):
		return nil, &engine.UnknownPartitionError{Topic: p.Topic(), Partition: s.o.partitions.Max(), Root: dir, Count: 1}
	}
	return []*engine.Partition{p}, nil
}

// wants reports whether a partition is to be read.
func (s *reading) wants(n int32) bool {
	return len(s.o.partitions) == 0 || s.o.partitions.Has(n)
}

// readerOptions are those of every reader.
func (s *reading) readerOptions() engine.ReaderOptions {
	return engine.ReaderOptions{
		Since:       s.filter.Oldest(),
		SkipCorrupt: s.o.skipCorrupt,
		Report:      s.report,
	}
}

// report tells what a reader goes on behind. Damage is an error, so -q does not hide it.
func (s *reading) report(err error) {
	if errors.Is(err, segments.ErrCorrupt) {
		s.damaged = true
		s.e.report(err)
		return
	}
	s.e.Notice(err.Error())
}

// status is the end of a command that has printed what it could.
func (s *reading) status() error {
	if s.damaged {
		return status(ExitDamaged)
	}
	return nil
}

// print prints the selected ranges.
func (s *reading) print(ctx context.Context, sel *engine.Selection, counted show.Counted) error {
	for _, note := range sel.Notes {
		s.e.Notice(note)
	}
	var readers []*engine.Reader
	defer func() {
		for _, r := range readers {
			r.Close()
		}
	}()
	o := s.readerOptions()
	for _, r := range sel.Ranges {
		from, err := s.from(r)
		if err != nil {
			return err
		}
		o.From, o.Until = from, r.Until
		if from >= r.Until && len(sel.Ranges) > 1 {
			continue
		}
		reader, err := r.View.Reader(o)
		if err != nil {
			return err
		}
		readers = append(readers, reader)
	}
	if len(readers) == 1 && sel.Surplus == 0 {
		return s.printer.Copy(ctx, readers[0])
	}
	return s.printer.Merge(ctx, readers, sel.Surplus, counted)
}

// from is where a range's records begin: no earlier than the first one that --since
// lets through, which the time index knows better than a scan.
func (s *reading) from(r engine.Range) (int64, error) {
	if s.filter.Since == nil {
		return r.From, nil
	}
	first, err := r.View.OffsetForTime(*s.filter.Since)
	return min(max(r.From, first), r.Until), err
}
