package cmd

import (
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Categories group the commands in the help text.
const (
	categoryTopics  = "Topics"
	categoryRecords = "Records"
	categoryGroups  = "Groups and workers"
	categoryUpkeep  = "Upkeep"
	categoryRemote  = "Other places"
	categoryHelp    = "Help"
)

// categories is the order in which they are shown.
func categories() []string {
	return []string{categoryTopics, categoryRecords, categoryGroups, categoryUpkeep, categoryRemote, categoryHelp}
}

func newHelpCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Category:  categoryHelp,
		Usage:     "explain a command or a topic",
		ArgsUsage: "[COMMAND...]",
		Description: "Without COMMAND: lists the commands. COMMAND may have two words (klog help topic create), or be one of the help topics " +
			topicNames() + ".",
		Action: func(c *cli.Context) error {
			return runHelp(e, c.Args().Slice())
		},
	}
}

func runHelp(e *Env, words []string) error {
	app := newApp(e)
	if len(words) == 1 {
		if t, ok := findTopic(words[0]); ok {
			w := &helpWriter{width: helpWidth(e), bold: e.Color(e.Stdout)}
			w.text(t.text)
			_, err := e.Out().WriteString(w.b.String())
			return err
		}
	}
	line, err := readFlags(app, append([]string{"--"}, words...))
	if err != nil {
		return withHint(err, "help topics: "+topicNames())
	}
	if len(line.args) > 0 {
		return usagef("%s has no command %s", line.name(), quote(line.args[0]))
	}
	return printHelp(e, app, line.path)
}

// printHelp prints the help text of the command at the end of path, or of klog.
func printHelp(e *Env, app *cli.App, path []*cli.Command) error {
	w := &helpWriter{width: helpWidth(e), bold: e.Color(e.Stdout)}
	if len(path) == 0 {
		w.program(app)
	} else {
		w.command(app, path)
	}
	_, err := e.Out().WriteString(w.b.String())
	return err
}

// helpWidth is the width of help text: the terminal's, within what reads well.
func helpWidth(e *Env) int {
	const usual, widest = 80, 100
	if !e.IsTerminal(e.Stdout) {
		return usual
	}
	if w := e.TerminalWidth(e.Stdout); w > 0 {
		return max(40, min(w, widest))
	}
	return usual
}

// helpWriter lays help text out.
type helpWriter struct {
	b     strings.Builder
	width int
	bold  bool
}

func (w *helpWriter) program(app *cli.App) {
	w.b.WriteString("klog: " + app.Usage + "\n")
	w.heading("Usage")
	w.b.WriteString("  klog [global flags] COMMAND [flags] [arguments]\n")
	for _, cat := range categories() {
		var rows [][2]string
		for _, c := range inCategory(app.Commands, cat) {
			rows = append(rows, [2]string{c.Name, c.Usage})
		}
		if len(rows) > 0 {
			w.heading(cat)
			w.rows(rows)
		}
	}
	w.heading("Global flags")
	w.flags(app.Flags)
	w.heading("More")
	w.rows([][2]string{
		{"klog help COMMAND", "flags and examples of a command; klog COMMAND --help is the same"},
		{"klog help TOPIC", "TOPIC is one of " + topicNames()},
	})
}

func (w *helpWriter) command(app *cli.App, path []*cli.Command) {
	c := path[len(path)-1]
	w.b.WriteString("klog " + fullName(path) + ": " + c.Usage + "\n")
	w.heading("Usage")
	for _, s := range synopsis(path) {
		w.b.WriteString("  " + s + "\n")
	}
	if len(c.Subcommands) > 0 {
		var rows [][2]string
		for _, s := range c.Subcommands {
			if !s.Hidden {
				rows = append(rows, [2]string{s.Name + argsTail(s), s.Usage})
			}
		}
		w.heading("Commands")
		w.rows(rows)
	}
	if c.Description != "" {
		w.b.WriteByte('\n')
		w.text(c.Description)
	}
	if len(c.VisibleFlags()) > 0 {
		w.heading("Flags")
		w.flags(c.Flags)
	}
	w.heading("Global flags")
	w.flags(app.Flags)
}

// fullName is the words of a command.
func fullName(path []*cli.Command) string {
	words := make([]string, len(path))
	for i, c := range path {
		words[i] = c.Name
	}
	return strings.Join(words, " ")
}

// synopsis is the usage lines of a command: its UsageText, or one made of its parts.
func synopsis(path []*cli.Command) []string {
	c := path[len(path)-1]
	if c.UsageText != "" {
		return strings.Split(c.UsageText, "\n")
	}
	s := "klog " + fullName(path)
	if len(c.Subcommands) > 0 {
		return []string{s + " COMMAND [flags] [arguments]"}
	}
	if len(c.VisibleFlags()) > 0 {
		s += " [flags]"
	}
	return []string{s + argsTail(c)}
}

func argsTail(c *cli.Command) string {
	if c.ArgsUsage == "" {
		return ""
	}
	return " " + c.ArgsUsage
}

func (w *helpWriter) heading(s string) {
	w.b.WriteByte('\n')
	if w.bold {
		w.b.WriteString("\x1b[1m" + s + ":\x1b[0m\n")
	} else {
		w.b.WriteString(s + ":\n")
	}
}

// flags lists the visible flags: "-n, --count N   text".
func (w *helpWriter) flags(flags []cli.Flag) {
	var rows [][2]string
	for _, f := range flags {
		if d, ok := describeFlag(f); ok {
			rows = append(rows, [2]string{d.forms(), d.usage})
		}
	}
	w.rows(rows)
}

// rows writes pairs in two columns; a long left side has a line of its own.
func (w *helpWriter) rows(rows [][2]string) {
	const widestLeft = 28
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widestLeft {
			left = max(left, n)
		}
	}
	for _, r := range rows {
		n := utf8.RuneCountInString(r[0])
		w.b.WriteString("  " + r[0])
		if n > left {
			w.b.WriteByte('\n')
			n = -2
		}
		w.b.WriteString(strings.Repeat(" ", left-n+2))
		w.wrap(r[1], left+4)
	}
}

// text writes a description: paragraphs are wrapped, lines that begin with blanks are
// examples and stay as they are.
func (w *helpWriter) text(s string) {
	for _, p := range paragraphs(s) {
		if p.example {
			w.b.WriteString(p.text + "\n")
		} else {
			w.wrap(p.text, 0)
		}
	}
}

// paragraph is a part of a description.
type paragraph struct {
	text    string // without the newline at its end; empty: a blank line
	example bool
}

// paragraphs splits a description at its blank and indented lines.
func paragraphs(s string) []paragraph {
	var all []paragraph
	joined := false // the last paragraph still takes lines
	for line := range strings.Lines(strings.Trim(s, "\n")) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "":
			all = append(all, paragraph{})
			joined = false
		case line[0] == ' ':
			all = append(all, paragraph{text: line, example: true})
			joined = false
		case joined:
			all[len(all)-1].text += " " + line
		default:
			all = append(all, paragraph{text: line})
			joined = true
		}
	}
	return all
}

// wrap writes a paragraph whose first line begins where the writer stands, in column
// indent.
func (w *helpWriter) wrap(s string, indent int) {
	col := indent
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case col+1+n > w.width:
			w.b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		default:
			w.b.WriteByte(' ')
			col++
		}
		w.b.WriteString(word)
		col += n
	}
	w.b.WriteByte('\n')
}
