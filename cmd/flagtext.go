package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// flagText is what help, man pages and completions say of a flag.
type flagText struct {
	short      string // one letter, may be empty
	long       string
	value      string // placeholder of its value, "" for a switch
	usage      string
	repeatable bool
}

// describeFlag reads a flag's text. In Usage the word between backquotes is the
// placeholder: "stop after `N` records".
func describeFlag(f cli.Flag) (flagText, bool) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return flagText{}, false
	}
	if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
		return flagText{}, false
	}
	var t flagText
	for _, n := range f.Names() {
		switch {
		case len(n) == 1 && t.short == "":
			t.short = n
		case len(n) > 1 && t.long == "":
			t.long = n
		}
	}
	t.usage = d.GetUsage()
	if d.TakesValue() {
		t.value = "VALUE"
		if before, rest, ok := strings.Cut(t.usage, "`"); ok {
			if name, after, ok := strings.Cut(rest, "`"); ok {
				t.value = name
				t.usage = before + name + after
			}
		}
	}
	if s, ok := f.(cli.DocGenerationSliceFlag); ok {
		t.repeatable = s.IsSliceFlag()
	}
	return t, true
}

// forms is "-n, --count N".
func (t flagText) forms() string {
	s := "    "
	if t.short != "" {
		s = "-" + t.short
		if t.long != "" {
			s += ", "
		}
	}
	if t.long != "" {
		s += "--" + t.long
	}
	if t.value != "" {
		s += " " + t.value
	}
	if t.repeatable {
		s += "…"
	}
	return s
}

// The flags below mean the same in every command that has them.

// jsonFlag is -J/--json.
func jsonFlag(p *bool) cli.Flag {
	return switchFlag(p, "json", "J", "one JSON object a line")
}

// headersFlag is --headers.
func headersFlag(p *bool) cli.Flag {
	return switchFlag(p, "headers", "", "begin with a line of column names, also in a pipe")
}

// yesFlag is -y/--yes.
func yesFlag(p *bool) cli.Flag {
	return switchFlag(p, "yes", "y", "do it without asking")
}

// dryRunFlag is --dry-run.
func dryRunFlag(p *bool) cli.Flag {
	return switchFlag(p, "dry-run", "", "say what would be done and change nothing")
}
