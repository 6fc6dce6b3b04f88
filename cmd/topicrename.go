package cmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"
)

type topicRenameOptions struct {
	yes, dryRun bool
}

func newTopicRenameCommand(e *Env) *cli.Command {
	var o topicRenameOptions
	return &cli.Command{
		Name:        "rename",
		Usage:       "give a topic another name",
		ArgsUsage:   "OLD NEW",
		Flags:       []cli.Flag{yesFlag(&o.yes), dryRunFlag(&o.dryRun)},
		Description: `The topic keeps its id, records and configs. Whoever uses it under the old name ends with status 3. Status 1 if the new name is in use.`,
		Action: func(c *cli.Context) error {
			return runTopicRename(c.Context, e, c.Args().Get(0), c.Args().Get(1), o)
		},
	}
}

func runTopicRename(ctx context.Context, e *Env, name, to string, o topicRenameOptions) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	topic, err := root.Topic(name)
	if err != nil {
		return err
	}
	if name == to {
		return fmt.Errorf("%s: is called so already", name)
	}
	if err := root.CheckNewTopic(to, name); err != nil {
		return err
	}
	what := "rename topic " + name + ", " + counted(topic.Partitions(), "partition") + ", to " + to
	if o.dryRun {
		e.say("would " + what)
		return nil
	}
	if err := e.confirm(ctx, o.yes, what); err != nil {
		return err
	}
	if root, err = e.createRoot(); err != nil {
		return err
	}
	if _, err := root.RenameTopic(ctx, name, to); err != nil {
		return err
	}
	e.tell("%s: is now %s", name, to)
	return nil
}
