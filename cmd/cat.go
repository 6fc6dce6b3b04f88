package cmd

import (
	"context"

	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

func newCatCommand(e *Env) *cli.Command {
	o := newReadOptions()
	return &cli.Command{
		Name:      "cat",
		Category:  categoryRecords,
		Usage:     "print a range of a topic's records",
		ArgsUsage: "TOPIC",
		Description: `Prints records to standard output: everything up to the end as it is when the
command starts, or what -o, -n and the filters say. Without -F, -J, -K and -D each
is its value and a newline.

Over several partitions the next record is always the one with the smallest
timestamp among the next ones of each partition. A number behind -o counts in each
partition; "the last N" are the last N of all together. Instead of a topic a
partition's directory may be named, ./orders-0, also one that Kafka wrote.

Damage stops the output with status 4 and says where it lies; --skip-corrupt goes on
behind it and ends with 4 all the same.`,
		Flags: o.flags(e),
		Action: func(c *cli.Context) error {
			return runCat(c.Context, e, o, c.Args().First())
		},
	}
}

func runCat(ctx context.Context, e *Env, o *readOptions, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := e.openReading(o, name)
	if err != nil {
		return err
	}
	from := enginePoint(o.position.Start, engine.AtEarliest)
	sel, err := engine.Select(s.views, from, enginePoint(o.position.End, engine.AtLatest), nil)
	if err != nil {
		return err
	}
	if err := s.print(ctx, sel, show.AllRecords); err != nil {
		return err
	}
	return s.status()
}
