package cmd

import (
	"context"
	"fmt"
	"os"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

type topicAdoptOptions struct {
	as string
}

func newTopicAdoptCommand(e *Env) *cli.Command {
	var o topicAdoptOptions
	return &cli.Command{
		Name:      "adopt",
		Usage:     "make topics of partition directories from elsewhere",
		ArgsUsage: "DIR",
		Flags:     []cli.Flag{stringFlag(&o.as, "as", "", "call the topic `NAME`; default: as the directories are called")},
		Description: `DIR is a partition directory (orders-0, with a segment file in it), or holds some: a backup, another root, a broker's log.dir. The topic gets a new id, so that nothing that was kept under the old one, as the offsets of groups, is taken for its own. Configs and log start come along where DIR belonged to a root. Directories outside the root are copied and stay as they are; those inside are renamed. The directory of one partition in the root itself stands for all of its topic. Partitions that are missing in between are made empty.

    klog topic adopt /backup/klog/orders-0 --as orders-restored
    cp -a ROOT/orders-0 ROOT/copy-0 && klog -R ROOT topic adopt ROOT/copy-0`,
		Action: func(c *cli.Context) error {
			return runTopicAdopt(c.Context, e, c.Args().First(), o)
		},
	}
}

func runTopicAdopt(ctx context.Context, e *Env, dir string, o topicAdoptOptions) error {
	if _, err := os.Stat(dir); err != nil {
		return err // before a root is made for nothing
	}
	root, err := e.createRoot()
	if err != nil {
		return err
	}
	show := &copyProgress{e: e}
	adopted, err := root.AdoptTopic(ctx, dir, engine.AdoptOptions{As: o.as, Progress: show.to})
	show.stop()
	for _, a := range adopted {
		if len(a.Empty) > 0 {
			e.Notice(fmt.Sprintf("%s: %s made empty: %v", a.Topic.Name(), counted(len(a.Empty), "partition"), a.Empty))
		}
		how := "copied"
		if a.Moved {
			how = "renamed"
		}
		e.tell("%s: %s, %s", a.Topic.Name(), counted(a.Topic.Partitions(), "partition"), how)
	}
	return err
}

// copyProgress shows how far the copies have come, one topic after the other.
type copyProgress struct {
	e    *Env
	line *progress // nil before the first byte
}

func (c *copyProgress) to(done, total int64) {
	if c.line != nil && done < c.line.done.Load() {
		c.stop() // the next topic
	}
	if c.line == nil {
		c.line = c.e.startProgress(total)
	}
	c.line.done.Store(done)
}

func (c *copyProgress) stop() {
	if c.line != nil {
		c.line.stop()
		c.line = nil
	}
}
