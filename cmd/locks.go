package cmd

import (
	"context"
	"os"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

func newLocksCommand(e *Env) *cli.Command {
	var o tableOptions
	return &cli.Command{
		Name:     "locks",
		Category: categoryUpkeep,
		Usage:    "list who holds and who waits for a lock of the root",
		Description: `One row for each process that holds or waits for a lock: append (the end of a partition's log), root (topics are being made, changed or deleted), follow (a file is followed by produce --follow), kafka (a Kafka broker runs on the root). Nobody need ever remove a lock: it ends with its process.

since is when the holder says it first took the lock; a holder in another pid namespace has no pid here. Only Linux tells who holds a lock; elsewhere the list is empty.`,
		Flags: []cli.Flag{jsonFlag(&o.json), headersFlag(&o.headers)},
		Action: func(c *cli.Context) error {
			return runLocks(c.Context, e, o)
		},
	}
}

func runLocks(ctx context.Context, e *Env, o tableOptions) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	locks, err := root.Locks(ctx)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	t := newTable(e, o, column{name: "kind"}, column{name: "topic"}, column{name: "partition"}, column{name: "group"},
		column{name: "pid"}, column{name: "host"}, column{name: "command"}, column{name: "since", kind: timeColumn}, column{name: "state"})
	for _, l := range locks {
		if err := t.row(lockCells(l, host)...); err != nil {
			return err
		}
	}
	return t.close()
}

// lockCells are the cells of one lock; what is not known is null.
func lockCells(l engine.Lock, host string) []any {
	var topic, partition, group, pid, command, since any
	if l.Topic != "" {
		topic = l.Topic
	}
	if l.Partition >= 0 {
		partition = l.Partition
	}
	if l.PID > 0 && !l.Foreign {
		pid = l.PID
	}
	if l.Command != "" {
		command = l.Command
	}
	if l.Host != "" {
		host = l.Host
	}
	if !l.Since.IsZero() {
		since = l.Since.UnixMilli()
	}
	state := "held"
	if l.Waiting {
		state = "waiting"
	}
	return []any{string(l.Kind), topic, partition, group, pid, host, command, since, state}
}
