package cmd

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends one row as a JSON object, the fields in the order of the columns.
func (t *table) appendJSON(b []byte, cells []any) []byte {
	for i, c := range cells {
		if i == 0 {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = appendJSONString(b, t.columns[i].name)
		b = append(b, ':')
		b = appendJSONCell(b, c)
	}
	return append(b, '}', '\n')
}

func appendJSONCell(b []byte, cell any) []byte {
	if n, ok := integer(cell); ok {
		return strconv.AppendInt(b, n, 10)
	}
	switch c := cell.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return appendJSONString(b, c)
	case bool:
		return strconv.AppendBool(b, c)
	case float64:
		return strconv.AppendFloat(b, c, 'f', -1, 64)
	case []string:
		return appendJSONList(b, len(c), func(b []byte, i int) []byte { return appendJSONString(b, c[i]) })
	case []int32:
		return appendJSONList(b, len(c), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(c[i]), 10) })
	case pairs:
		return appendJSONPairs(b, c)
	case cellValue:
		return c.appendJSON(b)
	}
	panic(fmt.Sprintf("a table cell of type %T", cell))
}

func appendJSONList(b []byte, n int, item func([]byte, int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, i)
	}
	return append(b, ']')
}

func appendJSONPairs(b []byte, ps pairs) []byte {
	b = append(b, '{')
	for i, p := range ps {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, p[0])
		b = append(b, ':')
		b = appendJSONString(b, p[1])
	}
	return append(b, '}')
}

// appendJSONString appends s as a JSON string; bytes that are not UTF-8 become
// {"base64":"…"}, as in records.
func appendJSONString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b = append(b, `{"base64":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(s))
		return append(b, `"}`...)
	}
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
