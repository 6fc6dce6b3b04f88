package cmd

import (
	"context"
	"flag"
	"slices"
	"strconv"
	"strings"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

// commandLine is an argument vector, understood. urfave/cli stops reading flags at the
// first positional argument, knows no combined short flags with values, and looks each
// flag up among all others through a regular expression, which costs half a millisecond
// for a command with thirty. So arguments are read here, with the flags of the command in
// view, and urfave/cli is asked only what commands and flags there are.
type commandLine struct {
	path    []*cli.Command // command and subcommand
	globals []givenFlag    // flags that every command has
	flags   []givenFlag    // the command's own
	args    []string       // positional
	dash    int            // positional arguments before "--", -1 without one
	help    bool           // --help or -h was seen
	version bool           // --version was seen
}

// givenFlag is a flag with the text that was given as its value.
type givenFlag struct {
	*valueFlag
	text string
}

// take hands the values of flags over, in the order of the command line.
func take(given []givenFlag) error {
	for _, g := range given {
		if err := g.set(g.text); err != nil {
			return &usageError{msg: "--" + g.name + ": " + err.Error()}
		}
	}
	return nil
}

// context is what a command's action is called with.
func (l *commandLine) context(ctx context.Context, app *cli.App) (*cli.Context, error) {
	set := flag.NewFlagSet(l.name(), flag.ContinueOnError)
	if err := set.Parse(append([]string{"--"}, l.args...)); err != nil {
		return nil, err
	}
	c := cli.NewContext(app, set, nil)
	c.Context, c.Command = ctx, l.command()
	return c, nil
}

// name is the words of the command: "topic create".
func (l *commandLine) name() string {
	words := make([]string, len(l.path))
	for i, c := range l.path {
		words[i] = c.Name
	}
	return strings.Join(words, " ")
}

// command is the innermost command, nil when none was named.
func (l *commandLine) command() *cli.Command {
	if len(l.path) == 0 {
		return nil
	}
	return l.path[len(l.path)-1]
}

// flagReader reads one argument vector.
type flagReader struct {
	app  *cli.App
	line *commandLine
	rest []string
}

// readFlags understands args (without the program's name). It goes by getopt's rules:
// flags and positional arguments in any order, "--" ends the flags, a lone "-" is
// positional, short flags combine, a flag with a value takes the rest of its word or
// the whole next one, whatever that begins with (-o -5). The error is a *usageError;
// the line read so far is returned with it.
func readFlags(app *cli.App, args []string) (*commandLine, error) {
	r := flagReader{app: app, line: &commandLine{dash: -1}, rest: args}
	for len(r.rest) > 0 {
		word := r.rest[0]
		r.rest = r.rest[1:]
		var err error
		switch {
		case word == "--":
			err = r.positionals()
		case strings.HasPrefix(word, "--"):
			err = r.long(word[2:])
		case len(word) > 1 && word[0] == '-':
			err = r.short(word[1:])
		default:
			err = r.word(word)
		}
		if err != nil {
			return r.line, err
		}
	}
	return r.line, nil
}

// positionals takes all that follows "--".
func (r *flagReader) positionals() error {
	rest := r.rest
	r.rest = nil
	for len(rest) > 0 && r.subcommands() != nil {
		if err := r.word(rest[0]); err != nil {
			return err
		}
		rest = rest[1:]
	}
	r.line.dash = len(r.line.args)
	r.line.args = append(r.line.args, rest...)
	return nil
}

// subcommands are the commands that may be named next.
func (r *flagReader) subcommands() []*cli.Command {
	if c := r.line.command(); c != nil {
		return c.Subcommands
	}
	return r.app.Commands
}

// word takes a word that is no flag: the name of a command as long as one is due.
func (r *flagReader) word(w string) error {
	subs := r.subcommands()
	if len(subs) == 0 {
		r.line.args = append(r.line.args, w)
		return nil
	}
	for _, c := range subs {
		if c.HasName(w) {
			r.line.path = append(r.line.path, c)
			return nil
		}
	}
	if w == "help" && r.line.command() != nil {
		r.line.help = true // also of a command named behind it: klog topic help create
		return nil
	}
	if name := strings.TrimLeft(r.line.name()+" "+w, " "); planned(name) {
		return notInThisVersion(w)
	}
	return unknownCommand(w, subs)
}

func unknownCommand(w string, subs []*cli.Command) error {
	var names []string
	for _, c := range subs {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	u := &usageError{msg: "unknown command " + quote(w)}
	if near := engine.Nearest(w, names); near != "" {
		u.hint = "did you mean " + near + "?"
	} else {
		u.hint = "there are: " + strings.Join(names, ", ")
	}
	return u
}

// long takes --name, --name=value or --name value.
func (r *flagReader) long(s string) error {
	name, text, hasValue := strings.Cut(s, "=")
	if len(name) < 2 {
		return r.unknown("--" + name)
	}
	f, global := r.find(name)
	switch {
	case f == nil:
		return r.special(name, hasValue)
	case f.bare && !hasValue:
		text = "true"
	case f.bare:
		on, err := value.ParseBool(text)
		if err != nil {
			return usagef("--%s: it is on or off and takes no value", name)
		}
		text = strconv.FormatBool(on)
	case !hasValue:
		var err error
		if text, err = r.value("--" + name); err != nil {
			return err
		}
	}
	r.set(f, global, text)
	return nil
}

// short takes the letters of -abc: flags without a value, the last perhaps with one.
func (r *flagReader) short(s string) error {
	for i, letter := range s {
		name := string(letter)
		f, global := r.find(name)
		switch {
		case f == nil && name == "h":
			r.line.help = true
		case f == nil:
			return r.unknownShort(s, name)
		case f.bare:
			r.set(f, global, "true")
		default:
			text := s[i+len(name):]
			if text == "" {
				var err error
				if text, err = r.value("-" + name); err != nil {
					return err
				}
			}
			r.set(f, global, text)
			return nil
		}
	}
	return nil
}

// value takes the next word as the value of a flag.
func (r *flagReader) value(flag string) (string, error) {
	if len(r.rest) == 0 {
		return "", usagef("%s: it needs a value", flag)
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v, nil
}

// special takes the flags that every command has and urfave/cli need not know.
func (r *flagReader) special(name string, hasValue bool) error {
	switch {
	case name == "help" && !hasValue:
		r.line.help = true
	case name == "version" && !hasValue && len(r.line.path) == 0:
		r.line.version = true
	default:
		return r.unknown("--" + name)
	}
	return nil
}

// find looks a flag up among the command's and the global ones.
func (r *flagReader) find(name string) (f *valueFlag, global bool) {
	if c := r.line.command(); c != nil {
		if f := findFlag(c.Flags, name); f != nil {
			return f, false
		}
	}
	return findFlag(r.app.Flags, name), true
}

func findFlag(flags []cli.Flag, name string) *valueFlag {
	for _, f := range flags {
		if f := f.(*valueFlag); f.name == name || f.alias == name && name != "" {
			return f
		}
	}
	return nil
}

// set notes a flag and its value.
func (r *flagReader) set(f *valueFlag, global bool, value string) {
	if global {
		r.line.globals = append(r.line.globals, givenFlag{f, value})
	} else {
		r.line.flags = append(r.line.flags, givenFlag{f, value})
	}
}

// unknown is the error for a flag that is not there, with the nearest that is.
func (r *flagReader) unknown(flag string) error {
	if planned(flag) || planned(r.line.name()+" "+flag) {
		return notInThisVersion(flag)
	}
	u := &usageError{msg: "unknown flag " + quote(flag)}
	if near := engine.Nearest(strings.TrimLeft(flag, "-"), r.longNames()); near != "" {
		u.hint = "did you mean --" + near + "?"
	} else {
		u.hint = r.helpHint()
	}
	return u
}

// unknownShort is unknown for one letter of -abc. A number is what old tools take for a
// count, a whole name is a long flag with one dash too few.
func (r *flagReader) unknownShort(word, letter string) error {
	u := &usageError{msg: "unknown flag " + quote("-"+letter)}
	name, _, _ := strings.Cut(word, "=")
	count, _ := r.find("count")
	switch {
	case count != nil && strings.Trim(word, "0123456789") == "":
		u.hint = "did you mean -n " + word + "?"
	case len(name) > 1 && slices.Contains(r.longNames(), name):
		u.hint = "did you mean --" + name + "?"
	case len(r.line.path) == 0:
		u.hint = "the flags of a command stand behind its name"
	default:
		u.hint = r.helpHint()
	}
	return u
}

func (r *flagReader) helpHint() string {
	if n := r.line.name(); n != "" {
		return "klog help " + n + " lists its flags"
	}
	return "klog help lists the commands and the global flags"
}

func (r *flagReader) longNames() []string {
	names := []string{"help"}
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
				continue
			}
			for _, n := range f.Names() {
				if len(n) > 1 {
					names = append(names, n)
				}
			}
		}
	}
	if c := r.line.command(); c != nil {
		add(c.Flags)
	}
	add(r.app.Flags)
	return names
}
