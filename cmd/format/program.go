package format

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

// Program is a compiled format that writes records.
type Program struct {
	nodes []node
	loc   *time.Location
}

// Compile reads a format for output. Times are written in loc. A wrong format is a
// *value.Error.
func Compile(format string, loc *time.Location) (*Program, error) {
	nodes, err := parse(format)
	if err != nil {
		return nil, err
	}
	return &Program{nodes: nodes, loc: loc}, nil
}

// Plain reports whether the format writes nothing but the value with some text behind
// it, and which text, so that a caller may take a shorter way.
func (p *Program) Plain() (delimiter []byte, ok bool) {
	if len(p.nodes) == 0 || len(p.nodes) > 2 {
		return nil, false
	}
	if n := p.nodes[0]; n.verb != 'v' || n.code != raw {
		return nil, false
	}
	if len(p.nodes) == 1 {
		return nil, true
	}
	return p.nodes[1].text, p.nodes[1].verb == 0
}

// Numbered reports whether the format writes the running number, so that what a record
// becomes depends on how many were written before it.
func (p *Program) Numbered() bool {
	return slices.ContainsFunc(p.nodes, func(n node) bool { return n.verb == 'i' })
}

// Append appends the record. It fails when a number does not fit the width that the
// format gives it.
func (p *Program) Append(dst []byte, src *Source, number int64, r *segments.Record) ([]byte, error) {
	begin := len(dst)
	for i := range p.nodes {
		n := &p.nodes[i]
		ok := true
		switch n.verb {
		case 0:
			dst = append(dst, n.text...)
		case 'v':
			dst = n.code.append(dst, r.Value)
		case 'k':
			dst = n.code.append(dst, r.Key)
		case 't':
			if n.code == raw {
				dst = append(dst, src.Topic...)
				continue
			}
			dst = n.code.append(dst, []byte(src.Topic))
		case 'd':
			dst, ok = p.appendTime(dst, n, r)
		case 'h':
			dst, ok = p.appendHeaders(dst, n, r)
		default:
			dst, ok = n.num.appendChecked(dst, recordNumber(n.verb, src, number, r))
		}
		if !ok {
			return dst[:begin], fmt.Errorf("offset %d: a number does not fit %s", r.Offset, n.written)
		}
	}
	return dst, nil
}

// recordNumber is the value of a numeric directive.
func recordNumber(verb byte, src *Source, number int64, r *segments.Record) int64 {
	switch verb {
	case 'p':
		return int64(src.Partition)
	case 'o':
		return r.Offset
	case 'e':
		return int64(r.LeaderEpoch)
	case 'i':
		return number
	case 'K':
		return length(r.Key)
	case 'V':
		return length(r.Value)
	case 'H':
		return int64(len(r.Headers))
	}
	return timestamp(r) // 'T'
}

// length is the length of b as the format has it: -1 of null.
func length(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

// timestamp is the record's timestamp, -1 when it has none.
func timestamp(r *segments.Record) int64 {
	if r.TimestampType == segments.NoTimestamp {
		return -1
	}
	return r.Timestamp
}

// appendChecked writes n if it fits.
func (f number) appendChecked(dst []byte, n int64) ([]byte, bool) {
	switch {
	case f.base == decimalBase:
		return strconv.AppendInt(dst, n, 10), true
	case !f.fits(n):
		return dst, false
	}
	return f.append(dst, n), true
}

// append writes b as the code has it; null is nothing but in JSON.
func (c code) append(dst, b []byte) []byte {
	switch c {
	case hexCode:
		return hex.AppendEncode(dst, b)
	case base64Code:
		return base64.StdEncoding.AppendEncode(dst, b)
	case jsonCode:
		return appendJSON(dst, b)
	}
	return append(dst, b...)
}

func (p *Program) appendTime(dst []byte, n *node, r *segments.Record) ([]byte, bool) {
	ms := timestamp(r)
	switch {
	case n.clock != nil && ms != -1:
		return n.clock.append(dst, time.UnixMilli(ms).In(p.loc)), true
	case n.clock == nil && n.braced:
		return n.num.appendChecked(dst, ms)
	case ms == -1:
		return append(dst, '-'), true
	}
	return value.AppendTime(dst, ms, p.loc), true
}

func (p *Program) appendHeaders(dst []byte, n *node, r *segments.Record) ([]byte, bool) {
	switch {
	case n.code == jsonCode:
		return appendJSONHeaders(dst, r.Headers), true
	case !n.braced:
		return appendHeaderList(dst, r.Headers), true
	}
	ok := true
	for i := range r.Headers {
		h := &r.Headers[i]
		for j := range n.nested {
			in := &n.nested[j]
			switch in.verb {
			case 0:
				dst = append(dst, in.text...)
			case 'k':
				dst = in.code.append(dst, h.Key)
			case 'v':
				dst = in.code.append(dst, h.Value)
			case 'K':
				dst, ok = in.num.appendChecked(dst, int64(len(h.Key)))
			case 'V':
				dst, ok = in.num.appendChecked(dst, length(h.Value))
			}
			if !ok {
				return dst, false
			}
		}
	}
	return dst, true
}

// appendHeaderList writes a=b,c=d.
func appendHeaderList(dst []byte, headers []segments.Header) []byte {
	for i := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, headers[i].Key...)
		dst = append(dst, '=')
		dst = append(dst, headers[i].Value...)
	}
	return dst
}
