// Package cmd is the command line of klog: the command tree, flags, tables and
// messages. Only this package writes to the terminal, reads the environment and knows
// flags; the work is done by the packages below it.
//
// # How a command is made
//
// A command is one file: an options struct, a constructor that binds flags to it, and a
// function that runs. version.go is the smallest whole one:
//
//	type versionOptions struct{ json bool }
//
//	func newVersionCommand(e *Env) *cli.Command {
//		var o versionOptions
//		return &cli.Command{
//			Name:   "version",
//			Usage:  "print the version",
//			Flags:  []cli.Flag{jsonFlag(&o.json)},
//			Action: func(*cli.Context) error { return runVersion(e, o) },
//		}
//	}
//
// The constructor stands in the list of entries in root.go; nothing is global. runX takes a
// context, the Env and the options, reaches the outside only through Env, and returns
// an error instead of printing one. A verb of a noun ("topic create") is a subcommand.
//
//   - ArgsUsage tells how many positional arguments there are, and is checked before the
//     command runs: "NAME", "TOPIC [FILE...]", "[TOPIC...]". One that holds "--" is not
//     checked.
//   - In a flag's Usage the word between backquotes names its value.
//   - Description is plain text: paragraphs are wrapped, indented lines are examples and
//     stay. Help, man page and completion are made from these fields and from nothing else.
//   - Flags and arguments arrive in any order. They are read by flags.go, not by
//     urfave/cli, and every flag is made by one of the functions in flagtypes.go.
//     Env.ArgsBeforeDash tells where "--" stood.
//   - A global flag's name is not used for anything else.
//
// # Output
//
// Standard output carries data only, through Env.Out, or through a table for listings:
// aligned on a terminal, tab-separated in a pipe, JSON lines with -J. What the command
// has to say goes to standard error through Env.Notice and Env.Verbose. Main flushes;
// a command that waits (a follower) flushes itself and calls Env.WatchReader once.
//
// # Errors and exit statuses
//
// An error becomes one line, "klog: COMMAND: what: why", and its hints further lines.
// exit.go maps types of errors to the exit statuses that scripts rely on (exit-status in
// the help). usagef makes a usage error, withHint adds a line that helps, withStatus
// gives a status that the type does not tell, and status ends with one when everything
// has been said. A context that a signal ended may be returned as it is.
package cmd
