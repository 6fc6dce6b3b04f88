// Package value reads what users write behind flags and in files: sizes, durations,
// times, rates, partition lists, positions, delimiters; and writes the same things
// for people to read.
//
// Everything here is pure: no clock, no environment, no file. What depends on the
// moment or on the zone gets both passed in. Every function may be called from
// several goroutines.
//
// Every refusal is an *Error, which names the value and the form that would do.
package value

import "strconv"

// Error refuses a value. A command that meets one ends with the status of wrong usage.
type Error struct {
	What  string // what kind of value was wanted: "size", "time"
	Value string // what stood there
	Want  string // the valid form, or what is wrong with this one
}

// Error is one line: `size "12q": want a number with B, KiB, MB …`.
func (e *Error) Error() string {
	return e.What + " " + quote(e.Value) + ": " + e.Want
}

// maxQuoted bounds how much of a wrong value a message repeats.
const maxQuoted = 80

// quote writes a user's value so that a terminal is safe from it and a message stays short.
func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}
