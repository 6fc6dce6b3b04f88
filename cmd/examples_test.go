package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestExamplesAreCommandLines reads every klog command line in help texts, manual pages
// and the README with the real flags. A flag that was renamed is found here.
func TestExamplesAreCommandLines(t *testing.T) {
	texts := map[string]string{"klog.1": programDescription}
	for _, m := range manuals() {
		texts[m.file()] = m.text
	}
	app := newApp(testEnv(t))
	walkCommands(app.Commands, nil, func(path []*cli.Command) {
		texts["help "+fullName(path)] = path[len(path)-1].Description
	})
	if readme, err := os.ReadFile("../README.md"); err == nil {
		texts["README.md"] = string(readme)
	}
	found := 0
	for where, text := range texts {
		fenced := false
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && !isExample(line) {
				continue
			}
			for _, args := range klogCommands(line) {
				found++
				parsed, err := readFlags(app, args)
				if err == nil && parsed.command() != nil && !parsed.help {
					err = checkArgs(parsed.command(), parsed.name(), parsed.args)
				}
				if err != nil {
					t.Errorf("%s: klog %s: %v", where, strings.Join(args, " "), err)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d examples: they are not recognised", found)
	}
}

// isExample reports whether a line of a text shows what to type.
func isExample(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "\tklog ")
}

// klogCommands are the arguments of each klog in a line of shell.
func klogCommands(line string) [][]string {
	var all [][]string
	var args []string
	inKlog := false
	end := func() {
		if inKlog {
			all = append(all, args)
		}
		args, inKlog = nil, false
	}
	for _, w := range shellWords(line) {
		switch {
		case w.operator:
			end()
		case inKlog:
			args = append(args, w.text)
		case w.text == "klog" && !w.quoted:
			inKlog = true
		}
	}
	end()
	return all
}

// shellWord is a word of a shell's command line, or an operator that ends a command.
type shellWord struct {
	text             string
	quoted, operator bool
}

// shellWords splits a line as a shell does, as far as examples need it: quotes, pipes,
// lists, redirections, substitutions and comments.
func shellWords(line string) []shellWord {
	var words []shellWord
	var w shellWord
	open := false
	flush := func() {
		if open {
			words = append(words, w)
		}
		w, open = shellWord{}, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\'' || c == '"':
			j := strings.IndexByte(line[i+1:], c)
			if j < 0 {
				return words // prose with an apostrophe
			}
			w.text += line[i+1 : i+1+j]
			w.quoted, open = true, true
			i += j + 1
		case c == '#' && !open:
			return words
		case strings.IndexByte(" \t\n", c) >= 0:
			flush()
		case strings.IndexByte("|;&()<>`", c) >= 0:
			flush()
			words = append(words, shellWord{operator: true})
		case c == '$' && strings.HasPrefix(line[i:], "$("):
			flush()
		default:
			w.text += string(c)
			open = true
		}
	}
	flush()
	return words
}
