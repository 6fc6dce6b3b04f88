package cmd

import (
	"context"
	"slices"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicAlterOptions struct {
	partitions int
	config     []setting
	unset      []string
}

func newTopicAlterCommand(e *Env) *cli.Command {
	var o topicAlterOptions
	return &cli.Command{
		Name:      "alter",
		Usage:     "change configs of a topic, add partitions",
		ArgsUsage: "NAME",
		Flags: []cli.Flag{
			partitionsFlag(&o.partitions, "have `N` partitions; more than now, never fewer"),
			configFlag(&o.config),
			stringsFlag(&o.unset, "unset", "", "take the default of `CONFIG` again"),
		},
		Description: `All of it is done or nothing. Whoever uses the topic goes by the new values with the next append, without being started again. More partitions change to which one a key goes.

A topic that klog has no configs of, one of a Kafka log.dir or of a root that lost .klog, is left alone by retention and compact; alter, also without any flag, takes it over.

    klog topic alter orders --config retention.ms=30d --unset segment.bytes
    klog topic alter orders --partitions 16`,
		Action: func(c *cli.Context) error {
			return runTopicAlter(c.Context, e, c.Args().First(), o)
		},
	}
}

func runTopicAlter(ctx context.Context, e *Env, name string, o topicAlterOptions) error {
	for _, c := range o.config {
		if slices.Contains(o.unset, c.name) {
			return usagef("%s is both set and unset", c.name)
		}
	}
	root, err := e.changeRoot()
	if err != nil {
		return err
	}
	topic, err := root.AlterTopic(ctx, name, engine.Alteration{Partitions: o.partitions, Set: settings(o.config), Unset: o.unset})
	if err != nil {
		return err
	}
	e.tellSettings(name, o.config)
	if o.partitions > 0 {
		e.tell("%s: has %s", name, counted(topic.Partitions(), "partition"))
	}
	return nil
}
