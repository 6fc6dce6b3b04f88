package cmd

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// talk is standard error as several goroutines share it: whole lines, and under them a
// status line that is wiped before anything else is said.
type talk struct {
	mu     sync.Mutex
	status string // what the status line shows, "" for none
}

const wipeLine = "\r\x1b[K"

// write writes to standard error; there is nowhere to report a failure to.
func (e *Env) write(s string) {
	e.talk.mu.Lock()
	defer e.talk.mu.Unlock()
	if e.talk.status != "" {
		s = wipeLine + s + e.talk.status
	}
	e.writeStderr(s)
}

// setStatusLine shows s under all that is said, in place of what was there; "" wipes it.
// Only for a terminal.
func (e *Env) setStatusLine(s string) {
	if width := e.TerminalWidth(e.Stderr); width > 0 && len(s) >= width {
		s = s[:width-1]
	}
	e.talk.mu.Lock()
	defer e.talk.mu.Unlock()
	if s == "" && e.talk.status == "" {
		return
	}
	e.talk.status = s
	e.writeStderr(wipeLine + s)
}

// writeStderr writes all of s. Another process may have made the descriptor
// non-blocking: then it is waited for.
func (e *Env) writeStderr(s string) {
	for len(s) > 0 {
		n, err := io.WriteString(e.Stderr, s)
		s = s[max(n, 0):]
		if err != nil && (!errors.Is(err, syscall.EAGAIN) || waitWritable(int(e.Stderr.Fd())) != nil) {
			return
		}
	}
}
