package cmd

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

// valueFlag is a flag, the one kind that there is: its value is read by a function while
// the command line is read, so that a wrong value ends with status 2 before anything is
// done.
type valueFlag struct {
	name, alias string // alias is the short form, may be empty
	usage       string
	set         func(string) error
	repeatable  bool
	choices     []string // the values that there are, for completion; nil: open
	bare        bool     // it has no value: it is given or not
	hidden      bool     // help does not tell of it
}

// flagOf is a flag read by parse into dest; the last one given counts.
func flagOf[T any](dest *T, name, alias, usage string, parse func(string) (T, error)) *valueFlag {
	return &valueFlag{name: name, alias: alias, usage: usage, set: func(s string) error {
		v, err := parse(s)
		if err == nil {
			*dest = v
		}
		return err
	}}
}

// listFlagOf is a flag that may be given several times, each read by parse and appended.
func listFlagOf[T any](dest *[]T, name, alias, usage string, parse func(string) (T, error)) *valueFlag {
	return &valueFlag{name: name, alias: alias, usage: usage, repeatable: true, set: func(s string) error {
		v, err := parse(s)
		if err == nil {
			*dest = append(*dest, v)
		}
		return err
	}}
}

// stringFlag is a flag with any text but an empty one as value: that is mostly a variable
// of the shell that is not set, and would make another command of it.
func stringFlag(dest *string, name, alias, usage string) *valueFlag {
	return flagOf(dest, name, alias, usage, filled(func(s string) (string, error) { return s, nil }))
}

// filled is parse, for values that are not empty.
func filled[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		if s == "" {
			var none T
			return none, usagef("it needs a value that is not empty")
		}
		return parse(s)
	}
}

// stringsFlag is stringFlag, repeatable.
func stringsFlag(dest *[]string, name, alias, usage string) *valueFlag {
	return listFlagOf(dest, name, alias, usage, func(s string) (string, error) { return s, nil })
}

// choiceFlag is a flag whose value is one of a few words.
func choiceFlag(dest *string, name, alias, usage string, choices ...string) *valueFlag {
	f := flagOf(dest, name, alias, usage, func(s string) (string, error) {
		if slices.Contains(choices, s) {
			return s, nil
		}
		return "", usagef("%s: want %s", quote(s), orList(choices))
	})
	f.choices = choices
	return f
}

// switchFlag is a flag without a value. Its text is "true" or "false".
func switchFlag(dest *bool, name, alias, usage string) *valueFlag {
	f := flagOf(dest, name, alias, usage, strconv.ParseBool)
	f.bare = true
	return f
}

// hidden is the flag f, of which help does not tell.
func hidden(f *valueFlag) *valueFlag {
	f.hidden = true
	return f
}

// durationFlag is a flag with a span of time: 250ms, 5m, 7d.
func durationFlag(dest *time.Duration, name, alias, usage string) *valueFlag {
	return flagOf(dest, name, alias, usage, value.ParseDuration)
}

// countFlag is a flag with a number that is not negative.
func countFlag(dest *int64, name, alias, usage string) *valueFlag {
	return flagOf(dest, name, alias, usage, value.ParseCount)
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// The methods below are what urfave/cli asks of a flag.

// Apply is for a flag set of Go's own; klog reads its command line by itself.
func (f *valueFlag) Apply(set *flag.FlagSet) error {
	set.Func(f.name, f.usage, f.set)
	return nil
}

// Names are the long name and, where there is one, the short.
func (f *valueFlag) Names() []string {
	if f.alias == "" {
		return []string{f.name}
	}
	return []string{f.name, f.alias}
}

// String is the flag in a debugger.
func (f *valueFlag) String() string { return "--" + f.name }

// IsSet is false: the environment, where urfave/cli would look for values, sets no flag.
func (f *valueFlag) IsSet() bool { return false }

// IsVisible reports whether help shows the flag.
func (f *valueFlag) IsVisible() bool { return !f.hidden }

// TakesValue reports whether a value belongs to the flag.
func (f *valueFlag) TakesValue() bool { return !f.bare }

// IsSliceFlag reports whether the flag may be given several times.
func (f *valueFlag) IsSliceFlag() bool { return f.repeatable }

// GetUsage is the help text.
func (f *valueFlag) GetUsage() string { return f.usage }

// GetCategory is empty: flags are not grouped.
func (f *valueFlag) GetCategory() string { return "" }

// GetValue is empty: the usage text tells a default.
func (f *valueFlag) GetValue() string { return "" }

// GetDefaultText is empty: the usage text tells a default.
func (f *valueFlag) GetDefaultText() string { return "" }

// GetEnvVars is empty: the environment is read through Env alone.
func (f *valueFlag) GetEnvVars() []string { return nil }
