package segments

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MetaPropertiesName is the file of a log root that says whose it is: node.id,
// cluster.id, directory.id, version.
const MetaPropertiesName = "meta.properties"

// Properties is a file of Java properties: meta.properties, server.properties. What is
// not changed by Set or Delete is written back as it was read: comments, blank lines,
// order, keys that this program does not know. The zero value is an empty file.
//
// A Properties must not be changed and read at the same time.
type Properties struct {
	lines []propertyLine
}

// propertyLine is a logical line: several lines of the file when they end with a
// backslash.
type propertyLine struct {
	raw        string // without the final newline
	key, value string
	pair       bool // false: a comment or blank
}

// ParseProperties reads a file of Java properties. Any bytes are one.
func ParseProperties(data []byte) *Properties {
	p := &Properties{}
	for len(data) > 0 {
		var raw []byte
		raw, data = cutLogicalLine(data)
		p.lines = append(p.lines, parsePropertyLine(string(raw)))
	}
	return p
}

// cutLogicalLine returns the next logical line without its end, and what follows.
func cutLogicalLine(data []byte) (line, rest []byte) {
	comment := isComment(data)
	from := 0
	for {
		n := bytes.IndexByte(data[from:], '\n')
		if n < 0 {
			return data, nil
		}
		line = data[:from+n]
		from += n + 1
		if comment || !continues(line) {
			return line, data[from:]
		}
	}
}

// continues reports whether a line ends with an odd number of backslashes.
func continues(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	return (len(line)-len(bytes.TrimRight(line, "\\")))%2 == 1
}

func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\f")
	return len(line) > 0 && (line[0] == '#' || line[0] == '!')
}

func parsePropertyLine(raw string) propertyLine {
	l := propertyLine{raw: raw}
	s := strings.TrimLeft(raw, " \t\f\r")
	if s == "" || isComment([]byte(s)) {
		return l
	}
	l.pair = true
	end := 0
	for end < len(s) && !strings.ContainsRune("=: \t\f", rune(s[end])) {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(s))
	l.key = unescapeProperty(s[:end])
	v := strings.TrimLeft(s[end:], " \t\f")
	if v != "" && (v[0] == '=' || v[0] == ':') {
		v = strings.TrimLeft(v[1:], " \t\f")
	}
	l.value = unescapeProperty(strings.TrimSuffix(v, "\r"))
	return l
}

// unescapeProperty resolves backslashes: line ends, \t \n \r \f, \uXXXX, and any other
// character standing for itself.
func unescapeProperty(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break
		}
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			i += unescapeUnicode(&b, s[i+1:])
		case '\r', '\n':
			i = skipContinuation(s, i)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescapeUnicode writes the character of four hex digits, or of a surrogate pair, and
// returns how many bytes it took: none where they are no digits, which leaves the u.
func unescapeUnicode(b *strings.Builder, s string) int {
	r, ok := hexRune(s)
	if !ok {
		b.WriteByte('u')
		return 0
	}
	if len(s) >= 10 && s[4:6] == `\u` {
		if low, ok := hexRune(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return 10
			}
		}
	}
	b.WriteRune(r)
	return 4
}

func hexRune(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(n), err == nil
}

// skipContinuation returns the index of the last byte of a line end, and of the white
// space with which the next line begins, at s[i].
func skipContinuation(s string, i int) int {
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		i++
	}
	for i+1 < len(s) && strings.ContainsRune(" \t\f", rune(s[i+1])) {
		i++
	}
	return i
}

// Get returns a key's value. Of several the last counts.
func (p *Properties) Get(key string) (value string, ok bool) {
	for _, l := range slices.Backward(p.lines) {
		if l.pair && l.key == key {
			return l.value, true
		}
	}
	return "", false
}

// Keys returns the keys in the order of their first line.
func (p *Properties) Keys() []string {
	var keys []string
	for _, l := range p.lines {
		if l.pair && !slices.Contains(keys, l.key) {
			keys = append(keys, l.key)
		}
	}
	return keys
}

// Set gives a key a value: in place of its lines, or in a new one at the end.
func (p *Properties) Set(key, value string) {
	l := propertyLine{raw: escapeProperty(key, true) + "=" + escapeProperty(value, false), key: key, value: value, pair: true}
	i := slices.IndexFunc(p.lines, func(l propertyLine) bool { return l.pair && l.key == key })
	if i < 0 {
		p.lines = append(p.lines, l)
		return
	}
	p.lines[i] = l
	p.lines = slices.Concat(p.lines[:i+1], withoutKey(p.lines[i+1:], key))
}

// Delete removes a key's lines.
func (p *Properties) Delete(key string) { p.lines = withoutKey(p.lines, key) }

func withoutKey(lines []propertyLine, key string) []propertyLine {
	return slices.DeleteFunc(lines, func(l propertyLine) bool { return l.pair && l.key == key })
}

// Encode is the file; every line of it ends with a newline.
func (p *Properties) Encode() []byte {
	var b []byte
	for _, l := range p.lines {
		b = append(append(b, l.raw...), '\n')
	}
	return b
}

// escapeProperty makes s safe as a key or value: what would end it or be trimmed, and
// what is not ASCII, as Java reads these files in Latin-1.
func escapeProperty(s string, key bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == ' ' && (key || i == 0), key && strings.ContainsRune("=:#!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			writeEscaped(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// writeEscaped writes a character as \uXXXX, one beyond 16 bits as a surrogate pair.
func writeEscaped(b *strings.Builder, r rune) {
	for _, u := range utf16.Encode([]rune{r}) {
		h := strconv.FormatUint(uint64(u), 16)
		b.WriteString(`\u` + strings.Repeat("0", 4-len(h)) + h)
	}
}
