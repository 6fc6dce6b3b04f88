package segments

import (
	"io"
	"runtime/debug"
)

// Chunk is a run of batches that lie one behind the other in a segment, in memory of
// its own: it can be decoded by one goroutine while another reads the next one. The
// zero value is ready; use it again to spare its memory.
type Chunk struct {
	// Batches hold at least one wanted record's offset each. Their headers have been
	// checked, their checksums have not.
	Batches []Batch
	// Shared: the one batch is so large that its bytes are the reader's own. They live
	// until the next call of the LogReader that filled the chunk, Release among them.
	Shared bool

	buf []byte
}

// nextRun fills c with the batches that one read brings. Its errors are those of
// Next, of the first batch; what is wrong with a later one is found by the next call.
func (s *Scanner) nextRun(c *Chunk) error {
	clear(c.Batches) // they hold their bytes
	c.Batches, c.Shared = c.Batches[:0], false
	b, err := s.nextUnchecked()
	if err != nil {
		return err
	}
	c.Batches = append(c.Batches, b)
	if b.Size() > scanTrust {
		c.Shared = true
		return nil
	}
	for {
		b, err := ParseBatch(s.ahead(), s.pos)
		if err != nil || s.place(b.BatchHeader) != nil {
			break
		}
		c.Batches = append(c.Batches, b)
		s.pass(b)
	}
	// The buffer goes to the chunk; what it holds of the next batch goes into the
	// chunk's old one.
	rest := append(c.buf[:0], s.ahead()...)
	c.buf, s.buf, s.bufAt = s.buf, rest, s.pos
	return nil
}

// nextUnchecked is Next without the checksum, except where the batch is so large that
// its length is not believed without.
func (s *Scanner) nextUnchecked() (Batch, error) {
	mode := s.mode
	defer func() { s.mode = mode }()
	s.mode = ScanNoCRC
	if s.err == nil && s.pos < s.end {
		if head, err := s.bytes(HeaderSize); err == nil {
			if h, err := parsePrefix(head); err == nil && h.Size() > scanTrust {
				s.mode = ScanCRC
			}
		}
	}
	return s.Next()
}

// ahead is what is buffered from the current position on.
func (s *Scanner) ahead() []byte {
	at := s.pos - s.bufAt
	if at < 0 || at > int64(len(s.buf)) {
		return nil
	}
	return s.buf[at:]
}

// pass steps behind a batch.
func (s *Scanner) pass(b Batch) {
	s.last = b.Size()
	s.pos += s.last
	s.next = b.LastOffset() + 1
}

// restart uses the Scanner and its memory for another file, from the first byte on.
func (s *Scanner) restart(f io.ReaderAt, file string, base, end int64) {
	*s = Scanner{f: f, file: file, mode: s.mode, once: s.once, base: base, end: end, next: base, buf: s.buf[:0]}
}

// release gives the memory for what was read back. What is read ahead is read again.
func (s *Scanner) release() {
	huge := cap(s.buf) >= hugeBytes
	s.buf = nil
	if huge {
		debug.FreeOSMemory()
	}
}
