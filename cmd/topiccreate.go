package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicCreateOptions struct {
	partitions  int
	replication int64
	config      []setting
	ifNotExists bool
}

func newTopicCreateCommand(e *Env) *cli.Command {
	o := topicCreateOptions{replication: 1}
	return &cli.Command{
		Name:      "create",
		Usage:     "create a topic",
		ArgsUsage: "NAME",
		Flags: []cli.Flag{
			partitionsFlag(&o.partitions, "how many partitions, `N`; default is the root's num.partitions, or 1"),
			countFlag(&o.replication, "replication-factor", "", "how many roots keep a copy, `N`; outside a cluster that is 1"),
			configFlag(&o.config),
			switchFlag(&o.ifNotExists, "if-not-exists", "", "do nothing, and succeed, if there is a topic of that name"),
		},
		Description: `A name has 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'; '.' and '_' count as the same, so that a.b and a_b exclude each other. Topics are also created by the first produce, with the root's defaults. A topic that exists already ends with status 1.

    klog topic create orders --partitions 8
    klog topic create clicks --config retention.ms=7d --config segment.bytes=64MiB
    klog topic create state --config cleanup.policy=compact`,
		Action: func(c *cli.Context) error {
			return runTopicCreate(c.Context, e, c.Args().First(), o)
		},
	}
}

func runTopicCreate(ctx context.Context, e *Env, name string, o topicCreateOptions) error {
	switch {
	case o.replication < 1:
		return usagef("--replication-factor: want 1 or more")
	case o.replication > 1:
		return usagef("--replication-factor %d: only 1 is possible: this root belongs to no cluster that could keep copies", o.replication)
	}
	root, err := e.createRoot()
	if err != nil {
		return err
	}
	topic, err := root.CreateTopic(ctx, name, engine.TopicSpec{Partitions: o.partitions, Config: settings(o.config)})
	var exists *engine.TopicExistsError
	switch {
	case errors.As(err, &exists) && exists.Other == "" && o.ifNotExists:
		e.Verbose(name + ": exists already")
		return nil
	case errors.As(err, &exists) && exists.Other == "":
		return withHint(err, "--if-not-exists leaves it as it is; klog topic alter changes it")
	case err != nil:
		return err
	}
	e.tellSettings(name, o.config)
	e.tell("%s", fmt.Sprintf("%s: created with %s", name, counted(topic.Partitions(), "partition")))
	return nil
}
