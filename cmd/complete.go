package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// candidate is one way to complete a word.
type candidate struct{ word, about string }

// directive tells the shell what to do besides offering the candidates.
type directive string

const (
	asWords  directive = ":"
	noSpace  directive = ":nospace" // the word goes on: NAME=
	asFiles  directive = ":files"   // file names fit, too
	asFolder directive = ":dirs"    // directory names fit, too
)

// newCompleteCommand is what the completion scripts call, with the words of the command
// line up to the cursor behind "--". It prints candidates, each with a tab and what it
// is, and a directive as the last line. It never complains: a shell would show that in
// the middle of what is being typed.
func newCompleteCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:      "__complete",
		Hidden:    true,
		Usage:     "complete the last of the words of a command line",
		ArgsUsage: "-- WORD...",
		Action: func(c *cli.Context) error {
			return runComplete(e, c.Args().Slice())
		},
	}
}

func runComplete(e *Env, words []string) error {
	if len(words) == 0 {
		words = []string{""}
	}
	found, then := completeWords(e, newApp(e), words)
	for _, c := range found {
		line := c.word
		if c.about != "" {
			line += "\t" + oneLine(c.about)
		}
		if _, err := e.Out().WriteString(line + "\n"); err != nil {
			return err
		}
	}
	_, err := e.Out().WriteString(string(then) + "\n")
	return err
}

// completeWords finds what the last of words may become.
func completeWords(e *Env, app *cli.App, words []string) ([]candidate, directive) {
	before, last := words[:len(words)-1], words[len(words)-1]
	r := &flagReader{app: app, line: &commandLine{dash: -1}}
	waiting := r.readLeniently(before)
	e.lookWhere(r.line)
	s := suggester{e: e, line: r.line, typed: last, then: asWords}
	switch name, typed, hasValue := strings.Cut(last, "="); {
	case waiting != nil:
		s.flagValue(waiting)
	case r.line.dash < 0 && hasValue && strings.HasPrefix(name, "--"):
		f, _ := r.find(name[2:])
		s.typed, s.prefix = typed, name+"="
		s.flagValue(f)
	case r.line.dash < 0 && strings.HasPrefix(last, "-"):
		s.flags(app)
	case len(r.subcommands()) > 0:
		s.commands(r.subcommands())
	default:
		s.argument(app)
	}
	return s.found, s.then
}

// readLeniently takes what can be understood of words that nobody has finished typing. It
// returns the flag whose value is the word that comes next, or nil.
func (r *flagReader) readLeniently(words []string) (waiting *valueFlag) {
	for i, w := range words {
		if w == "--" {
			r.rest = words[i+1:]
			_ = r.positionals()
			return nil
		}
		if waiting != nil {
			r.set(waiting, true, w) // whose flag it is makes no difference here
			waiting = nil
			continue
		}
		if f := r.endsInFlag(w); f != nil {
			waiting = f
			continue
		}
		// A word that is wrong is left out: the shell is no place to say so.
		switch {
		case strings.HasPrefix(w, "--"):
			_ = r.long(w[2:])
		case len(w) > 1 && w[0] == '-':
			_ = r.short(w[1:])
		default:
			_ = r.word(w)
		}
	}
	return waiting
}

// endsInFlag is the flag of a word whose value would be the next word.
func (r *flagReader) endsInFlag(w string) *valueFlag {
	name, isLong := strings.CutPrefix(w, "--")
	switch {
	case isLong && !strings.Contains(name, "="):
		if f, _ := r.find(name); f != nil && !f.bare {
			return f
		}
	case !isLong && len(w) > 1 && w[0] == '-':
		for i, letter := range w[1:] {
			f, _ := r.find(string(letter))
			if f == nil || !f.bare {
				if f != nil && i+1 == len(w)-1 {
					return f
				}
				return nil
			}
		}
	}
	return nil
}

// lookWhere takes the root that the unfinished command line names.
func (e *Env) lookWhere(line *commandLine) {
	for _, g := range line.globals {
		if g.name == "root" {
			e.global.root, e.global.rootSet = g.text, true
		}
	}
}

// suggester collects candidates for one word.
type suggester struct {
	e      *Env
	line   *commandLine
	typed  string // what stands there already
	prefix string // of the word, before what is completed
	found  []candidate
	then   directive
}

// offer adds a candidate if what is typed may become it.
func (s *suggester) offer(word, about string) {
	c := candidate{s.prefix + word, about}
	if strings.HasPrefix(word, s.typed) && !slices.Contains(s.found, c) {
		s.found = append(s.found, c)
	}
}

func (s *suggester) commands(cmds []*cli.Command) {
	for _, c := range cmds {
		if !c.Hidden {
			s.offer(c.Name, c.Usage)
		}
	}
}

// flags offers the long names of the flags that are not given yet.
func (s *suggester) flags(app *cli.App) {
	all := app.Flags
	if c := s.line.command(); c != nil && len(c.Subcommands) == 0 {
		all = append(slices.Clip(c.Flags), all...)
	}
	given := append(slices.Clip(s.line.flags), s.line.globals...)
	for _, f := range all {
		t, ok := describeFlag(f)
		isGiven := slices.ContainsFunc(given, func(g givenFlag) bool { return g.name == t.long })
		if ok && (!isGiven || t.repeatable) {
			s.offer("--"+t.long, t.usage)
		}
	}
	s.offer("--help", "explain the command")
}

// flagValue offers what the value of f may be.
func (s *suggester) flagValue(f *valueFlag) {
	if f == nil {
		return
	}
	if f.choices != nil {
		for _, c := range f.choices {
			s.offer(c, "")
		}
		return
	}
	t, _ := describeFlag(f)
	s.placeholder(t.value)
}

// argument offers what the next positional argument may be, as ArgsUsage names it.
func (s *suggester) argument(app *cli.App) {
	fields := strings.Fields(s.line.command().ArgsUsage)
	if len(fields) == 0 {
		return
	}
	word := fields[min(len(s.line.args), len(fields)-1)]
	if len(s.line.args) >= len(fields) && !strings.Contains(word, "...") {
		return
	}
	word = strings.Trim(word, "[].")
	switch {
	case word == "COMMAND":
		s.helpWords(app)
	case s.line.name() == "topic undelete":
		s.deletedTopics()
	default:
		s.placeholder(word)
	}
}

// helpWords offers what klog help explains.
func (s *suggester) helpWords(app *cli.App) {
	line, err := readFlags(app, append([]string{"--"}, s.line.args...))
	if err != nil {
		return
	}
	r := flagReader{app: app, line: line}
	s.commands(r.subcommands())
	if len(s.line.args) == 0 {
		for _, t := range helpTopics() {
			s.offer(t.name, "help topic")
		}
	}
}

// placeholder offers what stands for a word like TOPIC or FILE in usage texts.
func (s *suggester) placeholder(word string) {
	for _, w := range strings.Split(word, "|") {
		switch {
		case strings.ToLower(w) == w && w != "" && !strings.Contains(w, "="):
			s.offer(w, "")
		case w == "TOPIC" || w == "OLD":
			s.topics()
		case w == "NAME" && strings.HasPrefix(s.line.name(), "topic ") && s.line.name() != "topic create":
			s.topics()
		case w == "CONFIG":
			s.configs("")
		case w == "CONFIG=VALUE":
			s.configs("=")
		case w == "EXPR":
			s.offer("earliest", "from the start")
			s.offer("latest", "from the end")
		case w == "FILE" || w == "PATH":
			s.then = asFiles
		case w == "DIR":
			s.then = asFolder
		}
	}
}

// topics offers the topics of the root. Where a directory may be meant, it looks like
// one: ./orders-0.
func (s *suggester) topics() {
	if strings.ContainsAny(s.typed, "/") || strings.HasPrefix(s.typed, ".") {
		s.then = asFolder
		return
	}
	for _, name := range s.e.topicNames() {
		if s.line.dash >= 0 || !strings.HasPrefix(name, "-") {
			s.offer(name, "")
		}
	}
}
