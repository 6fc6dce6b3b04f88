package format

import (
	"fmt"

	"github.com/klog-project/klog/cmd/value"
)

// Input is a compiled format that reads records.
type Input struct {
	steps []step
	opts  Options
	// delim divides the input into records before their fields are looked at. It is
	// nil where a field may hold it: the fields then say where a record ends.
	delim []byte
	// final is the text that ends a record, which may be missing at the end of the
	// input.
	final []byte
	// strict says that no field may hold final.
	strict bool
}

// step reads one piece of a record.
type step struct {
	node
	until  []byte // the text that ends the field; nil: its size does, or it itself
	sized  bool   // a length was read for it before
	nested []step // of %h{…}
}

// CompileInput reads a format for input. A wrong format is a *value.Error.
func CompileInput(format string, o Options) (*Input, error) {
	nodes, err := parse(format)
	if err != nil {
		return nil, err
	}
	c := inputCompiler{format: format}
	in := &Input{opts: o}
	if n := len(nodes); n > 0 && nodes[n-1].verb == 0 {
		in.final = nodes[n-1].text
	}
	sizes, itself := c.survey(nodes)
	in.strict = !sizes && in.final != nil
	if in.strict && !itself {
		in.delim, nodes = in.final, nodes[:len(nodes)-1]
	}
	c.open = in.delim != nil
	if in.steps, err = c.compile(nodes); err != nil {
		return nil, err
	}
	if len(in.steps) == 0 && in.delim == nil {
		return nil, c.wrong("reads nothing")
	}
	return in, nil
}

// Delimiter divides an input into the records that ParseRow reads. It is nil for a
// format whose records can only be read from a stream, with NewStream.
func (in *Input) Delimiter() []byte { return in.delim }

type inputCompiler struct {
	format string
	open   bool // the end of the last field is known without a text behind it
}

func (c *inputCompiler) wrong(reason string) error {
	return &value.Error{What: "format", Value: c.format, Want: reason}
}

// survey reports whether the format holds lengths, whose fields may hold anything, and
// fields that know themselves where they end in several lines.
func (c *inputCompiler) survey(nodes []node) (sizes, itself bool) {
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.verb == 'K' || n.verb == 'V' || n.verb == 'H' || n.isNumber() && n.num.binary():
			sizes = true
		case n.code == jsonCode:
			itself = true
		case n.nested != nil:
			s, j := c.survey(n.nested)
			sizes, itself = sizes || s, itself || j
		}
	}
	return sizes, itself
}

// isNumber reports whether the node is written as a number.
func (n *node) isNumber() bool {
	switch n.verb {
	case 'p', 'o', 'e', 'i', 'K', 'V', 'T', 'H':
		return true
	case 'd':
		return n.braced && n.clock == nil
	}
	return false
}

// compile makes steps of nodes.
func (c *inputCompiler) compile(nodes []node) ([]step, error) {
	steps := make([]step, len(nodes))
	var sized [256]bool // by directive: its length comes before
	for i := range nodes {
		s := &steps[i]
		s.node = nodes[i]
		if i+1 < len(nodes) && nodes[i+1].verb == 0 {
			s.until = nodes[i+1].text
		}
		if err := c.check(s, &sized); err != nil {
			return nil, err
		}
		needsEnd := s.verb != 0 && s.until == nil && !s.endsItself()
		if last := i+1 == len(nodes); needsEnd && !(last && c.open) {
			return nil, c.wrong("nothing tells where " + s.written + ` ends: put text behind it, as \n, or its length before it`)
		}
	}
	return steps, nil
}

// check completes a step and refuses what cannot be read.
func (c *inputCompiler) check(s *step, sized *[256]bool) error {
	switch s.verb {
	case 'k', 'v':
		s.sized = sized[s.verb]
	case 'K', 'V':
		if seen := s.verb | 0x20; sized[seen] {
			return c.wrong(s.written + " stands twice")
		}
		sized[s.verb|0x20] = true
	case 'H':
		sized['h'] = true
	case 'h':
		if s.node.nested == nil {
			return nil
		}
		if !sized['h'] {
			return c.wrong("%h{…} needs the number of headers before it, %H")
		}
		s.sized = true
		inner := inputCompiler{format: c.format}
		var err error
		s.nested, err = inner.compile(s.node.nested)
		return err
	case 'd':
		if bad := s.clock.unreadable(); bad != "" {
			return c.wrong("strftime " + bad + " can be written, not read")
		}
	}
	return nil
}

// endsItself reports whether the field's end needs no text behind it.
func (s *step) endsItself() bool {
	switch {
	case s.sized, s.code == jsonCode, s.clock != nil:
		return true
	case s.isNumber():
		return s.num.fixed() > 0
	}
	return false
}

// ParseRow reads one record of a format that has a Delimiter.
func (in *Input) ParseRow(record []byte, row *Row) error {
	row.reset()
	w := window{b: record}
	if err := in.read(&w, row); err != nil {
		return err
	}
	if w.at < len(record) {
		return fmt.Errorf("%q stands behind the last field", clip(record[w.at:]))
	}
	return nil
}

// clip is the beginning of b for a message.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }
