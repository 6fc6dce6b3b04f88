package cmd

import "github.com/urfave/cli/v2"

// walkCommands visits every command and subcommand, hidden ones too, parents first.
// above is the path that leads to cmds.
func walkCommands(cmds, above []*cli.Command, visit func(path []*cli.Command)) {
	for _, c := range cmds {
		path := append(above[:len(above):len(above)], c)
		visit(path)
		walkCommands(c.Subcommands, path, visit)
	}
}

// inCategory are the visible commands of a category.
func inCategory(cmds []*cli.Command, category string) []*cli.Command {
	var all []*cli.Command
	for _, c := range cmds {
		if c.Category == category && !c.Hidden {
			all = append(all, c)
		}
	}
	return all
}
