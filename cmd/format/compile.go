package format

import (
	"strings"

	"github.com/klog-project/klog/cmd/value"
)

// node is one piece of a format: text, or a directive with what stands in its braces.
type node struct {
	verb    byte   // the directive's letter, S and s as V and v; 0 for text
	text    []byte // of a piece of text
	code    code   // how a text directive is written
	num     number // how a number directive is written
	nested  []node // of %h{…}
	clock   clock  // of %d{strftime[…]}
	braced  bool   // braces were there
	written string // as it stands in the format, for messages
}

// code says how bytes are written as text.
type code int8

const (
	raw code = iota
	hexCode
	base64Code
	jsonCode
)

// The directives by kind. Those of headers are also those inside %h{…}.
const (
	textVerbs       = "tkv"
	numberVerbs     = "poeiKVTH"
	headerTextVerbs = "kv"
	headerNumVerbs  = "KV"
)

// parser reads a format.
type parser struct {
	format string
	at     int
	header bool // inside %h{…}
}

// parse reads a whole format.
func parse(format string) ([]node, error) {
	p := parser{format: format}
	return p.nodes()
}

// wrong refuses the format because of what stands at the parser's place.
func (p *parser) wrong(reason string) error {
	return &value.Error{What: "format", Value: p.format, Want: reason}
}

// nodes reads up to the end, or inside %h{…} through the closing brace.
func (p *parser) nodes() ([]node, error) {
	var list []node
	text := func(b ...byte) {
		if n := len(list); n > 0 && list[n-1].verb == 0 {
			list[n-1].text = append(list[n-1].text, b...)
			return
		}
		list = append(list, node{text: b})
	}
	for p.at < len(p.format) {
		c := p.format[p.at]
		switch {
		case c == '\\':
			b, n := value.Escape(p.format[p.at:])
			if n == 0 {
				return nil, p.wrong(`unknown escape ` + excerpt(p.format[p.at:], 2) + `; there are \n \r \t \0 \\ \xNN`)
			}
			text(b)
			p.at += n
		case c == '}' && p.header:
			p.at++
			return list, nil
		case c != '%':
			text(c)
			p.at++
		default:
			n, err := p.directive()
			if err != nil {
				return nil, err
			}
			if n.verb == 0 {
				text(n.text...)
				continue
			}
			list = append(list, n)
		}
	}
	if p.header {
		return nil, p.wrong("%h{ has no closing brace")
	}
	return list, nil
}

// directive reads what a percent sign begins.
func (p *parser) directive() (node, error) {
	start := p.at
	if p.at+1 >= len(p.format) {
		return node{}, p.wrong("a single % at the end; %% writes one")
	}
	c := p.format[p.at+1]
	p.at += 2
	if c == '%' || c == '{' || c == '}' {
		return node{text: []byte{c}}, nil
	}
	n := node{verb: c}
	switch c {
	case 's':
		n.verb = 'v'
	case 'S':
		n.verb = 'V'
	}
	if !p.known(n.verb) {
		return node{}, p.wrong("unknown directive " + excerpt(p.format[start:], 2) + p.where())
	}
	var err error
	if p.at < len(p.format) && p.format[p.at] == '{' {
		n.braced = true
		p.at++
		err = p.braces(&n)
	}
	n.written = p.format[start:p.at]
	return n, err
}

func (p *parser) known(verb byte) bool {
	if p.header {
		return strings.IndexByte(headerTextVerbs+headerNumVerbs, verb) >= 0
	}
	return strings.IndexByte(textVerbs+numberVerbs+"dh", verb) >= 0
}

func (p *parser) where() string {
	if p.header {
		return " inside %h{…}; there are %k %v %K %V"
	}
	return "; there are %t %p %o %k %v %s %T %d %h %K %V %S %H %e %i %%"
}

// braces reads what stands behind the opening brace of n, through the closing one.
func (p *parser) braces(n *node) error {
	verb := n.verb
	switch {
	case verb == 'h':
		return p.headerBraces(n)
	case verb == 'd' && strings.HasPrefix(p.format[p.at:], "strftime"):
		return p.clockBraces(n)
	}
	end := strings.IndexByte(p.format[p.at:], '}')
	if end < 0 {
		return p.wrong("%" + string(verb) + "{ has no closing brace")
	}
	word := p.format[p.at : p.at+end]
	p.at += end + 1
	ok := false
	if strings.IndexByte(textVerbs, verb) >= 0 {
		n.code, ok = textCode(word)
	} else {
		n.num, ok = parseNumber(word)
	}
	if !ok {
		return p.wrong("unknown modifier " + excerpt("%"+string(verb)+"{"+word+"}", 40))
	}
	return nil
}

func textCode(word string) (code, bool) {
	switch word {
	case "hex":
		return hexCode, true
	case "base64":
		return base64Code, true
	case "json":
		return jsonCode, true
	}
	return raw, false
}

func (p *parser) headerBraces(n *node) error {
	if strings.HasPrefix(p.format[p.at:], "json}") {
		p.at += len("json}")
		n.code = jsonCode
		return nil
	}
	inner := parser{format: p.format, at: p.at, header: true}
	nested, err := inner.nodes()
	if err != nil {
		return err
	}
	p.at = inner.at
	n.nested = nested
	for i := range nested {
		if nested[i].verb != 0 {
			return nil
		}
	}
	return p.wrong("%h{…} holds nothing of a header: %k or %v")
}

// clockBraces reads strftime[…]}, where the brackets may also be braces, parentheses
// or any number of #, and may be several deep so that the text can hold them.
func (p *parser) clockBraces(n *node) error {
	p.at += len("strftime")
	rest := p.format[p.at:]
	closing, depth := "", 0
	if rest != "" {
		depth = len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		switch rest[0] {
		case '[':
			closing = "]"
		case '{':
			closing = "}"
		case '(':
			closing = ")"
		case '#':
			closing = "#"
		}
	}
	if closing == "" {
		return p.wrong("want %d{strftime[…]}")
	}
	body, after, ok := strings.Cut(rest[depth:], strings.Repeat(closing, depth)+"}")
	if !ok {
		return p.wrong("%d{strftime" + rest[:depth] + " has no closing " + strings.Repeat(closing, depth) + "}")
	}
	p.at = len(p.format) - len(after)
	c, bad := parseClock(body)
	if bad != "" {
		return p.wrong("unknown strftime directive " + excerpt(bad, 8))
	}
	n.clock = c
	return nil
}

// excerpt is the beginning of s for a message, cut between characters.
func excerpt(s string, n int) string {
	i := 0
	for at := range s {
		if i == n {
			return s[:at]
		}
		i++
	}
	return s
}
