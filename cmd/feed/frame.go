package feed

import "bytes"

// framing says where records end.
type framing struct {
	delim []byte // behind each record but perhaps the last of an input
	whole bool   // each input is one record; delim does not count
	// bordered delimiters begin as they end ("aa", "--x--"): searching for the last
	// one from behind may find another one than reading from the front does.
	bordered bool
}

func newFraming(delim []byte, whole bool) framing {
	f := framing{delim: delim, whole: whole}
	for n := 1; n < len(delim); n++ {
		if bytes.Equal(delim[:n], delim[len(delim)-n:]) {
			f.bordered = true
		}
	}
	return f
}

// first is where the first record of b ends, and where the next one begins; -1 when b
// holds no delimiter.
func (f *framing) first(b []byte) (end, next int) {
	i := -1
	switch {
	case f.whole:
	case len(f.delim) == 1:
		i = bytes.IndexByte(b, f.delim[0])
	default:
		i = bytes.Index(b, f.delim)
	}
	if i < 0 {
		return -1, -1
	}
	return i, i + len(f.delim)
}

// last is where the last delimiter in b ends, 0 when there is none. b begins where a
// record does, and its first known bytes hold no delimiter.
func (f *framing) last(b []byte, known int) int {
	if f.whole {
		return 0
	}
	if f.bordered {
		return f.lastFromFront(b)
	}
	from := max(0, known-len(f.delim)+1)
	i := -1
	if len(f.delim) == 1 {
		i = bytes.LastIndexByte(b[from:], f.delim[0])
	} else {
		i = bytes.LastIndex(b[from:], f.delim)
	}
	if i < 0 {
		return 0
	}
	return from + i + len(f.delim)
}

func (f *framing) lastFromFront(b []byte) int {
	at := 0
	for {
		_, next := f.first(b[at:])
		if next < 0 {
			return at
		}
		at += next
	}
}
