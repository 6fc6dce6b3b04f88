package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/klog-project/klog/segments/vfs"
)

// Waker wakes who waits for something new in directories. Events of the file system
// make it quick; a poll makes it certain, so that a missed event costs time and never
// data. On file systems shared with other hosts, and where no events are to be had, it
// polls alone, soon after something has come and less often while nothing does.
//
// To miss nothing, watch a directory first and look into it afterwards, then Wait. A
// Waker belongs to one goroutine.
type Waker struct {
	notice func(string)
	events *fsnotify.Watcher // nil: none made yet, or none to be had
	failed bool              // it was said that there are no events
	deaf   int               // directories that no events come from

	dirs  map[string]bool // the watched ones; true: with events
	quiet time.Duration   // the pause between polls without events: grows while nothing comes
	due   time.Time       // when the next poll is
}

// The pauses between polls.
const (
	quietestFew  = 250 * time.Millisecond
	quietestMany = 2 * time.Second
	quickest     = 5 * time.Millisecond
	few          = 64 // directories
)

// NewWaker returns a Waker that watches nothing yet. notice receives one line if the
// system gives it no events although it should; nil drops it.
func NewWaker(notice func(line string)) *Waker {
	return &Waker{notice: notice, dirs: make(map[string]bool), quiet: quickest}
}

// Watch begins to watch a directory.
func (w *Waker) Watch(dir string) {
	if _, ok := w.dirs[dir]; ok {
		return
	}
	heard := w.listen(dir)
	w.dirs[dir] = heard
	if !heard {
		w.deaf++
	}
	w.due = time.Time{}
}

// listen asks for the events of a directory.
func (w *Waker) listen(dir string) bool {
	if t, err := vfs.FSType(dir); err == nil && t.Shared {
		return false
	}
	if w.events == nil && !w.failed {
		var err error
		if w.events, err = fsnotify.NewBufferedWatcher(256); err != nil {
			w.events = nil
			w.fail(err)
		}
	}
	if w.events == nil {
		return false
	}
	if err := w.events.Add(dir); err != nil {
		w.fail(err)
		return false
	}
	return true
}

// fail says once that there are no events. A directory that is gone is for its reader
// to tell.
func (w *Waker) fail(err error) {
	if w.failed || errors.Is(err, syscall.ENOENT) {
		return
	}
	w.failed = true
	why := err.Error()
	switch {
	case errors.Is(err, syscall.ENOSPC):
		why = "the limit of inotify watches is reached (fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE):
		why = "the limit of inotify instances or open files is reached (fs.inotify.max_user_instances, ulimit -n)"
	}
	if w.notice != nil {
		w.notice(fmt.Sprintf("no events from the file system: %s; polling instead", why))
	}
}

// Unwatch ends the watch of a directory.
func (w *Waker) Unwatch(dir string) {
	heard, ok := w.dirs[dir]
	if !ok {
		return
	}
	delete(w.dirs, dir)
	if !heard {
		w.deaf--
	} else if w.events != nil {
		_ = w.events.Remove(dir) // gone with the directory, perhaps
	}
}

// Close ends all watches.
func (w *Waker) Close() error {
	if w.events == nil {
		return nil
	}
	return w.events.Close()
}

// Wait waits until something may have changed in a watched directory and returns
// those; all is true where any of them may have. Changes since the last Wait count. The
// error is ctx's cause.
//
// busy tells whether something was found since the last Wait.
func (w *Waker) Wait(ctx context.Context, busy bool) (dirs []string, all bool, err error) {
	if dirs, all = w.pending(nil); all || len(dirs) > 0 {
		return dirs, all, nil
	}
	pause := w.pause(busy)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	var events chan fsnotify.Event
	var errs chan error
	if w.events != nil {
		events, errs = w.events.Events, w.events.Errors
	}
	select {
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	case <-timer.C:
		w.due = time.Time{}
		return nil, true, nil
	case e := <-events:
		dirs, all = w.pending(w.changed(nil, e))
		return dirs, all, nil
	case <-errs:
		// Events were lost: only looking everywhere finds what they told of.
		return nil, true, nil
	}
}

// pause is the time until the next poll. Events do not put it off.
func (w *Waker) pause(busy bool) time.Duration {
	longest := quietestFew
	if len(w.dirs) > few {
		longest = quietestMany
	}
	now := time.Now()
	if w.deaf == 0 {
		if w.due.IsZero() {
			w.due = now.Add(longest)
		}
		return max(0, w.due.Sub(now))
	}
	w.quiet = min(w.quiet*3/2, longest)
	if busy {
		w.quiet = quickest
	}
	return w.quiet
}

// pending takes the events that are there already.
func (w *Waker) pending(dirs []string) ([]string, bool) {
	if w.events == nil {
		return dirs, false
	}
	const most = 1000 // a busy writer must not keep us here
	for range most {
		select {
		case e := <-w.events.Events:
			dirs = w.changed(dirs, e)
		case <-w.events.Errors:
			return nil, true
		default:
			return dirs, false
		}
	}
	return dirs, false
}

// changed adds the watched directory that an event tells of.
func (w *Waker) changed(dirs []string, e fsnotify.Event) []string {
	dir := e.Name
	if _, ok := w.dirs[dir]; !ok {
		dir = filepath.Dir(dir)
	}
	if _, ok := w.dirs[dir]; ok && !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}
