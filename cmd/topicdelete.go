package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicDeleteOptions struct {
	now, yes, dryRun bool
}

func newTopicDeleteCommand(e *Env) *cli.Command {
	var o topicDeleteOptions
	return &cli.Command{
		Name:      "delete",
		Usage:     "delete topics",
		ArgsUsage: "NAME...",
		Flags: []cli.Flag{
			switchFlag(&o.now, "now", "", "remove the records at once: they cannot be brought back"),
			yesFlag(&o.yes),
			dryRunFlag(&o.dryRun),
		},
		Description: `A deleted topic stays for topic.trash.ms (24 hours unless set), for klog topic undelete; a later retention run or roll removes it. With --now its space comes free at once; given the name of a topic that has been deleted before, --now removes that for good.

Whoever reads or writes the topic meanwhile ends with status 3. A new topic of the name is another topic: groups do not take their old offsets for its own. Files in the directories that are neither klog's nor Kafka's stay. Where a partition is a link, the files behind it go and the directory it leads to stays.`,
		Action: func(c *cli.Context) error {
			return runTopicDelete(c.Context, e, c.Args().Slice(), o)
		},
	}
}

// doomed is what a name given to delete stands for.
type doomed struct {
	name  string
	trash bool // a topic that was deleted before
	parts int
	bytes int64
}

// text says it in a message of e.
func (d *doomed) text(e *Env) string {
	what := d.name
	if d.trash {
		what += " (deleted before)"
	}
	return fmt.Sprintf("%s, %s, %s", what, counted(d.parts, "partition"), e.size(d.bytes))
}

func runTopicDelete(ctx context.Context, e *Env, names []string, o topicDeleteOptions) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	done := items{e: e}
	var all []*doomed
	var words []string
	for _, name := range names {
		d, err := findDoomed(ctx, root, name, o.now)
		if err != nil {
			done.done(err)
			continue
		}
		all, words = append(all, d), append(words, d.text(e))
	}
	if len(all) == 0 {
		return done.err()
	}
	verb := "delete "
	if o.now {
		verb = "remove for good "
	}
	what := verb + strings.Join(words, "; ")
	if o.dryRun {
		e.say("would " + what)
		done.ok += len(all)
		return done.err()
	}
	if err := e.confirm(ctx, o.yes, what); err != nil {
		return err
	}
	if root, err = e.createRoot(); err != nil {
		return err
	}
	for _, d := range all {
		err := deleteTopic(ctx, e, root, d, o.now)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return err
		}
		done.done(err)
	}
	return done.err()
}

// findDoomed looks what a name stands for.
func findDoomed(ctx context.Context, root *engine.Root, name string, now bool) (*doomed, error) {
	topic, err := root.Topic(name)
	if err == nil {
		size, err := topic.Bytes()
		return &doomed{name: name, parts: topic.Partitions(), bytes: size}, err
	}
	if !now || !errors.Is(err, engine.ErrUnknownTopic) {
		return nil, err
	}
	gone, derr := root.DeletedTopics(ctx)
	if derr != nil {
		return nil, derr
	}
	d := &doomed{name: name, trash: true}
	for _, g := range gone {
		if g.Name == name {
			d.parts += g.Partitions
			d.bytes += g.Bytes
		}
	}
	if d.parts == 0 {
		return nil, err
	}
	return d, nil
}

func deleteTopic(ctx context.Context, e *Env, root *engine.Root, d *doomed, now bool) error {
	if d.trash {
		gone, err := root.RemoveDeleted(ctx, d.name)
		if err != nil {
			return err
		}
		var freed int64
		for _, g := range gone {
			freed += g.Bytes
		}
		e.tell("%s: %s came free", d.name, e.size(freed))
		return nil
	}
	deleted, err := root.DeleteTopic(ctx, d.name, now)
	switch {
	case err != nil && !now && isNoSpace(err):
		return withHint(err, "--now needs no space, and cannot be taken back")
	case err != nil:
		return err
	case now:
		e.tell("%s: %s came free", d.name, e.size(deleted.Bytes))
	default:
		e.Notice(fmt.Sprintf("%s: %s come free after %s, or at once with klog topic delete --now %s",
			d.name, e.size(deleted.Bytes), value.FormatTime(deleted.RemoveAt.UnixMilli(), e.Location), d.name))
	}
	return nil
}

func newTopicUndeleteCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:        "undelete",
		Usage:       "bring a deleted topic back",
		ArgsUsage:   "NAME",
		Description: `The newest deleted topic of that name comes back with its records, configs and id. Status 1 if the name is in use by now, 3 if no deleted topic has it. klog topic list --deleted shows what can be brought back.`,
		Action: func(c *cli.Context) error {
			return runTopicUndelete(c.Context, e, c.Args().First())
		},
	}
}

func runTopicUndelete(ctx context.Context, e *Env, name string) error {
	root, err := e.changeRoot()
	if err != nil {
		return err
	}
	topic, err := root.UndeleteTopic(ctx, name)
	if err != nil {
		return err
	}
	e.tell("%s: is back with %s", name, counted(topic.Partitions(), "partition"))
	return nil
}
