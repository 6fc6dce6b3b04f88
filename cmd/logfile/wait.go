package logfile

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is the longest that a change goes unnoticed.
const pollEvery = 250 * time.Millisecond

// Waiter waits for a file to change: it is told by the kernel where that works, and
// looks now and then in any case. It belongs to one goroutine.
type Waiter struct {
	events *fsnotify.Watcher // nil: not to be had
	tried  bool
	inode  Place // of the file that is watched
}

// Wait returns when the reader's file may have changed, or when ctx ends.
func (w *Waiter) Wait(ctx context.Context, r *Reader) {
	w.watch(r)
	t := time.NewTimer(pollEvery)
	defer t.Stop()
	var events chan fsnotify.Event
	var errs chan error
	if w.events != nil {
		events, errs = w.events.Events, w.events.Errors
	}
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-events:
		w.drain()
	case <-errs:
		w.drain()
	}
}

// drain takes the events that have piled up: one look answers them all.
func (w *Waiter) drain() {
	for {
		select {
		case <-w.events.Events:
		case <-w.events.Errors:
		default:
			return
		}
	}
}

// watch lets the kernel tell of changes of the reader's file. It watches the file and
// not its directory, in which others may write all the time; that the file was renamed
// is seen at the next look.
func (w *Waiter) watch(r *Reader) {
	if r.f == nil || w.inode.SameFile(r.id) {
		return
	}
	if !w.tried {
		w.tried = true
		w.events, _ = fsnotify.NewBufferedWatcher(64) // none to be had: looking now and then does
	}
	if w.events == nil {
		return
	}
	for _, name := range w.events.WatchList() {
		w.events.Remove(name)
	}
	// The name may lead to another file by now: then events come from that one, and of
	// this one nothing is told.
	if there, _, err := at(r.path); err == nil && there.SameFile(r.id) && w.events.Add(r.path) == nil {
		w.inode = r.id
	}
}

// Close gives back what the waiter holds.
func (w *Waiter) Close() {
	if w.events != nil {
		w.events.Close()
		w.events = nil
	}
}
