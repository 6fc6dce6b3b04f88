package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

// tailLines is how many records tail prints where nothing else is said.
const tailLines = 10

func newTailCommand(e *Env) *cli.Command {
	o := newReadOptions()
	return &cli.Command{
		Name:      "tail",
		Category:  categoryRecords,
		Usage:     "print a topic's last records, and follow what arrives",
		ArgsUsage: "TOPIC",
		Description: `Prints the last 10 records, or as many as -n says, that pass the filters; with -f it
then goes on with what arrives, in that order, until a signal, or status 3 when the
topic is deleted. Partitions that are added later are followed from their beginning.

-o or --since say where to begin instead; -n is a limit then, also with -f. Over
several partitions the last records are those of all together. Instead of a topic a
partition's directory may be named, ./orders-0, also one that Kafka writes to.`,
		Flags: append(o.flags(e),
			switchFlag(&o.follow, "follow", "f", "go on with what arrives"),
			switchFlag(&o.retry, "retry", "", "wait for a topic that does not exist yet"),
		),
		Action: func(c *cli.Context) error {
			return runTail(c.Context, e, o, c.Args().First())
		},
	}
}

func runTail(ctx context.Context, e *Env, o *readOptions, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.follow && o.position.IsRange() {
		return usagef("--offset %s: what has an end cannot be followed", o.position)
	}
	from, counted := o.tailStart()
	s, err := e.openTail(ctx, o, name)
	if err != nil {
		return err
	}
	keep := s.filter.Keep
	if !s.filter.Any() {
		keep = nil
	}
	sel, err := engine.Select(s.views, from, enginePoint(o.position.End, engine.AtLatest), keep)
	if err != nil {
		return err
	}
	if err := s.print(ctx, sel, counted); err != nil {
		return err
	}
	if o.follow && !s.printer.Full() {
		if err := s.follow(ctx, sel); err != nil {
			return err
		}
	}
	return s.status()
}

// tailStart is where tail begins. The last N are the last that pass the filters; with a
// place to begin N only limits, which the printer minds.
func (o *readOptions) tailStart() (engine.Position, show.Counted) {
	if !o.position.IsZero() || o.since != nil {
		return enginePoint(o.position.Start, engine.AtEarliest), show.AllRecords
	}
	o.last, o.count = o.count, -1
	if o.last < 0 {
		o.last = tailLines
	}
	return engine.Position{Anchor: engine.AtLast, N: o.last}, show.KeptRecords
}

// lookAgain is how often --retry looks whether the topic exists.
const lookAgain = 200 * time.Millisecond

// openTail opens what is to be read; with --retry it waits until that exists.
func (e *Env) openTail(ctx context.Context, o *readOptions, name string) (*reading, error) {
	for told := false; ; told = true {
		s, err := e.openReading(o, name)
		if !o.retry || !missing(err) && !errors.Is(err, errNoDirectory) {
			return s, err
		}
		if !told {
			e.Notice(err.Error() + ": waiting for it")
			e.WatchReader()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}

// follow prints what arrives behind the end of what was selected.
func (s *reading) follow(ctx context.Context, sel *engine.Selection) error {
	o := s.readerOptions()
	readers := make([]*engine.Reader, 0, len(sel.Ranges))
	for _, r := range sel.Ranges {
		o.From, o.Until = r.Until, -1
		reader, err := r.View.Reader(o)
		if err != nil {
			return err
		}
		readers = append(readers, reader)
	}
	f := engine.NewFollower(readers, engine.FollowOptions{
		Topic:  s.topic,
		Wants:  s.wants,
		View:   s.viewOptions,
		Reader: o,
		Notice: s.e.Notice,
	})
	defer f.Close()
	s.e.WatchReader()
	return s.printer.Follow(ctx, f, s.e.Out().Flush)
}
