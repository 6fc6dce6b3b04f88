package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// newManCommand writes the manual pages from the command tree: klog.1, one page a
// command, and the hand-written pages of cmd/manual. `make generate` calls it.
func newManCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:      "__man",
		Hidden:    true,
		Usage:     "write the manual pages",
		ArgsUsage: "DIR",
		Action: func(c *cli.Context) error {
			return runMan(e, c.Args().First())
		},
	}
}

func runMan(e *Env, dir string) error {
	for name, text := range manPages(newApp(e)) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manPages are all manual pages by the names of their files.
func manPages(app *cli.App) map[string]string {
	pages := map[string]string{"klog.1": manProgram(app)}
	for _, c := range app.Commands {
		if !c.Hidden {
			pages["klog-"+c.Name+".1"] = manCommand(c)
		}
	}
	for _, m := range manuals() {
		pages[m.file()] = manText(m)
	}
	return pages
}

func manProgram(app *cli.App) string {
	var w manWriter
	w.title("KLOG", "1")
	w.section("NAME")
	w.line("klog \\- " + roff(app.Usage))
	w.section("SYNOPSIS")
	w.line("\\fBklog\\fR [\\fIglobal flags\\fR] \\fICOMMAND\\fR [\\fIflags\\fR] [\\fIarguments\\fR]")
	w.section("DESCRIPTION")
	w.text(programDescription)
	for _, cat := range categories() {
		for i, c := range inCategory(app.Commands, cat) {
			if i == 0 {
				w.subsection(cat)
			}
			w.term("\\fBklog\\-"+roff(c.Name)+"\\fR(1)", c.Usage)
		}
	}
	w.section("GLOBAL FLAGS")
	w.line("They may stand anywhere before \\fB\\-\\-\\fR, which ends the flags.")
	w.flags(app.Flags)
	w.section("EXIT STATUS")
	w.text(afterHeading(exitStatusText))
	w.section("ENVIRONMENT")
	w.text(afterHeading(environmentText))
	w.section("SEE ALSO")
	var see []string
	for _, m := range manuals() {
		see = append(see, "\\fBklog\\-"+roff(m.name)+"\\fR("+m.section+")")
	}
	w.line(strings.Join(see, ", "))
	return w.String()
}

// afterHeading is a help topic without its first line.
func afterHeading(s string) string {
	_, rest, _ := strings.Cut(s, "\n")
	return rest
}

func manCommand(c *cli.Command) string {
	var w manWriter
	w.title("KLOG-"+strings.ToUpper(c.Name), "1")
	w.section("NAME")
	w.line("klog\\-" + roff(c.Name) + " \\- " + roff(c.Usage))
	w.section("SYNOPSIS")
	w.synopses(c)
	w.section("DESCRIPTION")
	if c.Description == "" {
		w.line(roff(sentence(c.Usage)))
	}
	w.text(c.Description)
	walkCommands(c.Subcommands, []*cli.Command{c}, func(path []*cli.Command) {
		sub := path[len(path)-1]
		if sub.Hidden {
			return
		}
		w.section(strings.ToUpper(fullName(path)))
		w.line(roff(sentence(sub.Usage)))
		if sub.Description != "" {
			w.line(".PP")
			w.text(sub.Description)
		}
		w.flags(sub.Flags)
	})
	if len(c.VisibleFlags()) > 0 {
		w.section("FLAGS")
		w.flags(c.Flags)
	}
	w.section("EXIT STATUS")
	w.line("0 when everything that was asked for is done; the others are listed in \\fBklog\\fR(1).")
	w.section("SEE ALSO")
	w.line("\\fBklog\\fR(1), which has the global flags")
	return w.String()
}

// sentence makes a usage line one.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// manText lays a hand-written page out: a line in capitals is a heading.
func manText(m manual) string {
	var w manWriter
	w.title("KLOG-"+strings.ToUpper(m.name), m.section)
	w.section("NAME")
	about, body, _ := strings.Cut(m.text, "\n")
	w.line("klog\\-" + roff(m.name) + " \\- " + roff(about))
	var part strings.Builder
	for line := range strings.Lines(body) {
		if isHeading(line) {
			w.text(part.String())
			part.Reset()
			w.section(strings.TrimSpace(line))
			continue
		}
		part.WriteString(line)
	}
	w.text(part.String())
	return w.String()
}

// isHeading reports whether a line of a manual is a heading: capitals from the margin on.
func isHeading(line string) bool {
	line = strings.TrimRight(line, "\n")
	return line != "" && line[0] >= 'A' && line[0] <= 'Z' && strings.ToUpper(line) == line && !strings.HasSuffix(line, ".")
}
