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
