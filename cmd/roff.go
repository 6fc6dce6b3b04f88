package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// manWriter writes a manual page in the man macros.
type manWriter struct{ strings.Builder }

func (w *manWriter) line(s string) { w.WriteString(s + "\n") }

// title begins the page. It carries no date: the same tree makes the same bytes.
func (w *manWriter) title(name, section string) {
	w.line(`.\" Made from klog's command tree by "make generate".`)
	w.line(".TH " + roff(name) + " " + section + ` "" "klog ` + Version + `" "klog manual"`)
}

func (w *manWriter) section(s string)    { w.line(".SH " + roff(s)) }
func (w *manWriter) subsection(s string) { w.line(".SS " + roff(s)) }

// term is a word and what it means.
func (w *manWriter) term(marked, text string) {
	w.line(".TP\n" + marked)
	w.line(roff(text))
}

// synopses are the usage lines of a command and its subcommands, the words to be typed
// in bold.
func (w *manWriter) synopses(c *cli.Command) {
	var lines []string
	walkCommands([]*cli.Command{c}, nil, func(path []*cli.Command) {
		if last := path[len(path)-1]; len(last.Subcommands) > 0 || last.Hidden {
			return
		}
		name := "klog " + fullName(path)
		for _, s := range synopsis(path) {
			lines = append(lines, "\\fB"+roff(name)+"\\fR"+roff(strings.TrimPrefix(s, name)))
		}
	})
	w.line(strings.Join(lines, "\n.br\n"))
}

// flags lists the visible flags.
func (w *manWriter) flags(flags []cli.Flag) {
	for _, f := range flags {
		t, ok := describeFlag(f)
		if !ok {
			continue
		}
		var forms []string
		if t.short != "" {
			forms = append(forms, "\\fB\\-"+roff(t.short)+"\\fR")
		}
		if t.long != "" {
			forms = append(forms, "\\fB\\-\\-"+roff(t.long)+"\\fR")
		}
		head := strings.Join(forms, ", ")
		if t.value != "" {
			head += " \\fI" + roff(t.value) + "\\fR"
		}
		if t.repeatable {
			head += "..."
		}
		w.term(head, t.usage)
	}
}

// text is a description: paragraphs, and indented lines as they are.
func (w *manWriter) text(s string) {
	inExample := false
	leave := func() {
		if inExample {
			w.line(".fi\n.RE")
			inExample = false
		}
	}
	gap, first := false, true
	for _, p := range paragraphs(s) {
		switch {
		case p.text == "":
			gap = true
			continue
		case p.example && !inExample:
			if !first {
				w.line(".PP")
			}
			w.line(".RS 4\n.nf")
			inExample = true
		case p.example && gap:
			w.line("")
		case !p.example:
			leave()
			if gap && !first {
				w.line(".PP")
			}
		}
		gap, first = false, false
		w.line(roff(strings.TrimPrefix(strings.TrimPrefix(p.text, "  "), "  ")))
	}
	leave()
}

// roff makes text plain to troff: a backslash is one, a hyphen is what can be copied to a
// shell, and no line begins with a command.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
