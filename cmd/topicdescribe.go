package cmd

import (
	"context"
	"slices"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicDescribeOptions struct {
	table tableOptions
}

func newTopicDescribeCommand(e *Env) *cli.Command {
	var o topicDescribeOptions
	return &cli.Command{
		Name:      "describe",
		Usage:     "show partitions, offsets, sizes and configs of topics",
		ArgsUsage: "NAME...",
		Flags:     []cli.Flag{jsonFlag(&o.table.json), headersFlag(&o.table.headers)},
		Description: `One row a partition. Columns: topic, partition, id, start (first offset to be read), end (offset that the next record gets), bytes (of log files), segments, leader, epoch, replicas, isr, config (what was set for the topic). Outside a cluster leader, replicas and isr are the node.id of this root.

On a terminal the effective value of every config follows, and where it comes from.`,
		Action: func(c *cli.Context) error {
			return runTopicDescribe(c.Context, e, c.Args().Slice(), o)
		},
	}
}

func runTopicDescribe(ctx context.Context, e *Env, names []string, o topicDescribeOptions) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	meta, err := root.Meta()
	if err != nil {
		return err
	}
	t := newTable(e, o.table, column{name: "topic"}, column{name: "partition"}, column{name: "id"}, column{name: "start"},
		column{name: "end"}, column{name: "bytes", kind: bytesColumn}, column{name: "segments"}, column{name: "leader"},
		column{name: "epoch"}, column{name: "replicas"}, column{name: "isr"}, column{name: "config"})
	done := items{e: e}
	var shown []*engine.Topic
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		topic, err := root.Topic(name)
		if err != nil {
			done.done(err)
			continue
		}
		if err := describeTopic(t, topic, meta.NodeID, &done); err != nil {
			if stdoutFailed(err) {
				return err
			}
			done.done(err)
			continue
		}
		shown = append(shown, topic)
	}
	if err := t.close(); err != nil {
		return err
	}
	if t.screen {
		if err := describeConfigs(e, shown); err != nil {
			return err
		}
	}
	return done.err()
}

// describeTopic adds a row for each partition. One that cannot be looked at is told and
// counted, and the others are shown.
func describeTopic(t *table, topic *engine.Topic, node int, done *items) error {
	c, err := topic.Config()
	if err != nil {
		return err
	}
	var leader any
	var replicas any
	if node >= 0 {
		leader, replicas = node, []int32{int32(node)}
	}
	set := configPairs(c.Set())
	for _, n := range topic.Numbers() {
		p, err := topic.Partition(n)
		if err != nil {
			return err
		}
		st, err := p.Stat()
		if err != nil {
			done.done(err)
			continue
		}
		var epoch any
		if st.Epoch >= 0 {
			epoch = st.Epoch
		}
		err = t.row(topic.Name(), n, idCell(topic.ID()), st.Start, st.End, st.Bytes, st.Segments, leader, epoch, replicas, replicas, set)
		if err != nil {
			return err
		}
		done.done(nil)
	}
	return nil
}

// describeConfigs shows a person the effective values.
func describeConfigs(e *Env, topics []*engine.Topic) error {
	for _, topic := range topics {
		c, err := topic.Config()
		if err != nil {
			return err
		}
		if _, err := e.Out().WriteString("\nconfigs of " + topic.Name() + ":\n"); err != nil {
			return err
		}
		t := newTable(e, tableOptions{}, columnsOf("config", "value", "from")...)
		set := c.Set()
		names := engine.ConfigNames()
		for name := range set {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			v, known := c.Value(name)
			if !known {
				v = set[name]
			}
			if err := t.row(name, v, c.Source(name)); err != nil {
				return err
			}
		}
		if err := t.close(); err != nil {
			return err
		}
	}
	return nil
}
