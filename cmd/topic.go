package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

func newTopicCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:     "topic",
		Category: categoryTopics,
		Usage:    "create, list, change and delete topics",
		Subcommands: []*cli.Command{
			newTopicCreateCommand(e),
			newTopicListCommand(e),
			newTopicDescribeCommand(e),
			newTopicAlterCommand(e),
			newTopicDeleteCommand(e),
			newTopicUndeleteCommand(e),
			newTopicRenameCommand(e),
			newTopicAdoptCommand(e),
		},
	}
}

// changeRoot opens the root for changing what is in it: one that does not exist is not
// made.
func (e *Env) changeRoot() (*engine.Root, error) {
	if _, err := e.openRoot(); err != nil {
		return nil, err
	}
	return e.createRoot()
}

// partitionsFlag is --partitions.
func partitionsFlag(dest *int, usage string) cli.Flag {
	return flagOf(dest, "partitions", "", usage, func(s string) (int, error) {
		n, err := value.ParseCount(s)
		if err != nil {
			return 0, err
		}
		if n < 1 || n > engine.MaxPartitions {
			return 0, usagef("%s: want a number from 1 to %d", quote(s), engine.MaxPartitions)
		}
		return int(n), nil
	})
}

// setting is a config as it was given.
type setting struct {
	name, given string
	kept        string // without unit, lists in order
}

// configFlag is --config.
func configFlag(dest *[]setting) cli.Flag {
	return listFlagOf(dest, "config", "", "set a config, `CONFIG=VALUE`; values may carry a unit (7d, 64MiB)", func(s string) (setting, error) {
		name, given, err := value.ParsePair("config", s)
		if err != nil {
			return setting{}, err
		}
		if slices.ContainsFunc(*dest, func(c setting) bool { return c.name == name }) {
			return setting{}, usagef("%s is set twice", name)
		}
		kept, err := engine.ParseConfig(name, given)
		return setting{name, given, kept}, err
	})
}

// settings are configs by name.
func settings(list []setting) map[string]string {
	m := make(map[string]string, len(list))
	for _, c := range list {
		m[c.name] = c.kept
	}
	return m
}

// tellSettings says what the values mean that were not given as klog keeps them.
func (e *Env) tellSettings(topic string, list []setting) {
	for _, c := range list {
		if c.given != c.kept {
			e.Notice(fmt.Sprintf("%s: %s=%s", topic, c.name, c.kept))
		}
	}
}

// tell says one line where a person looks on, or -v is given.
func (e *Env) tell(format string, args ...any) {
	if e.Talks() {
		e.Notice(fmt.Sprintf(format, args...))
	}
}

// size is a number of bytes in a message: for people on a terminal, exact elsewhere.
func (e *Env) size(n int64) string {
	if e.IsTerminal(e.Stderr) {
		return value.FormatSize(n)
	}
	return strconv.FormatInt(n, 10) + "B"
}

// configPairs are the configs that were set, by name.
func configPairs(set map[string]string) pairs {
	ps := make(pairs, 0, len(set))
	for name, v := range set {
		ps = append(ps, [2]string{name, v})
	}
	slices.SortFunc(ps, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return ps
}

// counted is "1 partition", "3 partitions".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// idCell is a topic's id, null where none is known.
func idCell(id engine.TopicID) any {
	if id.IsZero() {
		return nil
	}
	return id.String()
}
