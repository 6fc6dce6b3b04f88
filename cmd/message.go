package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// usageError is a command line that asks for something klog does not understand or do.
type usageError struct {
	msg  string
	hint string // may be empty
}

func (u *usageError) Error() string { return u.msg }

// usagef makes a usage error: status 2.
func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// report prints what err says, one line and its hints, and returns the exit status.
func (e *Env) report(err error) int {
	code := exitCode(err)
	if silent(err) {
		return code
	}
	for _, part := range parts(err) {
		e.say(part.Error())
		for _, h := range append(hints(part), e.engineHints(part)...) {
			e.hint(h)
		}
	}
	return code
}

// parts are the errors that were joined into err, each of which gets its own line. An
// error that merely has several causes is one.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	all := joined.Unwrap()
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = e.Error()
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return all
}

// Hint says "klog: hint: …" unless -q is given.
func (e *Env) hint(line string) {
	if !e.global.quiet {
		e.write("klog: hint: " + oneLine(line) + "\n")
	}
}

// silent reports whether err ends the command without a word: everything was said, a
// signal asked for the end, or the reader of the output went away.
func silent(err error) bool {
	var st *statusError
	if errors.As(err, &st) && st.err == nil {
		return true
	}
	var stop *signalError
	return err == nil || errors.As(err, &stop) || errors.Is(err, errBrokenPipe)
}

// hints collects the hints in the chain of err, outermost first.
func hints(err error) []string {
	var all []string
	for ; err != nil; err = errors.Unwrap(err) {
		switch x := err.(type) {
		case *hintError:
			all = append(all, x.hint)
		case *usageError:
			if x.hint != "" {
				all = append(all, x.hint)
			}
		}
	}
	return all
}

// cause is err, or the signal that cancelled ctx when err is only its consequence.
func cause(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) {
		if c := context.Cause(ctx); c != nil {
			return c
		}
	}
	return err
}

// oneLine makes any text fit for one line of a terminal: names come from file systems
// and users, and may hold newlines and escape sequences.
func oneLine(s string) string {
	clean := func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }
	if utf8.ValidString(s) && strings.IndexFunc(s, clean) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case clean(r):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// quote shows a word of the user's in a message, cut when it is very long.
func quote(s string) string {
	const longest = 100
	if len(s) > longest {
		return strconv.Quote(s[:longest]) + "…"
	}
	return strconv.Quote(s)
}
