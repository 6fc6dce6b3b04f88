package feed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// descriptor is an input that is open. It is read with plain system calls: package os
// would put a pipe into non-blocking mode, which every process that shares it sees,
// or would not tell that such a pipe, when it was so before, has nothing for now.
type descriptor struct {
	fd      int
	name    string
	own     bool  // opened here, to be closed here
	regular bool  // a file: a read never waits
	size    int64 // of a regular file when it was opened
	sized   bool  // the pipe has been enlarged, or is none
}

// Input is one thing to read.
type Input struct {
	Path string   // opened when its turn comes
	File *os.File // in place of Path: already open. It stays open, its flags as they are
}

// Name is what messages call the input.
func (in Input) Name() string {
	if in.File != nil {
		return "standard input"
	}
	return in.Path
}

// open opens the input. A FIFO without a writer yet is no error and is waited for
// where it is read.
func (in Input) open() (*descriptor, error) {
	d := &descriptor{name: in.Name(), fd: -1}
	if in.File != nil {
		// Its method Fd may put the descriptor into blocking mode.
		c, err := in.File.SyscallConn()
		if err == nil {
			err = c.Control(func(fd uintptr) { d.fd = int(fd) })
		}
		if err != nil {
			return nil, err
		}
	} else {
		fd, err := retry(func() (int, error) {
			return unix.Open(in.Path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		})
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: in.Path, Err: err}
		}
		d.fd, d.own = fd, true
	}
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		d.close()
		return nil, &fs.PathError{Op: "stat", Path: d.name, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		d.close()
		return nil, &fs.PathError{Op: "read", Path: d.name, Err: unix.EISDIR}
	case unix.S_IFREG:
		d.regular, d.sized = true, true
		d.size = st.Size
	case unix.S_IFIFO:
	default:
		d.sized = true
	}
	return d, nil
}

func (d *descriptor) close() {
	if d.own && d.fd >= 0 {
		unix.Close(d.fd)
		d.fd = -1
	}
}

// errNothing says that a descriptor in non-blocking mode has nothing for now.
var errNothing = errors.New("nothing to read for now")

// read is read(2): 0 without an error is the end.
func (d *descriptor) read(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(d.fd, b) })
	switch err {
	case nil:
		return n, nil
	case unix.EAGAIN:
		return 0, errNothing
	case unix.EIO:
		if !d.regular && d.hungUp() {
			return 0, nil // the other end of a pseudo-terminal is gone
		}
	}
	return 0, fmt.Errorf("read %s: %w", d.name, err)
}

// hungUp reports whether nobody is left to write.
func (d *descriptor) hungUp() bool {
	p := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&unix.POLLHUP != 0
}

// enlarge lets a pipe that is found well filled hold more: writer and reader then
// change places less often.
func (d *descriptor) enlarge(got int) {
	if !d.sized && got >= pipeBusy {
		d.sized = true
		enlargePipe(d.fd)
	}
}

// pipeBusy is how much of a pipe must be waiting for its writer to count as faster
// than this reader.
const pipeBusy = 32 << 10

// retry calls a system call again when a signal has interrupted it.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
