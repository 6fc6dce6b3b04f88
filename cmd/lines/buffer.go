// Package lines cuts a stream into records: at a delimiter of one or more bytes,
// whatever their length.
package lines

import (
	"fmt"
	"io"
)

const (
	// chunk is how much is read at once, at most.
	chunk = 128 << 10
	// spare is how large a buffer may stay once a long record is through.
	spare = 1 << 20
	// doubling ends at this size: from there on a buffer grows by a quarter, so that
	// it stays close to the size of the record.
	doubling = 32 << 20
)

// Buffer holds the unread beginning of a stream in one piece of memory, as much as its
// user asks for. It reads only when More is called, and then once, so that what has
// arrived is never held back by what has not. It is not for several goroutines, and
// whoever is done with it calls Close.
type Buffer struct {
	r          io.Reader
	mem        []byte
	start, end int
	err        error
}

// NewBuffer is a buffer on r.
func NewBuffer(r io.Reader) *Buffer { return &Buffer{r: r} }

// Close gives the memory back. What Bytes returned is not valid any more.
func (b *Buffer) Close() {
	release(b.mem)
	*b = Buffer{err: io.EOF}
}

// Bytes are the unread bytes that are here, valid until the next call of More or Close.
func (b *Buffer) Bytes() []byte { return b.mem[b.start:b.end] }

// Discard takes the first n bytes as read.
func (b *Buffer) Discard(n int) { b.start += n }

// More reads what is there and adds it to the unread bytes. It reports false at the end
// of the stream, and on an error, which Err then returns.
func (b *Buffer) More() bool {
	if b.err != nil {
		return false
	}
	if err := b.makeRoom(); err != nil {
		b.err = fmt.Errorf("no memory for a record of more than %d bytes: %w", len(b.Bytes()), err)
		return false
	}
	for range 100 {
		n, err := b.r.Read(b.mem[b.end:min(len(b.mem), b.end+chunk)])
		b.end += n
		b.err = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	b.err = io.ErrNoProgress
	return false
}

// Err is the error that ended the stream, nil when it is its proper end.
func (b *Buffer) Err() error {
	if b.err == io.EOF {
		return nil
	}
	return b.err
}

// makeRoom sees to free space behind the unread bytes: by moving them to the front, or
// in a larger buffer when they fill most of this one. A large buffer that is hardly
// used is exchanged for a small one.
func (b *Buffer) makeRoom() (err error) {
	unread := b.end - b.start
	switch {
	case b.mem == nil:
		b.mem = make([]byte, chunk)
	case unread < spare/2 && len(b.mem) > spare:
		old := b.mem
		b.mem = make([]byte, chunk+unread)
		b.toFront(old)
		release(old)
	case unread == 0:
		b.start, b.end = 0, 0
	case b.end < len(b.mem):
	case unread <= len(b.mem)/2:
		b.toFront(b.mem)
	case len(b.mem) < doubling:
		err = b.grow(2 * len(b.mem))
	default:
		err = b.grow(len(b.mem) + len(b.mem)/4)
	}
	return err
}

func (b *Buffer) grow(size int) error {
	mem, err := enlarge(b.mem, size)
	if err == nil {
		b.mem = mem
	}
	return err
}

// toFront puts the unread bytes, which lie in old, at the beginning.
func (b *Buffer) toFront(old []byte) {
	b.end = copy(b.mem, old[b.start:b.end])
	b.start = 0
}
