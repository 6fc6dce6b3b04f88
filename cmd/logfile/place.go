package logfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	headBytes = 1 << 10
	tailBytes = 64
)

// Place is where a reader stands in a file. The zero value stands nowhere.
type Place struct {
	Device   uint64 `json:"device"`
	Inode    uint64 `json:"inode"`
	Position int64  `json:"position"` // bytes before it have been read
	Head     string `json:"head"`     // hash of the file's first bytes
	Tail     string `json:"tail"`     // hash of the bytes before Position
}

// IsZero reports whether the place stands nowhere.
func (p Place) IsZero() bool { return p.Inode == 0 }

// SameFile reports whether both places are in one file, as far as inodes tell.
func (p Place) SameFile(q Place) bool { return p.Device == q.Device && p.Inode == q.Inode }

// String names the place for messages.
func (p Place) String() string { return fmt.Sprintf("inode %d, byte %d", p.Inode, p.Position) }

// digest is a hash of some bytes of a file, short enough to look at.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// identity is device and inode of an open file.
func identity(f *os.File) (p Place, size int64, err error) {
	var st unix.Stat_t
	for {
		if err = unix.Fstat(int(f.Fd()), &st); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return Place{}, 0, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return Place{Device: uint64(st.Dev), Inode: st.Ino}, st.Size, nil
}

// at is device and inode of whatever stands at the path. It follows links.
func at(path string) (p Place, size int64, err error) {
	var st unix.Stat_t
	for {
		if err = unix.Stat(path, &st); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return Place{}, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return Place{Device: uint64(st.Dev), Inode: st.Ino}, st.Size, nil
}

// seen is what a file holds before a position: what a Place has hashes of.
type seen struct {
	head []byte // its first bytes, up to headBytes
	tail []byte // the last ones before the position, up to tailBytes
}

// read fills in what there is from a file. It fails with io.ErrUnexpectedEOF where the file
// does not reach the position.
func (c *seen) read(f io.ReaderAt, position int64) error {
	c.head = make([]byte, min(headBytes, position))
	if _, err := f.ReadAt(c.head, 0); err != nil {
		return unexpected(err)
	}
	c.tail = make([]byte, min(tailBytes, position))
	_, err := f.ReadAt(c.tail, position-int64(len(c.tail)))
	return unexpected(err)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// advance takes note of bytes behind the position, which have been read.
func (c *seen) advance(b []byte) {
	if n := headBytes - len(c.head); n > 0 {
		c.head = append(c.head, b[:min(n, len(b))]...)
	}
	c.tail = append(c.tail, b[max(0, len(b)-tailBytes):]...)
	if n := len(c.tail) - tailBytes; n > 0 {
		c.tail = c.tail[:copy(c.tail, c.tail[n:])]
	}
}

// place completes a place with the hashes.
func (c *seen) place(p Place, position int64) Place {
	p.Position, p.Head, p.Tail = position, digest(c.head), digest(c.tail)
	return p
}

// holds reports whether f is the file of the place: it reaches the position and holds
// there what it held. What was seen there is returned with it.
func (p Place) holds(f *os.File) (c seen, ok bool, err error) {
	id, _, err := identity(f)
	if err != nil || !id.SameFile(p) {
		return c, false, err
	}
	if err := c.read(f, p.Position); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = nil
		}
		return c, false, err
	}
	return c, digest(c.head) == p.Head && digest(c.tail) == p.Tail, nil
}

// equal compares bytes as they were with bytes as they are.
func equal(was, is []byte) bool { return len(was) == len(is) && bytes.Equal(was, is) }
