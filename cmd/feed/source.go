package feed

import "time"

// Sizes of reading.
const (
	// chunkSize is how much is read at once and, where it goes to one partition, appended
	// with one write; wideChunk where it is divided among several.
	chunkSize = 512 << 10
	wideChunk = 1 << 20
	// firstBuffer is what a run begins with: most runs are one line.
	firstBuffer = 64 << 10
	// workBuffer is the input buffer of a worker that has more to do.
	workBuffer = 2 << 20
	// longChunk is the size from which a chunk is handled alone and its memory given
	// back, so that no two huge records are in memory at a time.
	longChunk = 4 << 20
)

// chunk is what is handled at once: whole records of one input.
type chunk struct {
	seq  int64  // chunks are numbered as they are read
	data []byte // the last record may lack its delimiter
	now  int64  // when it was read, in ms
	// cut is more than 0 for a record that is longer than is kept: data is its
	// beginning, cut its size. It is alone in its chunk, without its delimiter.
	cut int64
	// empty counts the input that held nothing and is a record all the same.
	empty bool
	end   bool // nothing comes behind it
}

func (c *chunk) holdsRecords() bool { return len(c.data) > 0 || c.cut > 0 || c.empty }

// source reads inputs one after another and cuts them into chunks. The worker that
// holds the baton uses it.
type source struct {
	inputs []Input // not yet begun
	open   *descriptor
	wait   waiter
	frame  framing
	chunk  int           // how much is read at once
	line   int           // longest record that is kept whole
	linger time.Duration // how long to wait for more
	enough int           // with linger: what is not waited for any more
	millis func() int64  // the clock
	carry  []byte        // what was read and not delivered: the beginning of a record
	whole  bool          // there may be whole records in it
	follow *follower     // reads in place of all this; nil: nothing does
}

// exhausted reports whether the inputs have been read to their ends.
func (s *source) exhausted() bool { return s.follow == nil && s.open == nil && len(s.inputs) == 0 }

// next fills buf with the next chunk that holds records, or with the last, which may
// hold none. When the context has ended that is what has been read by then.
func (s *source) next(buf *memory) (chunk, error) {
	if s.follow != nil {
		return s.follow.next(buf)
	}
	for {
		if s.open == nil {
			if len(s.inputs) == 0 || s.wait.ended() {
				return chunk{now: s.millis(), end: true}, nil
			}
			d, err := s.inputs[0].open()
			if err != nil {
				return chunk{}, err
			}
			s.open, s.inputs = d, s.inputs[1:]
		}
		f := filling{s: s, buf: buf}
		c, err := f.run()
		c.now = s.millis()
		if err != nil || c.end || c.holdsRecords() {
			return c, err
		}
	}
}

// close closes what is open.
func (s *source) close() {
	if s.open != nil {
		s.open.close()
		s.open = nil
	}
	s.wait.close()
}

// filling is the making of one chunk.
type filling struct {
	s     *source
	buf   *memory
	have  int // bytes in buf
	got   int // of them read now
	cut   int // where the last whole record ends
	short bool
	until time.Time // with linger: when it is over
}

// run reads until there is enough.
func (f *filling) run() (chunk, error) {
	s := f.s
	f.buf.grow(s.firstSize(), 0)
	f.have = copy(f.buf.b, s.carry)
	s.carry = s.carry[:0]
	if s.whole {
		f.cut, s.whole = s.frame.last(f.buf.b[:f.have], 0), false
	}
	for {
		if s.wait.ended() {
			return f.interrupted(), nil
		}
		more, err := f.more()
		if err != nil {
			return chunk{}, err
		}
		if !more {
			if f.cut == 0 {
				continue // the context has ended
			}
			s.carry = append(s.carry, f.buf.b[f.cut:f.have]...)
			return chunk{data: f.buf.b[:f.cut]}, nil
		}
		if f.cut == 0 && f.have >= s.line {
			return f.tooLong()
		}
		eof, err := f.read()
		if err != nil {
			return chunk{data: f.buf.b[:f.cut]}, err
		}
		if eof {
			return f.ended(), nil
		}
	}
}

// firstSize is how large the buffer has to be before the first read.
func (s *source) firstSize() int {
	if len(s.carry) > firstBuffer/2 || s.open.regular && s.open.size > firstBuffer/2 {
		return max(workBuffer, len(s.carry)+s.chunk)
	}
	return firstBuffer
}

// more reports whether to read on; it waits for input where that is asked for.
func (f *filling) more() (bool, error) {
	s := f.s
	switch {
	case f.cut > 0 && f.got >= s.chunk:
		return false, nil
	case s.open.regular:
		return true, nil
	case f.cut == 0:
		return s.wait.readable(s.open, forever)
	case s.linger > 0:
		if f.until.IsZero() {
			f.until = time.Now().Add(s.linger)
		}
		left := time.Until(f.until)
		if left <= 0 || f.have >= s.enough {
			return false, nil
		}
		return s.wait.readable(s.open, left)
	case f.short && f.got < pipeBusy:
		return false, nil // the pipe was emptied, and its writer is slow
	}
	return s.wait.readable(s.open, 0)
}

// read reads once.
func (f *filling) read() (eof bool, err error) {
	want := f.s.chunk - f.got
	if want <= 0 {
		want = f.s.chunk // in a long record
	}
	if room := len(f.buf.b) - f.have; room < want {
		// A buffer that is half full of one record must become larger, the first one
		// of a run when it has been filled once.
		if room < firstBuffer/2 {
			f.buf.grow(max(workBuffer, f.have+f.s.chunk), f.have)
			room = len(f.buf.b) - f.have
		}
		want = min(want, room)
	}
	n, err := f.s.open.read(f.buf.b[f.have : f.have+want])
	if err == errNothing {
		return false, nil
	}
	if n == 0 || err != nil {
		return err == nil, err
	}
	known := f.have
	f.have += n
	f.got += n
	f.short = n < want
	if cut := f.s.frame.last(f.buf.b[:f.have], known); cut > 0 {
		f.cut = cut
	}
	f.s.open.enlarge(n)
	return false, nil
}

// ended is the last chunk of an input.
func (f *filling) ended() chunk {
	s := f.s
	s.open.close()
	s.open = nil
	return chunk{
		data:  f.buf.b[:f.have],
		empty: s.frame.whole && f.have == 0,
		end:   len(s.inputs) == 0,
	}
}

// interrupted is the last chunk of a run that a signal ends. What came out of a pipe
// can be read nowhere else, so it is delivered, the beginning of a record too. A file
// still has it.
func (f *filling) interrupted() chunk {
	end := f.have
	if f.s.open.regular || f.s.frame.whole {
		end = f.cut
	}
	return chunk{data: f.buf.b[:end], end: true}
}

// tooLong reads the rest of a record that is longer than is kept, and counts it.
func (f *filling) tooLong() (chunk, error) {
	s := f.s
	overlap := max(0, len(s.frame.delim)-1) // a delimiter may have begun in what is there
	size := int64(f.have)
	f.buf.grow(s.line+overlap+firstBuffer, f.have)
	window := f.buf.b[s.line:]
	tail := copy(window, f.buf.b[max(0, f.have-overlap):f.have])
	for {
		if s.wait.ended() {
			if s.open.regular {
				return chunk{end: true}, nil
			}
			return chunk{data: f.buf.b[:s.line], cut: size, end: true}, nil
		}
		if !s.open.regular {
			if ready, err := s.wait.readable(s.open, forever); err != nil {
				return chunk{}, err
			} else if !ready {
				continue
			}
		}
		n, err := s.open.read(window[tail:])
		if err == errNothing {
			continue
		}
		if err != nil {
			return chunk{}, err
		}
		if n == 0 {
			f.have = s.line
			c := f.ended()
			c.cut = size
			return c, nil
		}
		if end, next := s.frame.first(window[:tail+n]); end >= 0 {
			s.carry, s.whole = append(s.carry, window[next:tail+n]...), true
			return chunk{data: f.buf.b[:s.line], cut: size + int64(end-tail)}, nil
		}
		size += int64(n)
		tail = copy(window, window[max(0, tail+n-overlap):tail+n])
	}
}
