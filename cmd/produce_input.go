package cmd

import (
	"os"
	"time"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/value"
)

// check refuses flags that contradict each other.
func (o *produceOptions) check() error {
	switch {
	case o.follow != "" && len(o.files) > 0:
		return usagef("--follow reads one file: %s is one too many", quote(o.files[0]))
	case o.follow != "" && o.whole:
		return usagef("--whole: a file that grows is never whole")
	case o.keepPartition && !o.json && o.format == nil:
		return usagef("--keep-partition: only rows (-J) and formats (-F) name a partition")
	case o.printOffset && o.tee:
		return usagef("--print-offset and --tee: both write to standard output")
	}
	for _, group := range [][]string{
		{"--key", "--key-delimiter", "--key-json", "--key-regex"},
		{"--timestamp", "--timestamp-json"},
		{"--json", "--format", "--whole", "--key-delimiter"},
		{"--json", "--format", "--key-json"},
		{"--json", "--format", "--key-regex"},
		{"--json", "--format", "--timestamp-json"},
		{"--delimiter", "--null", "--whole", "--format"},
		{"--partition", "--keep-partition"},
	} {
		if err := o.several(group); err != nil {
			return err
		}
	}
	return nil
}

// several is an error when more than one of the flags is given.
func (o *produceOptions) several(names []string) error {
	first := ""
	for _, n := range names {
		if !o.given(n) {
			continue
		}
		if first != "" {
			return usagef("%s and %s: only one of them", first, n)
		}
		first = n
	}
	return nil
}

// given reports whether the flag of that name was given.
func (o *produceOptions) given(name string) bool {
	switch name {
	case "--key":
		return o.key != nil
	case "--key-delimiter":
		return o.keyDelimiter != nil
	case "--key-json":
		return o.keyJSON != ""
	case "--key-regex":
		return o.keyRegexp != nil
	case "--timestamp":
		return o.timestamp != nil
	case "--timestamp-json":
		return o.timestampJSON != ""
	case "--partition":
		return o.partition >= 0
	case "--keep-partition":
		return o.keepPartition
	case "--json":
		return o.json
	case "--format":
		return o.format != nil
	case "--whole":
		return o.whole
	case "--delimiter":
		return o.delimiter != nil
	case "--null":
		return o.null
	}
	panic("no flag is named " + name)
}

// feedOptions are the options that need no topic.
func (o *produceOptions) feedOptions(e *Env) (feed.Options, error) {
	f := feed.Options{
		Delimiter:    o.delimiter,
		Whole:        o.whole,
		KeyDelimiter: nil,
		Fixed:        feed.Fixed{Headers: o.headers},
		Partition:    int32(o.partition),
		Partitioner:  o.partitioner,
		OwnPartition: o.keepPartition,
		Oversize:     o.oversize,
		Linger:       o.linger,
		Now:          e.Now,
	}
	if o.null {
		f.Delimiter = []byte{0}
	}
	switch {
	case o.key == nil:
	case *o.key == "" && o.emptyNull:
		f.Fixed.NullKey = true
	default:
		f.Fixed.Key = []byte(*o.key)
	}
	if o.timestamp != nil {
		f.Fixed.Timestamp, f.Fixed.HasTime = value.Millis(*o.timestamp), true
		if f.Fixed.Timestamp < 0 {
			return f, usagef("--timestamp: a record's time is 1970 or later")
		}
	}
	if !o.rate.IsZero() {
		f.Rate = o.rate.PerSecond()
	}
	return f, o.parser(e, &f)
}

// parser chooses what takes records apart.
func (o *produceOptions) parser(e *Env, f *feed.Options) error {
	opts := format.Options{EmptyNull: o.emptyNull, Location: e.Location, Now: e.Now}
	switch {
	case o.json:
		f.Parser = format.NewJSONRows(opts)
		return nil
	case o.format != nil:
		in, err := format.CompileInput(*o.format, opts)
		if err != nil {
			return err
		}
		if f.Delimiter = in.Delimiter(); f.Delimiter != nil {
			f.Parser = in
			return nil
		}
		f.Stream = in
		if o.tee {
			return usagef("--tee: records of this format end where their fields do; only lines can be copied")
		}
		return nil
	}
	fields, err := format.NewFields(format.FieldOptions{
		Options: opts, KeyDelimiter: o.keyDelimiter, KeyJSON: o.keyJSON, KeyRegexp: o.keyRegexp, TimestampJSON: o.timestampJSON,
	})
	switch {
	case err != nil:
		return err
	case fields.Whole():
	case o.keyDelimiter != nil && o.timestampJSON == "" && !o.emptyNull:
		f.KeyDelimiter = o.keyDelimiter
	default:
		f.Parser = fields
	}
	return nil
}

// parsed reports whether records are decoded: they may be shorter than their text.
func parsed(f *feed.Options) bool { return f.Stream != nil || f.Parser != nil }

// parseTime reads a TIME as the user's clock and zone have it.
func (e *Env) parseTime(s string) (time.Time, error) {
	return value.ParseTime(s, e.Now(), e.Location)
}

// inputs are the files that were named, standard input without any. A file that is
// missing ends the command before it has appended a thing.
func (o *produceOptions) inputs(e *Env) ([]feed.Input, error) {
	if len(o.files) == 0 {
		return []feed.Input{{File: e.Stdin}}, nil
	}
	var all []feed.Input
	for _, name := range o.files {
		if name == "-" {
			all = append(all, feed.Input{File: e.Stdin})
			continue
		}
		st, err := os.Stat(name)
		if err == nil && st.IsDir() {
			err = usagef("%s: a directory; its files are meant", quote(name))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, feed.Input{Path: name})
	}
	return all, nil
}

// inputSize is the number of bytes in all inputs, -1 when that is not known.
func inputSize(inputs []feed.Input) int64 {
	var sum int64
	for _, in := range inputs {
		var st os.FileInfo
		var err error
		if in.File != nil {
			st, err = in.File.Stat()
		} else {
			st, err = os.Stat(in.Path)
		}
		if err != nil || !st.Mode().IsRegular() {
			return -1
		}
		sum += st.Size()
	}
	return sum
}
