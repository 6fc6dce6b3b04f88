package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// DefaultLockTimeout bounds the wait for a lock where nothing else is said. Writers
// of records wait without limit unless they are told otherwise.
const DefaultLockTimeout = 30 * time.Second

// firstNotice and laterNotice say when a wait is told: after the first, then each later.
const (
	firstNotice = time.Second
	laterNotice = time.Minute
)

// ErrTopicGone is returned when the topic or partition that is being used was
// deleted, renamed or replaced by another of its name. What was acknowledged before
// is in the old one; nothing is written into the new one.
var ErrTopicGone = errors.New("the topic was deleted, renamed or replaced while it was in use")

// ErrClosed is returned by a method of something that was closed.
var ErrClosed = errors.New("already closed")

// LockedError is returned when a lock was not obtained in time. Nothing was changed.
type LockedError struct {
	Path   string // the lock file
	Waited time.Duration
	Holder Holder
}

// Error names the lock file and who holds it.
func (e *LockedError) Error() string {
	if e.Waited == 0 {
		return fmt.Sprintf("%s: locked by %s", e.Path, e.Holder)
	}
	return fmt.Sprintf("%s: locked by %s, gave up after %v", e.Path, e.Holder, e.Waited.Round(time.Millisecond))
}

// tellWait calls tell after a second and then once a minute, until quiet is called.
func tellWait(tell func()) (quiet func()) {
	done := make(chan struct{})
	t := time.NewTimer(firstNotice)
	go func() {
		for {
			select {
			case <-t.C:
				tell()
				t.Reset(laterNotice)
			case <-done:
				t.Stop()
				return
			}
		}
	}()
	return func() { close(done) }
}

// patience says how long a wait for a lock may take and who is told of it.
type patience struct {
	limit  time.Duration // 0: DefaultLockTimeout, negative: none
	notice func(string)  // may be nil
	what   fmt.Stringer  // what the lock guards, for the notice
}

// waitLock takes the lock of f, which lies at path. It blocks in flock(2) itself, in
// a goroutine of its own: the kernel queues the waiters fairly, a polled lock gets a
// tenth of the turns. When it returns an error other than from flock itself the
// goroutine may still be waiting: f then belongs to it and must not be used again.
func waitLock(ctx context.Context, f vfs.LockFile, path string, p patience) (abandoned bool, err error) {
	ok, err := f.TryLock()
	if ok || err != nil {
		return false, err
	}
	got := make(chan error, 1)
	go func() { got <- f.Lock() }()
	limit := p.limit
	if limit == 0 {
		limit = DefaultLockTimeout
	}
	var deadline <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		deadline = t.C
	}
	tell := time.NewTimer(firstNotice)
	defer tell.Stop()
	for {
		select {
		case err := <-got:
			return false, err
		case <-tell.C:
			if p.notice != nil {
				p.notice(fmt.Sprintf("waiting for %s, held by %s", p.what, holderOf(path)))
			}
			tell.Reset(laterNotice)
			continue
		case <-deadline:
			err = &LockedError{Path: path, Holder: holderOf(path)}
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		go func() {
			if <-got == nil {
				_ = f.Unlock()
			}
			_ = f.Close()
		}()
		return true, err
	}
}

// lockFile is one lock of this process: the file, and the proof that it is still the
// one at its path. It keeps the descriptor over many lock and unlock pairs. One
// goroutine at a time may use it.
type lockFile struct {
	fsys    vfs.FS
	path    string
	program string // what the file says of this process: Options.Program
	f       vfs.LockFile
	id      vfs.FileID
	told    bool
}

// tries bounds how often a lock file that is replaced under our hands is opened anew.
const tries = 100

// acquire takes the lock. gone is asked whenever the file at path is another one
// than the one that was locked; its error ends the attempt, nil means that only the
// lock file was replaced, and the new one is taken.
func (l *lockFile) acquire(ctx context.Context, p patience, gone func() error) error {
	for range tries {
		if l.f == nil {
			if err := l.open(); err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					if gerr := gone(); gerr != nil {
						return gerr
					}
				}
				return err
			}
		}
		abandoned, err := waitLock(ctx, l.f, l.path, p)
		if abandoned {
			l.f = nil
			return err
		}
		if err != nil {
			return err
		}
		now, err := vfs.ID(l.fsys, l.path)
		if err == nil && now == l.id {
			l.tell()
			return nil
		}
		l.close()
		if err := gone(); err != nil {
			return err
		}
	}
	return fmt.Errorf("lock %s: the file is replaced all the time", l.path)
}

func (l *lockFile) open() error {
	f, err := l.fsys.OpenLock(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = l.make(); err != nil {
			return err
		}
		f, err = l.fsys.OpenLock(l.path)
	}
	if err != nil {
		return err
	}
	l.f = f
	info, err := f.Stat()
	if err != nil {
		l.close()
		return err
	}
	l.id = vfs.IDOf(info)
	l.told = false
	return nil
}

// make makes the lock file, and the state directory that holds it where that was lost
// with all that was in it. Of several processes that are at it, one makes each of them.
func (l *lockFile) make() error {
	f, err := vfs.OpenOrCreate(l.fsys, l.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = vfs.Mkdir(l.fsys, filepath.Dir(l.path)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		f, err = vfs.OpenOrCreate(l.fsys, l.path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// tell writes once into the lock file who holds it. The words are for people: a
// failure to write them changes nothing.
func (l *lockFile) tell() {
	if l.told {
		return
	}
	l.told = true
	nameHolder(l.f, l.program)
}

func (l *lockFile) release() {
	if l.f != nil {
		_ = l.f.Unlock()
	}
}

func (l *lockFile) close() {
	if l.f != nil {
		_ = l.f.Unlock()
		_ = l.f.Close()
		l.f = nil
	}
}
