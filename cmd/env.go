package cmd

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Env is all that a command may touch of the world outside: streams, environment,
// clock, terminal. Commands reach none of these by any other way, so that a test can
// give them its own. One Env serves one run of Main, from one goroutine except where a
// method says otherwise.
type Env struct {
	// Stdin, Stdout and Stderr are the three streams. Data goes to Out, which writes to
	// Stdout; talk goes to Stderr through Notice, Verbose and the error returned.
	Stdin, Stdout, Stderr *os.File

	// Getenv looks a variable up in the environment; "" when it is not set.
	Getenv func(string) string
	// Now is the clock.
	Now func() time.Time
	// Location is the zone of times without one, read and printed.
	Location *time.Location
	// Geteuid is the effective user id; 0 is root.
	Geteuid func() int
	// IsTerminal reports whether the file is a terminal.
	IsTerminal func(*os.File) bool
	// TerminalWidth is the number of columns of the terminal f, 0 when not known.
	TerminalWidth func(f *os.File) int

	awake   sync.RWMutex // see hold
	global  globalFlags
	out     *Output
	talk    talk
	program string // the command line, for those who wait for this process
	command string // words of the command that runs: "topic create"
	dash    int    // positional arguments before "--"; -1 when there was none
}

// OSEnv is the environment of the process.
func OSEnv() *Env {
	return &Env{
		Stdin:         os.Stdin,
		Stdout:        os.Stdout,
		Stderr:        os.Stderr,
		Getenv:        os.Getenv,
		Now:           time.Now,
		Location:      time.Local,
		Geteuid:       os.Geteuid,
		IsTerminal:    func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) },
		TerminalWidth: terminalWidth,
	}
}

func terminalWidth(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// Out is the buffered standard output, flushed when the command ends. A command that
// pauses (a follower, an acknowledgement) calls Flush itself.
func (e *Env) Out() *Output {
	if e.out == nil {
		e.out = NewOutput(e.Stdout)
	}
	return e.out
}

// Quiet reports whether nothing but errors shall be said.
func (e *Env) Quiet() bool { return e.global.quiet }

// IsVerbose reports whether more than usual shall be said.
func (e *Env) IsVerbose() bool { return e.global.verbose }

// Color reports whether f may be written to in colours: it is a terminal that has them
// and nobody asked for none.
func (e *Env) Color(f *os.File) bool {
	if e.global.noColor || e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb" {
		return false
	}
	return e.IsTerminal(f)
}

// Notice says one line on standard error, unless -q is given. It may be called from
// several goroutines: a line is one write.
func (e *Env) Notice(line string) {
	if !e.global.quiet {
		e.say(line)
	}
}

// Verbose says one line on standard error when -v is given.
func (e *Env) Verbose(line string) {
	if e.global.verbose && !e.global.quiet {
		e.say(line)
	}
}

// Talks reports whether the report of a maintenance command is wanted: a person looks
// on, or -v is given. Cron mails what is printed, so success is silent there.
func (e *Env) Talks() bool {
	return !e.global.quiet && (e.global.verbose || e.IsTerminal(e.Stderr))
}

// say writes "klog: COMMAND: line".
func (e *Env) say(line string) {
	e.write(e.prefix() + oneLine(line) + "\n")
}

// prefix begins every line of talk.
func (e *Env) prefix() string {
	if e.command == "" {
		return "klog: "
	}
	return "klog: " + e.command + ": "
}

// ArgsBeforeDash is how many positional arguments stand before "--", -1 when the
// command line holds no "--". What follows it belongs to a handler in `work`.
func (e *Env) ArgsBeforeDash() int { return e.dash }
