package format

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep values may be nested.
const maxDepth = 10_000

// scan walks through JSON text once, from left to right. It takes nothing that JSON
// forbids, except that bytes in strings need not be UTF-8: they are kept as they are.
type scan struct {
	b  []byte
	at int
}

// fail is an error about what stands at the scanner's place.
func (s *scan) fail(want string) error {
	if s.at >= len(s.b) {
		return fmt.Errorf("JSON ends too early, want %s", want)
	}
	return fmt.Errorf("JSON byte %d: %q, want %s", s.at+1, s.b[s.at], want)
}

// space passes over white space.
func (s *scan) space() {
	for s.at < len(s.b) {
		c := s.b[s.at]
		if c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return
		}
		s.at++
	}
}

// next passes over white space and returns the byte behind it, 0 at the end.
func (s *scan) next() byte {
	s.space()
	if s.at == len(s.b) {
		return 0
	}
	return s.b[s.at]
}

// expect passes over white space and the byte c.
func (s *scan) expect(c byte, want string) error {
	if s.at < len(s.b) && s.b[s.at] == c { // the rule
		s.at++
		return nil
	}
	if s.next() != c || s.at == len(s.b) {
		return s.fail(want)
	}
	s.at++
	return nil
}

// members goes through an object whose brace comes next. member is called behind each
// colon and passes over the value.
func (s *scan) members(member func(key jsonString) error) error {
	more, err := s.begin()
	for more {
		var key jsonString
		if key, err = s.key(); err != nil {
			return err
		}
		if err = member(key); err != nil {
			return err
		}
		more, err = s.more()
	}
	return err
}

// begin passes over the brace that begins an object, and over the one that ends it if
// it is empty: there are no members then.
func (s *scan) begin() (members bool, err error) {
	if err := s.expect('{', "an object"); err != nil {
		return false, err
	}
	if s.next() == '}' {
		s.at++
		return false, nil
	}
	return true, nil
}

// key passes over the name of a member and the colon.
func (s *scan) key() (jsonString, error) {
	s.space()
	key, err := s.str()
	if err != nil {
		return key, err
	}
	err = s.expect(':', "a colon")
	s.space()
	return key, err
}

// more passes over what stands behind a member: a comma, if another one follows, or
// the brace that ends the object.
func (s *scan) more() (another bool, err error) {
	if s.next() == '}' {
		s.at++
		return false, nil
	}
	err = s.expect(',', "a comma or }")
	return err == nil, err
}

// elements goes through an array whose bracket comes next. element passes over a value.
func (s *scan) elements(element func() error) error {
	if err := s.expect('[', "an array"); err != nil {
		return err
	}
	if s.next() == ']' {
		s.at++
		return nil
	}
	for {
		s.space()
		if err := element(); err != nil {
			return err
		}
		if s.next() == ']' {
			s.at++
			return nil
		}
		if err := s.expect(',', "a comma or ]"); err != nil {
			return err
		}
	}
}

// jsonString is a string as it stands in the text, without the quotes.
type jsonString struct {
	raw     []byte
	escaped bool // it holds a backslash
}

// str reads a string.
func (s *scan) str() (jsonString, error) {
	if s.at == len(s.b) || s.b[s.at] != '"' {
		return jsonString{}, s.fail("a string")
	}
	s.at++
	begin, escaped := s.at, false
	for {
		s.at += stringPrefix(s.b[s.at:])
		if s.at == len(s.b) {
			return jsonString{}, s.fail("the end of a string")
		}
		switch s.b[s.at] {
		case '"':
			s.at++
			return jsonString{s.b[begin : s.at-1], escaped}, nil
		case '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return jsonString{}, err
			}
		default:
			return jsonString{}, s.fail("no control character in a string")
		}
	}
}

// escape passes over an escape sequence.
func (s *scan) escape() error {
	s.at++
	if s.at == len(s.b) {
		return s.fail("an escape")
	}
	switch s.b[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return nil
	case 'u':
		for range 4 {
			s.at++
			if s.at == len(s.b) || unhex(s.b[s.at]) < 0 {
				return s.fail("four hexadecimal digits")
			}
		}
		s.at++
		return nil
	}
	return s.fail(`an escape`)
}

// stringPrefix counts the bytes at the beginning of b up to a quote, a backslash or a
// control character.
func stringPrefix(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := special(w) &^ w & highs; odd != 0 {
			return i + firstByte(odd)
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// decode returns the bytes that the string stands for, in the row's memory if they do
// not stand in the text.
func (j jsonString) decode(row *Row) ([]byte, error) {
	if !j.escaped {
		return j.raw, nil
	}
	out := row.room(len(j.raw))
	for b := j.raw; len(b) > 0; {
		n := stringPrefix(b)
		out = append(out, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			break
		}
		if b[1] != 'u' {
			out = append(out, unescape(b[1]))
			b = b[2:]
			continue
		}
		r := hexRune(b[2:6])
		b = b[6:]
		if utf16.IsSurrogate(r) {
			if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
				return nil, fmt.Errorf(`JSON string: \u%04x is half a character`, r)
			}
			pair := utf16.DecodeRune(r, hexRune(b[2:6]))
			if pair == utf8.RuneError {
				return nil, fmt.Errorf(`JSON string: \u%04x is half a character`, r)
			}
			r = pair
			b = b[6:]
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

// unescape is the byte that a one-letter escape stands for.
func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// hexRune reads four digits that were checked before.
func hexRune(b []byte) rune {
	return rune(unhex(b[0])<<12 | unhex(b[1])<<8 | unhex(b[2])<<4 | unhex(b[3]))
}

// skip passes over any value and returns its text.
func (s *scan) skip() ([]byte, error) {
	begin := s.at
	err := s.skipValue(0)
	return s.b[begin:s.at], err
}

func (s *scan) skipValue(depth int) (err error) {
	if depth > maxDepth {
		return s.fail("less nesting")
	}
	if s.at == len(s.b) {
		return s.fail("a value")
	}
	switch c := s.b[s.at]; c {
	case '{':
		return s.members(func(jsonString) error { return s.skipValue(depth + 1) })
	case '[':
		return s.elements(func() error { return s.skipValue(depth + 1) })
	case '"':
		_, err = s.str()
		return err
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scan) word(w string) error {
	for i := range len(w) {
		if s.at == len(s.b) || s.b[s.at] != w[i] {
			return s.fail(w)
		}
		s.at++
	}
	return nil
}

// number passes over a number.
func (s *scan) number() error {
	if s.at < len(s.b) && s.b[s.at] == '-' {
		s.at++
	}
	switch {
	case s.at < len(s.b) && s.b[s.at] == '0':
		s.at++
	case !s.digits():
		return s.fail("a value")
	}
	if s.at < len(s.b) && s.b[s.at] == '.' {
		s.at++
		if !s.digits() {
			return s.fail("digits")
		}
	}
	if s.at < len(s.b) && s.b[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.b) && (s.b[s.at] == '+' || s.b[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			return s.fail("digits")
		}
	}
	return nil
}

// digits passes over digits, of which there must be one.
func (s *scan) digits() bool {
	begin := s.at
	for s.at < len(s.b) && '0' <= s.b[s.at] && s.b[s.at] <= '9' {
		s.at++
	}
	return s.at > begin
}

// bytes reads a value that stands for bytes: null, a string, or an object whose only
// member is base64. Any other value stands for its own text.
func (s *scan) bytes(row *Row) ([]byte, error) {
	switch {
	case s.at < len(s.b) && s.b[s.at] == '"':
		str, err := s.str()
		if err != nil {
			return nil, err
		}
		return str.decode(row)
	case s.at < len(s.b) && s.b[s.at] == 'n':
		return nil, s.word("null")
	case s.at == len(s.b) || s.b[s.at] != '{':
		return s.skip()
	}
	text, err := s.skip()
	if err != nil {
		return nil, err
	}
	if encoded, ok := soleBase64(text); ok {
		return decodeBase64(encoded, row)
	}
	return text, nil
}

// soleBase64 returns the string of an object that is {"base64":"…"} and nothing else.
// The text was checked before.
func soleBase64(text []byte) (encoded jsonString, ok bool) {
	s := scan{b: text}
	n := 0
	_ = s.members(func(key jsonString) error { // checked before
		n++
		if ok = n == 1 && string(key.raw) == "base64" && s.b[s.at] == '"'; ok {
			encoded, _ = s.str()
			return nil
		}
		_, err := s.skip()
		return err
	})
	return encoded, ok
}

func decodeBase64(encoded jsonString, row *Row) ([]byte, error) {
	b, err := encoded.decode(row)
	if err != nil {
		return nil, err
	}
	out, err := base64.StdEncoding.AppendDecode(row.room(base64.StdEncoding.DecodedLen(len(b))), b)
	if err != nil {
		return nil, fmt.Errorf("base64: %w", err)
	}
	return out, nil
}
