package format

import (
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/klog-project/klog/segments"
)

// pieceSize is how much of a key or value is turned into text at once. It can be divided
// by three, as base64 wants it.
const pieceSize = 96 << 10

// pieces is text on its way out.
type pieces struct {
	buf   []byte
	write func(piece []byte) error
	err   error
}

// flush hands over what is there.
func (p *pieces) flush() {
	if p.err == nil && len(p.buf) > 0 {
		p.err = p.write(p.buf)
	}
	p.buf = p.buf[:0]
}

// raw writes b as it is. What is large is not copied.
func (p *pieces) raw(b []byte) {
	if len(b) < pieceSize {
		p.buf = append(p.buf, b...)
		return
	}
	p.flush()
	if p.err == nil {
		p.err = p.write(b)
	}
}

// text writes b as the code has it.
func (p *pieces) text(c code, b []byte) {
	switch {
	case len(b) < pieceSize:
		p.buf = c.append(p.buf, b)
	case c == raw:
		p.raw(b)
	case c == jsonCode:
		p.json(b)
	default:
		for part := range slices.Chunk(b, pieceSize) {
			p.buf = c.append(p.buf, part)
			p.flush()
		}
	}
}

// json writes what appendJSON does.
func (p *pieces) json(b []byte) {
	switch {
	case len(b) < pieceSize:
		p.buf = appendJSON(p.buf, b)
		return
	case !utf8.Valid(b):
		p.buf = append(p.buf, `{"base64":"`...)
		for part := range slices.Chunk(b, pieceSize) {
			p.buf = base64.StdEncoding.AppendEncode(p.buf, part)
			p.flush()
		}
		p.buf = append(p.buf, `"}`...)
		return
	}
	p.buf = append(p.buf, '"')
	for len(b) > 0 {
		n := min(pieceSize, len(b))
		for n < len(b) && !utf8.RuneStart(b[n]) {
			n--
		}
		end := len(p.buf)
		p.buf = appendJSONString(p.buf, b[:n])
		p.buf = append(p.buf[:end], p.buf[end+1:len(p.buf)-1]...) // without its quotes
		p.flush()
		b = b[n:]
	}
	p.buf = append(p.buf, '"')
}

// Pieces writes one record; it fails only as write does.
func (p *Plain) Pieces(_ *Source, _ int64, r *segments.Record, write func(piece []byte) error) error {
	out := pieces{write: write}
	if p.Key {
		out.raw(r.Key)
		out.raw(p.KeyDelimiter)
	}
	out.raw(r.Value)
	out.raw(p.Delimiter)
	out.flush()
	return out.err
}

// Pieces writes one record; it fails only as write does.
func (JSON) Pieces(src *Source, _ int64, r *segments.Record, write func(piece []byte) error) error {
	out := pieces{write: write}
	out.buf = appendJSONHead(out.buf, src, r)
	out.buf = append(out.buf, `,"headers":`...)
	out.buf = appendJSONHeaders(out.buf, r.Headers)
	out.buf = append(out.buf, `,"key":`...)
	out.json(r.Key)
	out.buf = append(out.buf, `,"value":`...)
	out.json(r.Value)
	out.buf = append(out.buf, '}', '\n')
	out.flush()
	return out.err
}

// appendJSONHead writes a row up to its timestamp.
func appendJSONHead(dst []byte, src *Source, r *segments.Record) []byte {
	dst = append(dst, src.jsonHead...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, timestampHead(r.TimestampType)...)
	if r.TimestampType == segments.NoTimestamp {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, r.Timestamp, 10)
}

// Pieces writes one record; it fails only as write does.
func (j *ownJSON) Pieces(src *Source, number int64, r *segments.Record, write func(piece []byte) error) error {
	return JSON{}.Pieces(src, number, r, write)
}

// Pieces writes the record. It fails as Append does, or as write does.
func (p *Program) Pieces(src *Source, number int64, r *segments.Record, write func(piece []byte) error) error {
	out := pieces{write: write}
	for _, check := range []bool{true, false} {
		out.buf = out.buf[:0]
		for i := range p.nodes {
			n := &p.nodes[i]
			var err error
			switch {
			case n.verb != 'v' && n.verb != 'k':
				one := Program{nodes: p.nodes[i : i+1], loc: p.loc}
				out.buf, err = one.Append(out.buf, src, number, r)
			case check:
			case n.verb == 'v':
				out.text(n.code, r.Value)
			default:
				out.text(n.code, r.Key)
			}
			if err != nil {
				return err
			}
		}
	}
	out.flush()
	return out.err
}
