package cmd

import (
	"regexp"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

// readOptions are the flags of the commands that print records.
type readOptions struct {
	partitions value.Partitions
	position   value.Position
	count      int64 // -1: not given
	since      *time.Time
	until      *time.Time

	format       *format.Program
	json         bool
	delimiter    []byte // nil: not given
	null         bool
	keyDelimiter []byte // nil: not given
	emptyNull    bool

	grep, key *regexp.Regexp
	headers   []show.HeaderMatch

	isolation     string
	skipCorrupt   bool
	allowFollower bool

	follow, retry bool  // tail's
	last          int64 // tail prints the last so many; -1: it does not
}

func newReadOptions() *readOptions {
	return &readOptions{count: -1, last: -1, isolation: readUncommitted}
}

// The isolation levels, named as Kafka's.
const (
	readUncommitted = "read_uncommitted"
	readCommitted   = "read_committed"
)

// flags are those that cat and tail share.
func (o *readOptions) flags(e *Env) []cli.Flag {
	now := e.Now()
	parseTime := func(s string) (*time.Time, error) {
		t, err := value.ParseTime(s, now, e.Location)
		return &t, err
	}
	return []cli.Flag{
		flagOf(&o.partitions, "partition", "p", "only the partitions in `LIST`: 0, 0,3 or 2-5", value.ParsePartitions),
		flagOf(&o.position, "offset", "o", "`EXPR` says where to begin: earliest, latest, N, -N (the last N), +N, A:B, @TIME, @T1:T2", func(s string) (value.Position, error) {
			return value.ParsePosition(s, now, e.Location)
		}),
		countFlag(&o.count, "count", "n", "at most `N` records"),
		flagOf(&o.since, "since", "", "only records with a timestamp at or after `TIME`", parseTime),
		flagOf(&o.until, "until", "", "only records with a timestamp before `TIME`", parseTime),
		flagOf(&o.format, "format", "F", "print each record as `FMT` says, nothing behind it: %t %p %o %k %v %T %d %h …", func(s string) (*format.Program, error) {
			return format.Compile(s, e.Location)
		}),
		jsonFlag(&o.json),
		flagOf(&o.delimiter, "delimiter", "D", "`TEXT` behind each record instead of a newline; \\n \\t \\0 \\xNN are understood", value.ParseDelimiter),
		switchFlag(&o.null, "null", "0", "a NUL behind each record instead of a newline"),
		flagOf(&o.keyDelimiter, "key-delimiter", "K", "the key and `TEXT` before each value", value.ParseDelimiter),
		switchFlag(&o.emptyNull, "empty-null", "Z", "print an empty key or value as null, which shows with -J and in lengths"),
		flagOf(&o.grep, "grep", "", "only records whose value matches the regular expression `RE`", regexp.Compile),
		flagOf(&o.key, "key", "", "only records whose key matches `RE`", regexp.Compile),
		listFlagOf(&o.headers, "header", "", "only records with a header NAME whose value matches RE: `NAME=RE`; all of them must", parseHeaderMatch),
		choiceFlag(&o.isolation, "isolation", "", "`LEVEL` read_committed leaves out what transactions have aborted or not decided", readUncommitted, readCommitted),
		switchFlag(&o.skipCorrupt, "skip-corrupt", "", "go on behind damaged data and missing segments; the status is 4 all the same"),
		hidden(switchFlag(&o.allowFollower, "allow-follower", "", "read a root that follows another")),
	}
}

func parseHeaderMatch(s string) (show.HeaderMatch, error) {
	name, re, err := value.ParsePair("header", s)
	if err != nil {
		return show.HeaderMatch{}, err
	}
	m := show.HeaderMatch{Name: name}
	m.Value, err = regexp.Compile(re)
	return m, err
}

// check refuses what contradicts itself, and what this klog cannot do.
func (o *readOptions) check() error {
	given := map[string]bool{
		"--format": o.format != nil, "--json": o.json, "--key-delimiter": o.keyDelimiter != nil,
		"--delimiter": o.delimiter != nil, "--null": o.null,
	}
	for _, pair := range [][2]string{
		{"--format", "--json"},
		{"--format", "--key-delimiter"},
		{"--format", "--delimiter"},
		{"--format", "--null"},
		{"--json", "--key-delimiter"},
		{"--json", "--delimiter"},
		{"--json", "--null"},
		{"--delimiter", "--null"},
	} {
		if given[pair[0]] && given[pair[1]] {
			return usagef("%s and %s contradict each other", pair[0], pair[1])
		}
	}
	switch {
	case o.allowFollower:
		return usagef("--allow-follower: this klog has no followers: every root is its own leader")
	case o.position.Start.Place == value.Stored:
		return usagef("--offset stored: only a consumer of a group or with a cursor has a stored place")
	}
	return nil
}

// filter is what the flags leave of the records.
func (o *readOptions) filter() show.Filter {
	f := show.Filter{Value: o.grep, Key: o.key, Headers: o.headers}
	if o.since != nil {
		ms := value.Millis(*o.since)
		f.Since = &ms
	}
	if o.until != nil {
		ms := value.Millis(*o.until)
		f.Until = &ms
	}
	return f
}

// showOptions say how records are printed.
func (o *readOptions) showOptions(out *Output) show.Options {
	s := show.Options{EmptyIsNull: o.emptyNull, Filter: o.filter(), Limit: o.count}
	s.Write = func(text []byte) error {
		_, err := out.Write(text)
		return err
	}
	switch {
	case o.json:
		s.Format = format.JSON{}
	case o.format != nil:
		s.Format, s.Numbered = o.format, o.format.Numbered()
		s.Delimiter, s.Plain = o.format.Plain()
	default:
		p := &format.Plain{Key: o.keyDelimiter != nil, KeyDelimiter: o.keyDelimiter, Delimiter: []byte("\n")}
		switch {
		case o.null:
			p.Delimiter = []byte{0}
		case o.delimiter != nil:
			p.Delimiter = o.delimiter
		}
		s.Format, s.Delimiter, s.Plain = p, p.Delimiter, !p.Key
	}
	return s
}

// enginePoint is one end of a position as the engine takes it; unset is what it means
// when nothing was said.
func enginePoint(p value.Point, unset engine.Anchor) engine.Position {
	switch p.Place {
	case value.Earliest:
		return engine.Position{Anchor: engine.AtEarliest}
	case value.Latest:
		return engine.Position{Anchor: engine.AtLatest}
	case value.Offset:
		return engine.Position{Anchor: engine.AtOffset, N: p.N}
	case value.Last:
		return engine.Position{Anchor: engine.AtLast, N: p.N}
	case value.FromStart:
		return engine.Position{Anchor: engine.AtForward, N: p.N}
	case value.AtTime:
		return engine.Position{Anchor: engine.AtTime, N: value.Millis(p.Time)}
	}
	return engine.Position{Anchor: unset}
}
