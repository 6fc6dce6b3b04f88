package engine

import (
	"sync"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// Options say how a root is used. The zero value is right for a program that has
// nothing to tell its user.
type Options struct {
	// FS is where the files are; nil means the real file system.
	FS vfs.FS
	// LockTimeout bounds the wait for each lock: 0 is the operation's own default,
	// less than 0 waits without limit.
	LockTimeout time.Duration
	// Notice receives one line, without newline, that a user should see and that is
	// no error: a wait, a torn tail that was cut. It may be called from several
	// goroutines. nil drops it.
	Notice func(line string)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Hold is called before each critical section of an append, and what it returns after
	// it: a program that wants to stop itself, on Ctrl-Z, does so outside of them, or it
	// would hold up every other writer. nil does nothing.
	Hold func() (release func())
	// Program is what lock files say about this process, usually its command line, which
	// "" stands for.
	Program string
}

func (o Options) fs() vfs.FS {
	if o.FS != nil {
		return o.FS
	}
	return vfs.OS
}

// tolerantFS is fs on which a directory that cannot be synced is told about once and is
// no error: there is nothing that could be done about it.
func (o Options) tolerantFS() vfs.FS {
	var once sync.Once
	return vfs.Lenient(o.fs(), func(error) {
		once.Do(func() {
			o.notice("this file system cannot sync directories: new segments and topics may be lost on power failure")
		})
	})
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Options) notice(line string) {
	if o.Notice != nil {
		o.Notice(line)
	}
}

// timeout is the bound of a wait for a lock where byDefault is the operation's own;
// less than 0 means none.
func (o Options) timeout(byDefault time.Duration) time.Duration {
	if o.LockTimeout != 0 {
		return o.LockTimeout
	}
	return byDefault
}

func (o Options) hold() (release func()) {
	if o.Hold != nil {
		return o.Hold()
	}
	return func() {}
}
