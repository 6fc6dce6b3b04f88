package lines

import (
	"bytes"
	"io"
)

// Scanner gives the records of a stream one by one. An empty record counts as any
// other; the last one needs no delimiter behind it. With an empty delimiter the whole
// stream is one record, also when it is empty. It is not for several goroutines, and
// whoever is done with it calls Close.
type Scanner struct {
	buf    *Buffer
	delim  []byte
	used   int // bytes of the record that was given last, with its delimiter
	number int64
	done   bool
}

// NewScanner gives the records of r, which end with delim.
func NewScanner(r io.Reader, delim []byte) *Scanner {
	return &Scanner{buf: NewBuffer(r), delim: delim}
}

// Close gives the memory back. The record that Next returned is not valid any more.
func (s *Scanner) Close() {
	s.buf.Close()
	s.done, s.used = true, 0
}

// Next returns the next record without its delimiter, valid until the next call. At
// the end of the stream it returns io.EOF; when the stream breaks it returns that
// error, and what was read of an unfinished record is not given.
func (s *Scanner) Next() ([]byte, error) {
	s.buf.Discard(s.used)
	s.used = 0
	if s.done {
		return nil, io.EOF
	}
	from := 0
	for {
		b := s.buf.Bytes()
		if i := Index(b[from:], s.delim); i >= 0 {
			s.used = from + i + len(s.delim)
			s.number++
			return b[:from+i], nil
		}
		from = max(0, len(b)-len(s.delim)+1)
		if !s.buf.More() {
			return s.last(b)
		}
	}
}

// last gives what stands behind the last delimiter.
func (s *Scanner) last(b []byte) ([]byte, error) {
	if err := s.buf.Err(); err != nil {
		return nil, err
	}
	s.done = true
	if len(b) == 0 && len(s.delim) > 0 {
		return nil, io.EOF
	}
	s.used = len(b)
	s.number++
	return b, nil
}

// Number is the number of the record that Next returned last, from 1.
func (s *Scanner) Number() int64 { return s.number }

// Index is where delim first stands in b, -1 if nowhere or if it is empty.
func Index(b, delim []byte) int {
	switch len(delim) {
	case 0:
		return -1
	case 1:
		return bytes.IndexByte(b, delim[0])
	}
	return bytes.Index(b, delim)
}
