package format

import (
	"errors"
	"io"

	"github.com/klog-project/klog/cmd/lines"
)

// Stream reads rows one after the other. It belongs to one goroutine; whoever is done
// with it calls Close.
type Stream struct {
	scan   *lines.Scanner // for what is divided by a delimiter
	parser Parser
	unit   string

	buf    *lines.Buffer // for what is not
	in     *Input
	used   int
	number int64
	err    error // that ended it
}

// NewLineStream reads records that end with delim, each of which parser reads.
func NewLineStream(r io.Reader, delim []byte, parser Parser) *Stream {
	unit := "record"
	if string(delim) == "\n" {
		unit = "line"
	}
	return &Stream{scan: lines.NewScanner(r, delim), parser: parser, unit: unit}
}

// NewStream reads records of the format in.
func (in *Input) NewStream(r io.Reader) *Stream {
	if in.delim != nil {
		return NewLineStream(r, in.delim, in)
	}
	return &Stream{buf: lines.NewBuffer(r), in: in, unit: "record"}
}

// Close gives the memory back. Rows that were read are not valid any more.
func (s *Stream) Close() {
	if s.scan != nil {
		s.scan.Close()
		return
	}
	s.buf.Close()
}

// Next reads the next record into row, whose bytes are valid until the next call. It
// returns io.EOF at the end of the input. A record that cannot be read is an
// *InputError; every error is final.
func (s *Stream) Next(row *Row) error {
	if s.err == nil {
		s.err = s.next(row)
	}
	return s.err
}

func (s *Stream) next(row *Row) error {
	if s.scan == nil {
		return s.nextOfStream(row)
	}
	for {
		rec, err := s.scan.Next()
		if err != nil {
			return err
		}
		err = s.parser.ParseRow(rec, row)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrBlank) {
			return &InputError{s.unit, s.scan.Number(), err}
		}
	}
}

// nextOfStream reads a record whose fields say where it ends.
func (s *Stream) nextOfStream(row *Row) error {
	s.buf.Discard(s.used)
	s.used = 0
	w := window{b: s.buf.Bytes(), buf: s.buf}
	if !s.begins(&w) {
		if err := s.buf.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	s.number++
	row.reset()
	err := s.in.read(&w, row)
	switch {
	case err != nil && errors.Is(err, s.buf.Err()):
		return err // the stream broke, not the record
	case err == nil && w.at == 0:
		err = errors.New("the format reads nothing")
	}
	if err != nil {
		return &InputError{s.unit, s.number, err}
	}
	s.used = w.at
	return nil
}

// begins reports whether another record begins, reading as far as that needs. White
// space before JSON is no record.
func (s *Stream) begins(w *window) bool {
	for {
		blank := len(w.b) == 0
		if s.in.steps[0].code == jsonCode {
			sc := scan{b: w.b}
			sc.space()
			blank = sc.at == len(w.b)
		}
		if !blank {
			return true
		}
		if !w.more() {
			return false
		}
	}
}
