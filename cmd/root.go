package cmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// entry is a command and how it is made. The name is told twice so that a command line
// need not make all commands to run one.
type entry struct {
	name      string
	construct func(*Env) *cli.Command
}

// entries are all commands, in the order of the help text. A command is one file with a
// function newXCommand, its flags in an options struct, and runX.
func entries() []entry {
	return []entry{
		{"topic", newTopicCommand},
		{"produce", newProduceCommand},
		{"cat", newCatCommand},
		{"tail", newTailCommand},
		{"verify", newVerifyCommand},
		{"dump", newDumpCommand},
		{"locks", newLocksCommand},
		{"doctor", newDoctorCommand},
		{"bench", newBenchCommand},
		{"__doctor", newDoctorHelperCommand},
		{"help", newHelpCommand},
		{"version", newVersionCommand},
		{"completion", newCompletionCommand},
		{"__complete", newCompleteCommand},
		{"__man", newManCommand},
	}
}

// globalFlags are the values of the flags that every command has.
type globalFlags struct {
	root        string
	rootSet     bool
	quiet       bool
	quietSet    bool
	verbose     bool
	noColor     bool
	lockTimeout time.Duration
	lockSet     bool
}

// Main runs one command line, args[0] being the program's name, and returns the exit
// status. ctx ends when a signal asks for it; its cause then tells which. Whatever
// happens inside, the user sees a message, never a trace.
func Main(ctx context.Context, e *Env, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = e.internalError(p, debug.Stack())
		}
	}()
	if len(args) > 0 {
		args = args[1:]
	}
	e.program = programLine(args)
	return e.finish(ctx, run(ctx, e, appFor(e, args), args))
}

// finish flushes what a command printed, says what its error says, and returns the exit
// status.
func (e *Env) finish(ctx context.Context, err error) int {
	err = cause(ctx, err)
	if ferr := e.flush(); ferr != nil && !toldAlready(err, ferr) {
		err = ferr // what was printed did not arrive: that is the news
	}
	if errors.Is(err, errBrokenPipe) {
		e.dieOfBrokenPipe()
	}
	return e.report(err)
}

// toldAlready reports whether a failed flush is no news beside err: that ends the command
// without a word, or tells of the flush and of more.
func toldAlready(err, flush error) bool {
	return err != nil && (silent(err) || errors.Is(err, flush))
}

// internalError tells of a fault in klog itself.
func (e *Env) internalError(p any, stack []byte) int {
	e.say(fmt.Sprintf("internal error: %v", p))
	if e.global.verbose {
		e.Stderr.Write(stack)
	} else {
		e.hint("-v shows where; please report it")
	}
	return ExitFailure
}

// run reads the command line and runs the command that it names.
func run(ctx context.Context, e *Env, app *cli.App, args []string) error {
	line, err := readFlags(app, args)
	e.command = line.name()
	e.dash = line.dash
	switch {
	case err != nil:
		return err
	case line.version:
		return printVersion(e, false)
	case line.help:
		return printHelp(e, app, line.path)
	case line.command() == nil:
		return missingCommand(app.Commands)
	case len(line.command().Subcommands) > 0:
		return missingCommand(line.command().Subcommands)
	}
	if err := checkArgs(line.command(), line.name(), line.args); err != nil {
		return err
	}
	if err := e.takeFlags(line); err != nil {
		return err
	}
	c, err := line.context(ctx, app)
	if err != nil {
		return err
	}
	return line.command().Action(c)
}

// takeFlags hands the values of all flags over to those that asked for them.
func (e *Env) takeFlags(line *commandLine) error {
	if err := take(line.globals); err != nil {
		return err
	}
	if err := e.takeEnvironment(); err != nil {
		return err
	}
	return take(line.flags)
}

// appFor is the command tree as far as a command line needs it: where it begins with the
// name of a command, that command alone.
func appFor(e *Env, args []string) *cli.App {
	if len(args) > 0 {
		for _, c := range entries() {
			if c.name == args[0] {
				return appOf(e, c)
			}
		}
	}
	return newApp(e)
}

// newApp is the whole command tree.
func newApp(e *Env) *cli.App { return appOf(e, entries()...) }

func appOf(e *Env, commands ...entry) *cli.App {
	app := &cli.App{
		Name:  "klog",
		Usage: "Kafka for the shell: topics, partitions and segments as plain files",
		Flags: newGlobalFlags(e),
	}
	for _, c := range commands {
		app.Commands = append(app.Commands, c.construct(e))
	}
	return app
}

func missingCommand(subs []*cli.Command) error {
	var names []string
	for _, c := range subs {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return &usageError{msg: "which command?", hint: "there are: " + strings.Join(names, ", ")}
}

// checkArgs holds the number of positional arguments against ArgsUsage, which is the
// one place that tells it: "NAME", "TOPIC [FILE...]", "[TOPIC...]". A command whose
// ArgsUsage holds "--" checks for itself. name is all words of the command.
func checkArgs(c *cli.Command, name string, args []string) error {
	if strings.Contains(c.ArgsUsage, "--") {
		return nil
	}
	least, most := 0, 0
	for _, word := range strings.Fields(c.ArgsUsage) {
		if strings.Contains(word, "...") {
			most = -1
		}
		if most >= 0 {
			most++
		}
		if word[0] != '[' {
			least++
			if len(args) < least {
				return &usageError{
					msg:  "missing argument " + strings.TrimRight(word, ".]"),
					hint: "klog help " + name + " shows how it is used",
				}
			}
		}
	}
	if most >= 0 && len(args) > most {
		return usagef("unexpected argument %s", quote(args[most]))
	}
	return nil
}
