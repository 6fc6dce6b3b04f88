package format

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

// JSONRows reads rows of JSON, one object a line: those that JSON writes, those of
// kcat (payload, headers as a flat list of names and values) and of kaf (timestamp in
// words, headers as an object). No field has to be there and unknown ones are passed
// over; blank lines too.
//
// A key, value or header value is a string, null, or {"base64":"…"}; any other JSON
// value stands for its own text, unchanged.
type JSONRows struct{ opts Options }

// NewJSONRows reads rows with these options.
func NewJSONRows(o Options) *JSONRows { return &JSONRows{o} }

// ParseRow reads one line.
func (j *JSONRows) ParseRow(line []byte, row *Row) error {
	row.reset()
	s := scan{b: line}
	if s.next(); s.at == len(line) {
		return ErrBlank
	}
	var f rowFields
	more, err := s.begin()
	for more {
		if err := j.member(&s, &f, row); err != nil {
			return err
		}
		more, err = s.more()
	}
	if err != nil {
		return err
	}
	if s.next(); s.at < len(line) {
		return s.fail("nothing behind the row")
	}
	if f.noTimestamp && !row.HasTimestamp {
		row.HasTimestamp = true // a row that says so has none, and not the present time
	}
	if j.opts.EmptyNull {
		row.emptyToNull()
	}
	return nil
}

// member reads one member of a row.
func (j *JSONRows) member(s *scan, f *rowFields, row *Row) error {
	key, err := s.key()
	if err != nil {
		return err
	}
	name, err := key.decode(row)
	if err != nil {
		return err
	}
	if err := j.field(s, f, string(name), row); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

// errTwoValues is the refusal of a row of which one value would be lost.
var errTwoValues = errors.New(`the row has a "value" and a "payload"`)

// rowFields is what several fields decide together.
type rowFields struct {
	noTimestamp bool // tstype is unknown
	value       byte // the first letter of the value's name, 0 before there is one
}

// field reads the value of one member of a row.
func (j *JSONRows) field(s *scan, f *rowFields, name string, row *Row) (err error) {
	switch name {
	case "value", "payload":
		if f.value != 0 && f.value != name[0] {
			return errTwoValues
		}
		f.value = name[0]
		row.Value, err = s.bytes(row)
	case "key":
		row.HasKey = true
		row.Key, err = s.bytes(row)
	case "headers":
		row.Headers = row.Headers[:0]
		err = s.headers(row)
	case "ts", "timestamp":
		err = j.timestamp(s, row)
	case "tstype":
		var text []byte
		text, err = s.skip()
		f.noTimestamp = string(text) == `"unknown"`
	case "topic":
		row.Topic, err = s.bytes(row)
	case "partition":
		row.Partition = -1
		if n, ok := s.integer(&err); ok && n >= 0 && n <= math.MaxInt32 {
			row.Partition = int32(n)
		}
	case "offset":
		row.Offset = -1
		if n, ok := s.integer(&err); ok {
			row.Offset = n
		}
	default:
		_, err = s.skip()
	}
	return err
}

// integer passes over a value and returns it if it is a whole number of 64 bits.
func (s *scan) integer(err *error) (int64, bool) {
	if n, ok := s.digitsOnly(); ok {
		return n, true
	}
	text, e := s.skip()
	if e != nil {
		*err = e
		return 0, false
	}
	return integer(text)
}

// digitsOnly passes over a number that is nothing but up to 18 digits, which is the
// rule. It passes over nothing else.
func (s *scan) digitsOnly() (n int64, ok bool) {
	at := s.at
	for at < len(s.b) && at-s.at <= 18 {
		c := s.b[at] - '0'
		if c > 9 {
			break
		}
		n = 10*n + int64(c)
		at++
	}
	count := at - s.at
	if count == 0 || count > 18 || count > 1 && s.b[s.at] == '0' || at == len(s.b) || s.b[at] != ',' && s.b[at] != '}' {
		return 0, false
	}
	s.at = at
	return n, true
}

// integer reads a JSON number that is a whole one. Numbers with a point or an exponent
// are whole where nothing is lost by that.
func integer(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		return n, true
	}
	if errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(text), 64)
	const exact = 1 << 53 // every whole number up to here has its own float
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

// timestamp reads milliseconds, a time in words, or null.
func (j *JSONRows) timestamp(s *scan, row *Row) error {
	row.Timestamp, row.HasTimestamp = -1, false
	switch {
	case s.at < len(s.b) && s.b[s.at] == 'n':
		return s.word("null")
	case s.at < len(s.b) && s.b[s.at] == '"':
		str, err := s.str()
		if err != nil {
			return err
		}
		text, err := str.decode(row)
		if err != nil {
			return err
		}
		return j.opts.time(text, row)
	}
	if n, ok := s.digitsOnly(); ok {
		row.Timestamp, row.HasTimestamp = n, true
		return nil
	}
	text, err := s.skip()
	if err != nil {
		return err
	}
	n, ok := integer(text)
	if !ok {
		return &value.Error{What: "timestamp", Value: string(text), Want: "want whole milliseconds, or a string with a time"}
	}
	row.Timestamp, row.HasTimestamp = n, true
	return nil
}

// headers reads headers in any of their forms.
func (s *scan) headers(row *Row) error {
	if s.at == len(s.b) {
		return s.fail("headers")
	}
	switch s.b[s.at] {
	case 'n':
		return s.word("null")
	case '{':
		return s.members(func(key jsonString) error {
			name, err := key.decode(row)
			if err != nil {
				return err
			}
			return s.headerValue(row, name)
		})
	case '[':
		return s.headerList(row)
	}
	return s.fail("an array or object of headers")
}

func (s *scan) headerValue(row *Row, name []byte) error {
	v, err := s.bytes(row)
	row.Headers = append(row.Headers, segments.Header{Key: name, Value: v})
	return err
}

// headerList reads an array of objects, or of names and values in turn.
func (s *scan) headerList(row *Row) error {
	var name []byte // that waits for its value
	err := s.elements(func() error {
		switch {
		case name != nil:
			n := name
			name = nil
			return s.headerValue(row, n)
		case s.at < len(s.b) && s.b[s.at] == '{':
			return s.headerObject(row)
		}
		str, err := s.str()
		if err != nil {
			return err
		}
		name, err = str.decode(row)
		return err
	})
	if err == nil && name != nil {
		return fmt.Errorf("%q has no value: want names and values in turn", name)
	}
	return err
}

// headerObject reads {"key":…,"value":…}.
func (s *scan) headerObject(row *Row) error {
	var h segments.Header
	err := s.members(func(key jsonString) (err error) {
		switch string(key.raw) {
		case "key":
			h.Key, err = s.bytes(row)
		case "value":
			h.Value, err = s.bytes(row)
		default:
			_, err = s.skip()
		}
		return err
	})
	if err == nil && h.Key == nil {
		return errors.New(`a header without a "key"`)
	}
	row.Headers = append(row.Headers, h)
	return err
}
