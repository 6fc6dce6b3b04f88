package format

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/klog-project/klog/segments"
)

// maxLength is the longest key or value that a record can hold.
const maxLength = math.MaxInt32

// unsized stands for a length that was not read.
const unsized = math.MinInt64

// reading is the state of one record while its fields are passed over. Spans become
// bytes only at its end, since more of a stream may move the window.
type reading struct {
	in       *Input
	w        *window
	row      *Row
	key, val field
	count    int64 // of headers
	keySize  int64
	valSize  int64
}

// field is a key or value as it was found.
type field struct {
	span
	code  code
	size  int64 // that was read for it, unsized if none was
	found bool
}

type headerFields struct{ key, val field }

// read reads one record from the window into the row.
func (in *Input) read(w *window, row *Row) error {
	r := reading{in: in, w: w, row: row, count: unsized, keySize: unsized, valSize: unsized}
	for i := range in.steps {
		s := &in.steps[i]
		if err := r.step(s, i+2 >= len(in.steps)); err != nil {
			return err
		}
	}
	return r.finish()
}

// step passes over one piece. nearEnd says that at most one more follows.
func (r *reading) step(s *step, nearEnd bool) error {
	final := nearEnd && r.in.final != nil && r.in.delim == nil
	switch s.verb {
	case 0:
		return r.w.text(s.text, final)
	case 'k':
		return r.field(s, &r.key, r.keySize, final)
	case 'v':
		return r.field(s, &r.val, r.valSize, final)
	case 'h':
		return r.headerStep(s, final)
	case 't':
		f := field{}
		if err := r.field(s, &f, unsized, final); err != nil {
			return err
		}
		var err error
		r.row.Topic, err = r.bytes(&f, "%t")
		return err
	case 'd':
		if !s.isNumber() {
			return r.time(s, final)
		}
	}
	n, err := r.number(s, final)
	if err != nil {
		return err
	}
	return r.set(s, n)
}

// set keeps a number.
func (r *reading) set(s *step, n int64) error {
	switch s.verb {
	case 'K':
		r.keySize = n
	case 'V':
		r.valSize = n
	case 'H':
		r.count = n
	case 'p':
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%s: there is no partition %d", s.written, n)
		}
		r.row.Partition = int32(n)
	case 'o':
		r.row.Offset = n
	case 'T', 'd':
		r.row.Timestamp, r.row.HasTimestamp = n, true
	}
	return nil
}

// field passes over a text field. size is the length that was read for it.
func (r *reading) field(s *step, f *field, size int64, final bool) (err error) {
	*f = field{code: s.code, size: size, found: true}
	switch {
	case s.code == jsonCode:
		f.span, err = r.w.json()
	case s.sized:
		f.span, err = r.sizedField(s, size)
	case s.until == nil:
		f.span = r.w.rest()
	default:
		f.span, err = r.until(s, final)
	}
	return err
}

// until passes over a field that ends with text.
func (r *reading) until(s *step, final bool) (span, error) {
	at, err := r.w.find(s.until, final, s.written)
	if err == nil && r.in.strict && r.in.delim == nil && bytes.Contains(r.w.b[at.from:at.to], r.in.final) {
		return at, &missing{s.written, string(s.until)}
	}
	return at, err
}

func (r *reading) sizedField(s *step, size int64) (span, error) {
	switch {
	case size == -1:
		return span{r.w.at, r.w.at}, nil
	case size < 0 || size > maxLength:
		return span{}, fmt.Errorf("%s: a length of %d", s.written, size)
	}
	n := int(size)
	switch s.code {
	case hexCode:
		n = hex.EncodedLen(n)
	case base64Code:
		n = base64.StdEncoding.EncodedLen(n)
	}
	return r.w.take(n)
}

// number passes over a number and returns it.
func (r *reading) number(s *step, final bool) (int64, error) {
	var at span
	var err error
	switch n := s.num.fixed(); {
	case n > 0:
		at, err = r.w.take(n)
	case s.until == nil:
		at = r.w.rest()
	default:
		at, err = r.until(s, final)
	}
	if err != nil {
		return 0, err
	}
	text := r.w.b[at.from:at.to]
	n, ok := s.num.read(text)
	if !ok {
		return 0, fmt.Errorf("%s: %q is no such number", s.written, clip(text))
	}
	return n, nil
}

// time passes over a timestamp in words.
func (r *reading) time(s *step, final bool) error {
	if s.clock != nil {
		return r.clock(s)
	}
	at := span{}
	var err error
	if s.until == nil {
		at = r.w.rest()
	} else if at, err = r.until(s, final); err != nil {
		return err
	}
	text := r.w.b[at.from:at.to]
	if string(text) == "-" {
		r.row.HasTimestamp = true
		return nil
	}
	return r.in.opts.time(text, r.row)
}

func (r *reading) clock(s *step) error {
	most := s.clock.maxLen()
	for {
		b := r.w.b[r.w.at:]
		if len(b) > len(s.until) && b[0] == '-' && bytes.HasPrefix(b[1:], s.until) {
			r.w.at++
			r.row.HasTimestamp = true
			return nil
		}
		t, n, err := s.clock.parse(b[:min(len(b), most)], r.in.opts.Now(), r.in.opts.Location)
		// What ends with the bytes that are here may go on in those to come.
		if (err != nil || n == len(b)) && len(b) < most && r.w.more() {
			continue
		}
		if err != nil {
			return err
		}
		r.w.at += n
		r.row.Timestamp, r.row.HasTimestamp = t.UnixMilli(), true
		return nil
	}
}

// headerStep passes over the headers.
func (r *reading) headerStep(s *step, final bool) error {
	switch {
	case s.nested != nil:
		return r.nestedHeaders(s)
	case s.code == jsonCode:
		at, err := r.w.json()
		if err != nil {
			return err
		}
		return r.jsonHeaders(at)
	}
	at, err := span{}, error(nil)
	if s.until == nil {
		at = r.w.rest()
	} else if at, err = r.until(s, final); err != nil {
		return err
	}
	return r.headerList(at)
}

// jsonHeaders reads headers at once: they lie in memory of their own, since what
// follows may move the window.
func (r *reading) jsonHeaders(at span) error {
	text := append(r.row.room(at.to-at.from), r.w.b[at.from:at.to]...)
	sc := scan{b: text}
	if err := sc.headers(r.row); err != nil {
		return err
	}
	if sc.at < len(text) {
		return sc.fail("nothing behind the headers")
	}
	return nil
}

// headerList reads a=b,c=d.
func (r *reading) headerList(at span) error {
	for at.from < at.to {
		end := at.to
		if i := bytes.IndexByte(r.w.b[at.from:at.to], ','); i >= 0 {
			end = at.from + i
		}
		eq := bytes.IndexByte(r.w.b[at.from:end], '=')
		if eq < 0 {
			return fmt.Errorf("%%h: %q is not name=value", clip(r.w.b[at.from:end]))
		}
		r.row.fields = append(r.row.fields, headerFields{
			key: field{span: span{at.from, at.from + eq}, size: unsized, found: true},
			val: field{span: span{at.from + eq + 1, end}, size: unsized, found: true},
		})
		at.from = end + 1
	}
	return nil
}

// nestedHeaders reads %h{…} as often as %H said.
func (r *reading) nestedHeaders(s *step) error {
	if r.count < 0 || r.count > maxLength {
		return fmt.Errorf("%%H: %d headers", r.count)
	}
	for range r.count {
		before := r.w.at
		var h headerFields
		keySize, valSize := int64(unsized), int64(unsized)
		for i := range s.nested {
			in := &s.nested[i]
			var err error
			switch in.verb {
			case 0:
				err = r.w.text(in.text, false)
			case 'k':
				err = r.field(in, &h.key, keySize, false)
			case 'v':
				err = r.field(in, &h.val, valSize, false)
			case 'K':
				keySize, err = r.number(in, false)
			case 'V':
				valSize, err = r.number(in, false)
			}
			if err != nil {
				return err
			}
		}
		h.key.size, h.val.size = keySize, valSize
		if r.w.at == before {
			return fmt.Errorf("%s reads nothing", s.written)
		}
		r.row.fields = append(r.row.fields, h)
	}
	return nil
}

// finish makes bytes of the fields.
func (r *reading) finish() (err error) {
	row := r.row
	r.key.size, r.val.size = r.keySize, r.valSize // also those that came behind their field
	if row.HasKey = r.key.found; row.HasKey {
		if row.Key, err = r.bytes(&r.key, "%k"); err != nil {
			return err
		}
	}
	if row.Value, err = r.bytes(&r.val, "%v"); err != nil {
		return err
	}
	for i := range row.fields {
		h := &row.fields[i]
		var out segments.Header
		if out.Key, err = r.bytes(&h.key, "%h{%k}"); err != nil {
			return err
		}
		if out.Value, err = r.bytes(&h.val, "%h{%v}"); err != nil {
			return err
		}
		if out.Key == nil {
			return fmt.Errorf("%%h: a header without a name")
		}
		row.Headers = append(row.Headers, out)
	}
	if r.in.opts.EmptyNull {
		row.emptyToNull()
	}
	return nil
}

// bytes decodes a field. One that the format does not have is null.
func (r *reading) bytes(f *field, name string) ([]byte, error) {
	if !f.found || f.size == -1 && f.from == f.to {
		return nil, nil
	}
	text := r.w.b[f.from:f.to]
	out, err := f.code.decode(text, r.row)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case out == nil && f.code != jsonCode:
		out = []byte{} // of a record without a byte
	}
	if f.size != unsized && length(out) != f.size {
		return nil, fmt.Errorf("%s: a length of %d was given, it has %d", name, f.size, length(out))
	}
	return out, nil
}

// decode undoes append, in the row's memory where it has to.
func (c code) decode(text []byte, row *Row) ([]byte, error) {
	switch c {
	case hexCode:
		return hex.AppendDecode(row.room(hex.DecodedLen(len(text))), text)
	case base64Code:
		return base64.StdEncoding.AppendDecode(row.room(base64.StdEncoding.DecodedLen(len(text))), text)
	case jsonCode:
		s := scan{b: text}
		out, err := s.bytes(row)
		if err == nil && s.at < len(text) {
			err = s.fail("nothing behind the value")
		}
		return out, err
	}
	return text, nil
}
