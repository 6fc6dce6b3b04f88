// Command testlog reads `go test -json` and prints what a person wants to know: one line
// a package, the whole output of what failed, one line for each test that was skipped
// and why, and the counts.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	l := &log{out: os.Stdout, output: map[string][]string{}}
	if err := l.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
	fmt.Fprintf(l.out, "%d passed, %d failed, %d skipped\n", l.passed, l.failed, l.skipped)
	if l.failed > 0 {
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that does not build
	Test       string
	Elapsed    float64
	Output     string
}

// log follows a test run.
type log struct {
	out                     io.Writer
	output                  map[string][]string // lines of the tests that still run
	passed, failed, skipped int
}

func (l *log) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var ev event
			if json.Unmarshal([]byte(line), &ev) == nil {
				l.take(ev)
			} else {
				io.WriteString(l.out, line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *log) take(ev event) {
	id := ev.Package + " " + ev.Test
	switch {
	case ev.Action == "build-output":
		io.WriteString(l.out, ev.Output)
	case ev.Action == "build-fail":
		l.failed++
	case ev.Action == "output":
		l.output[id] = append(l.output[id], ev.Output)
	case ev.Test == "":
		l.takePackage(ev, id)
	case ev.Action == "pass":
		l.passed++
		delete(l.output, id)
	case ev.Action == "skip":
		l.skipped++
		fmt.Fprintf(l.out, "skip\t%s %s: %s\n", ev.Package, ev.Test, reason(l.output[id]))
		delete(l.output, id)
	case ev.Action == "fail":
		l.failed++
		l.dump(id)
	}
}

// takePackage ends a package: its own output matters when it failed, which it may have
// done outside any test.
func (l *log) takePackage(ev event, id string) {
	switch ev.Action {
	case "pass":
		fmt.Fprintf(l.out, "ok\t%s\t%.1fs\n", ev.Package, ev.Elapsed)
		delete(l.output, id)
	case "fail":
		for other := range l.output {
			if other != id && strings.HasPrefix(other, ev.Package+" ") {
				l.failed++ // it ran when the process ended
				l.dump(other)
			}
		}
		l.dump(id)
	case "skip":
		delete(l.output, id)
	}
}

// dump prints the output of a test and forgets it.
func (l *log) dump(id string) {
	for _, line := range l.output[id] {
		if !strings.HasPrefix(line, "=== ") {
			io.WriteString(l.out, line)
		}
	}
	delete(l.output, id)
}

// reason is what a skipped test said.
func reason(lines []string) string {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, text, ok := strings.Cut(line, ": "); ok && strings.Contains(line, ".go:") {
			return text
		}
		return line
	}
	return "no reason given"
}
