package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klog-project/klog/cmd/lines"
)

// window is the bytes of a record as far as they are here, from its beginning on. Of a
// stream more can be had, which may move the bytes elsewhere.
type window struct {
	b   []byte
	at  int
	buf *lines.Buffer // nil when b is the whole record
}

// more gets more of a stream; false at its end.
func (w *window) more() bool {
	if w.buf == nil || !w.buf.More() {
		return false
	}
	w.b = w.buf.Bytes()
	return true
}

// cut is the error for a record that ends too early.
func (w *window) cut() error {
	if w.buf != nil && w.buf.Err() != nil {
		return w.buf.Err()
	}
	return fmt.Errorf("the input ends inside a field: %w", io.ErrUnexpectedEOF)
}

// span is a piece of the window.
type span struct{ from, to int }

// take passes over n bytes.
func (w *window) take(n int) (span, error) {
	for len(w.b)-w.at < n {
		if !w.more() {
			return span{}, w.cut()
		}
	}
	w.at += n
	return span{w.at - n, w.at}, nil
}

// missing is the error of a field without the text that should follow it.
type missing struct{ field, text string }

func (m *missing) Error() string { return fmt.Sprintf("no %q behind %s", m.text, m.field) }

// find passes over everything before text, not over text itself. At the end of the
// input the final text may be missing.
func (w *window) find(text []byte, final bool, field string) (span, error) {
	begin, from := w.at, w.at
	for {
		if i := lines.Index(w.b[from:], text); i >= 0 {
			w.at = from + i
			return span{begin, w.at}, nil
		}
		from = max(begin, len(w.b)-len(text)+1)
		if w.more() {
			continue
		}
		if w.buf != nil && w.buf.Err() != nil {
			return span{}, w.buf.Err()
		}
		if !final {
			return span{}, &missing{field, string(text)}
		}
		w.at = len(w.b)
		return span{begin, w.at}, nil
	}
}

// rest passes over everything.
func (w *window) rest() span {
	begin := w.at
	w.at = len(w.b)
	return span{begin, w.at}
}

// text passes over a piece of text. At the end of the input it may be missing whole
// where final says so.
func (w *window) text(t []byte, final bool) error {
	for len(w.b)-w.at < len(t) {
		if w.more() {
			continue
		}
		if final && w.at == len(w.b) && w.buf != nil && w.buf.Err() == nil {
			return nil
		}
		break
	}
	if got := w.b[w.at:]; !bytes.HasPrefix(got, t) {
		if w.buf != nil && w.buf.Err() != nil {
			return w.buf.Err()
		}
		return fmt.Errorf("%q stands where %q should", clip(got[:min(len(got), len(t))]), t)
	}
	w.at += len(t)
	return nil
}

// json passes over white space and one JSON value. It finds where the value ends by its
// brackets and quotes alone, looking at every byte once however the bytes arrive.
func (w *window) json() (span, error) {
	for {
		s := scan{b: w.b, at: w.at}
		if s.space(); s.at < len(w.b) {
			w.at = s.at
			break
		}
		if !w.more() {
			return span{}, w.cut()
		}
	}
	var e jsonEnd
	if c := w.b[w.at]; !e.begin(c) {
		return span{}, fmt.Errorf("%q begins no JSON value", c)
	}
	begin, from := w.at, w.at
	for {
		n, done := e.scan(w.b[from:])
		if done {
			w.at = from + n
			return span{begin, w.at}, nil
		}
		from = len(w.b)
		if w.more() {
			continue
		}
		if w.buf != nil && w.buf.Err() != nil {
			return span{}, w.buf.Err()
		}
		if e.number {
			w.at = len(w.b)
			return span{begin, w.at}, nil
		}
		return span{}, errors.New("JSON ends too early")
	}
}

// jsonEnd finds the end of a JSON value in pieces of text.
type jsonEnd struct {
	depth             int
	inString, escaped bool
	number            bool // which ends where anything else begins
	word              int  // bytes left of true, false or null
}

// begin takes the first byte of the value, which scan sees again, and reports whether
// a value may begin with it.
func (e *jsonEnd) begin(c byte) bool {
	switch {
	case c == 't' || c == 'n':
		e.word = 4
	case c == 'f':
		e.word = 5
	case numberByte(c):
		e.number = true
	default:
		return c == '"' || c == '{' || c == '['
	}
	return true
}

// scan returns how many bytes of b belong to the value, and whether that is all of it.
func (e *jsonEnd) scan(b []byte) (int, bool) {
	switch {
	case e.word > 0:
		n := min(e.word, len(b))
		e.word -= n
		return n, e.word == 0
	case e.number:
		for i, c := range b {
			if !numberByte(c) {
				return i, true
			}
		}
		return len(b), false
	}
	for i := 0; i < len(b); i++ {
		switch {
		case e.inString:
			i += e.skipString(b[i:])
			if i < len(b) && e.depth == 0 {
				return i + 1, true
			}
		case b[i] == '"':
			e.inString = true
		case b[i] == '{' || b[i] == '[':
			e.depth++
		case b[i] == '}' || b[i] == ']':
			if e.depth--; e.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(b), false
}

// skipString goes through b, which begins inside a string, and returns the place of the
// quote that ends it, or the length of b.
func (e *jsonEnd) skipString(b []byte) int {
	for i, c := range b {
		switch {
		case e.escaped:
			e.escaped = false
		case c == '\\':
			e.escaped = true
		case c == '"':
			e.inString = false
			return i
		}
	}
	return len(b)
}

// numberByte reports whether c may stand in a number.
func numberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c|0x20 == 'e'
}
