package value

import "strings"

const delimiterForm = `want text, in which \n \r \t \0 \xNN and \\ are understood`

// ParseDelimiter reads bytes written as text, where \n, \r, \t, \0, \\ and \xNN
// stand for what cannot be typed. The result is empty, not nil, for the empty text.
func ParseDelimiter(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		c, n := Escape(s[i:])
		if n == 0 {
			return nil, &Error{"delimiter", s, delimiterForm}
		}
		out = append(out, c)
		i += n
	}
	return out, nil
}

// Escape reads the escape sequence that s begins with, from the backslash on, and
// returns its byte and its length: 0 when it is none that klog knows.
func Escape(s string) (c byte, n int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case '0':
		return 0, 2
	case '\\':
		return '\\', 2
	case 'x':
		if len(s) < 4 {
			return 0, 0
		}
		hi, lo := unhex(s[2]), unhex(s[3])
		if hi < 0 || lo < 0 {
			return 0, 0
		}
		return byte(hi<<4 | lo), 4
	}
	return 0, 0
}

// unhex is the value of a hexadecimal digit, -1 of anything else.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// ParsePair splits name=value at the first equals sign. The name must not be empty;
// what names the kind of pair in a message ("header", "config").
func ParsePair(what, s string) (name, val string, err error) {
	name, val, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return "", "", &Error{what, s, "want name=value"}
	}
	return name, val, nil
}

// ParseBool reads true, yes, on, 1 and false, no, off, 0 in any case.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, &Error{"switch", s, "want true or false"}
}
