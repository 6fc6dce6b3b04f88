package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicListOptions struct {
	table   tableOptions
	deleted bool
}

func newTopicListCommand(e *Env) *cli.Command {
	var o topicListOptions
	return &cli.Command{
		Name:  "list",
		Usage: "list topics",
		Flags: []cli.Flag{
			switchFlag(&o.deleted, "deleted", "", "list deleted topics that can be brought back, the newest first"),
			jsonFlag(&o.table.json),
			headersFlag(&o.table.headers),
		},
		Description: `Columns: topic, id, partitions, replication_factor, bytes (of log files), config (what was set for the topic). With --deleted: topic, id, partitions, bytes, deleted_at, remove_at (when it may be removed for good; null: not by itself).`,
		Action: func(c *cli.Context) error {
			return runTopicList(c.Context, e, o)
		},
	}
}

func runTopicList(ctx context.Context, e *Env, o topicListOptions) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	if o.deleted {
		return listDeleted(ctx, e, root, o)
	}
	names, err := root.Topics(ctx)
	if err != nil {
		return err
	}
	t := newTable(e, o.table, column{name: "topic"}, column{name: "id"}, column{name: "partitions"},
		column{name: "replication_factor"}, column{name: "bytes", kind: bytesColumn}, column{name: "config"})
	done := items{e: e}
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := listTopic(t, root, name)
		if missing(err) {
			continue // deleted meanwhile
		}
		done.done(err)
		if stdoutFailed(err) {
			return err
		}
	}
	if err := t.close(); err != nil {
		return err
	}
	return done.err()
}

// listTopic adds a topic's row.
func listTopic(t *table, root *engine.Root, name string) error {
	topic, err := root.Topic(name)
	if err != nil {
		return err
	}
	c, err := topic.Config()
	if err != nil {
		return err
	}
	size, err := topic.Bytes()
	if err != nil {
		return err
	}
	return t.row(name, idCell(topic.ID()), topic.Partitions(), 1, size, configPairs(c.Set()))
}

// stdoutFailed reports whether err is about the output, so that there is no use in going
// on.
func stdoutFailed(err error) bool {
	var out *outputError
	return errors.As(err, &out) || errors.Is(err, errBrokenPipe)
}

func listDeleted(ctx context.Context, e *Env, root *engine.Root, o topicListOptions) error {
	gone, err := root.DeletedTopics(ctx)
	if err != nil {
		return err
	}
	t := newTable(e, o.table, column{name: "topic"}, column{name: "id"}, column{name: "partitions"},
		column{name: "bytes", kind: bytesColumn}, column{name: "deleted_at", kind: timeColumn}, column{name: "remove_at", kind: timeColumn})
	for _, d := range gone {
		if err := t.row(d.Name, idCell(d.ID), d.Partitions, d.Bytes, timeCell(d.DeletedAt), timeCell(d.RemoveAt)); err != nil {
			return err
		}
	}
	return t.close()
}

// timeCell is a time in ms, null where none is known.
func timeCell(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}
