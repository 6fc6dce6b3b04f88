package format

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/klog-project/klog/cmd/lines"
	"github.com/klog-project/klog/cmd/value"
	"github.com/tidwall/gjson"
)

// FieldOptions say how a line becomes a record. At most one of the three ways to find
// a key is given.
type FieldOptions struct {
	Options
	// KeyDelimiter divides the line: the key stands before its first occurrence, the
	// value behind it.
	KeyDelimiter []byte
	// KeyJSON is the gjson path of the key in a value that is JSON.
	KeyJSON string
	// KeyRegexp finds the key in the value: its first group, or the whole match.
	KeyRegexp *regexp.Regexp
	// TimestampJSON is the gjson path of the timestamp in a value that is JSON.
	TimestampJSON string
}

// Fields reads records that are a value, with a key before it or inside it. A line
// that should have a key or timestamp and has none is an error.
type Fields struct {
	opts       FieldOptions
	keyed      bool
	checksJSON bool
}

// NewFields reads lines with these options. Options that contradict each other are a
// *value.Error.
func NewFields(o FieldOptions) (*Fields, error) {
	ways := 0
	for _, given := range []bool{len(o.KeyDelimiter) > 0, o.KeyJSON != "", o.KeyRegexp != nil} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return nil, &value.Error{What: "key", Value: "", Want: "want one of a delimiter, a JSON path and a regular expression"}
	}
	return &Fields{opts: o, keyed: ways > 0, checksJSON: o.KeyJSON != "" || o.TimestampJSON != ""}, nil
}

// Whole reports whether a line is nothing but its value as it stands, so that a caller
// may take a shorter way.
func (f *Fields) Whole() bool { return !f.keyed && !f.checksJSON && !f.opts.EmptyNull }

// ParseRow reads one line.
func (f *Fields) ParseRow(line []byte, row *Row) error {
	row.reset()
	if line == nil {
		line = []byte{}
	}
	row.Value, row.HasKey = line, f.keyed
	if d := f.opts.KeyDelimiter; len(d) > 0 {
		i := lines.Index(line, d)
		if i < 0 {
			return fmt.Errorf("no key delimiter %q", d)
		}
		row.Key, row.Value = line[:i:i], line[i+len(d):]
	}
	if f.opts.KeyRegexp != nil {
		if err := f.matchKey(row); err != nil {
			return err
		}
	}
	if f.checksJSON {
		if err := f.lookUp(row); err != nil {
			return err
		}
	}
	if f.opts.EmptyNull {
		row.emptyToNull()
	}
	return nil
}

// matchKey finds the key by the regular expression. A group that took no part in the
// match is an empty key.
func (f *Fields) matchKey(row *Row) error {
	at := f.opts.KeyRegexp.FindSubmatchIndex(row.Value)
	if at == nil {
		return fmt.Errorf("no match of the key pattern %s", f.opts.KeyRegexp)
	}
	from, to := at[0], at[1]
	if len(at) > 2 {
		from, to = max(at[2], 0), max(at[3], 0)
	}
	row.Key = row.Value[from:to:to]
	return nil
}

// lookUp finds key and timestamp in a value that is JSON.
func (f *Fields) lookUp(row *Row) error {
	s := scan{b: row.Value}
	s.space()
	if _, err := s.skip(); err != nil {
		return err
	}
	if s.next(); s.at < len(s.b) {
		return s.fail("nothing behind the value")
	}
	if f.opts.KeyJSON != "" {
		text, err := lookUp(row.Value, f.opts.KeyJSON)
		if err != nil {
			return err
		}
		in := scan{b: text}
		if row.Key, err = in.bytes(row); err != nil {
			return fmt.Errorf("key at %s: %w", f.opts.KeyJSON, err)
		}
	}
	if f.opts.TimestampJSON != "" {
		text, err := lookUp(row.Value, f.opts.TimestampJSON)
		if err != nil {
			return err
		}
		if err := f.timestamp(text, row); err != nil {
			return fmt.Errorf("timestamp at %s: %w", f.opts.TimestampJSON, err)
		}
	}
	return nil
}

// lookUp returns the JSON text at a path.
func lookUp(b []byte, path string) ([]byte, error) {
	r := gjson.GetBytes(b, path)
	if !r.Exists() {
		return nil, fmt.Errorf("nothing at %s", path)
	}
	return []byte(r.Raw), nil
}

// timestamp reads a string with a time, or a number: milliseconds with 13 digits,
// seconds with fewer or with a fraction.
func (f *Fields) timestamp(text []byte, row *Row) error {
	s := scan{b: text}
	if len(text) > 0 && text[0] == '"' {
		str, err := s.str()
		if err != nil {
			return err
		}
		t, err := str.decode(row)
		if err != nil {
			return err
		}
		return f.opts.time(t, row)
	}
	if len(text) == 0 || text[0] != '-' && unhex(text[0]) < 0 {
		return errors.New("want a number or a string")
	}
	ms, err := value.ParseEpochMillis(string(text))
	row.Timestamp, row.HasTimestamp = ms, err == nil
	return err
}
