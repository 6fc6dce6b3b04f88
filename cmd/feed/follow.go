package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/klog-project/klog/cmd/logfile"
	"github.com/klog-project/klog/segments/vfs"
)

// FollowOptions say what is followed, and where it is remembered how far.
type FollowOptions struct {
	Path    string // of the file, absolute
	State   string // path of the state file; whoever calls holds a lock on it
	TopicID string // of the topic: the state of another topic of the name does not count
	Home    int32  // where records go that no key binds, unless the state says otherwise
	Durable bool   // the state is synced where that matters for a power failure
	// LastSequence is engine.Writer's, for a partition.
	LastSequence func(ctx context.Context, partition int32, producer int64) (sequence int32, offset int64, ok bool, err error)
	// NewProducer draws a producer id that no partition knows.
	NewProducer func(ctx context.Context) (int64, error)
	// Notice is told in one line what a user should know and is no error.
	Notice func(string)
	FS     vfs.FS // where the state is; nil is the real one
}

// Follow feeds a file as it grows and is rotated, each record once, whatever happened
// to the run before. It goes on until ctx ends or something fails; Options.Inputs do
// not count.
func Follow(ctx context.Context, o Options, fo FollowOptions) (Result, error) {
	if fo.FS == nil {
		fo.FS = vfs.OS
	}
	store, err := openFollowStore(fo.FS, fo.State)
	if err != nil {
		return Result{}, err
	}
	defer store.close()
	o = o.withDefaults()
	f := &follower{o: &o, fo: &fo, store: store}
	if err := f.resume(ctx); err != nil {
		return Result{}, err
	}
	defer f.close()
	o.Workers = 1
	return run(ctx, o, f)
}

// follower reads the chunks of a follow and keeps its state. All of it happens in the
// one worker of the run.
type follower struct {
	o     *Options
	fo    *FollowOptions
	store *followStore
	feed  *feed

	r       *logfile.Reader
	wait    logfile.Waiter
	rest    bool // the file is finished: what Peek finds now is its rest
	scanned int  // bytes of an unfinished record that hold no delimiter
	since   time.Time

	state followState
	seq   *sequences
	at    map[int32]int32 // sequence numbers at the place up to which all is appended
	ends  map[int32]int64 // where the last run's records end in the log
	marks []mark          // places that are not known to be synced yet, oldest first
}

// mark is a place and what had been appended there.
type mark struct {
	safe  int64
	place syncedPlace
}

func (f *follower) close() {
	f.r.Close()
	f.wait.Close()
}

// next returns the next whole records of the file, when they come.
func (f *follower) next(buf *memory) (chunk, error) {
	w := &f.feed.src.wait
	w.listen()
	want := chunkSize
	for {
		if w.ended() {
			return chunk{now: f.feed.src.millis(), end: true}, nil
		}
		buf.grow(logfile.Spare+want, 0)
		b, err := f.r.Peek(buf.b[:logfile.Spare+want])
		if errors.Is(err, logfile.ErrTruncated) {
			err = f.restart()
			want = chunkSize
			if err == nil {
				continue
			}
		}
		if err != nil {
			return chunk{}, err
		}
		if n := f.records(b); n > 0 && f.enough(n) {
			return f.deliver(b[:n]), nil
		}
		if len(b) == want {
			if want >= f.o.Limits.Line {
				if c, err := f.tooLong(b, buf); err != nil || c.end || c.cut > 0 {
					return c, err
				}
				want = chunkSize
				continue
			}
			want *= 2
			continue
		}
		done, err := f.finish(len(b))
		switch {
		case err != nil:
			return chunk{}, err
		case done && len(b) > 0:
			return f.deliver(b), nil // its last line has no newline, and will have none
		case done:
			if err := f.turnPage(); err != nil {
				return chunk{}, err
			}
		}
	}
}

// records is how many bytes of b whole records take, of as many as are wanted at once.
func (f *follower) records(b []byte) int {
	n := f.feed.frame.last(b, f.scanned)
	if n == 0 {
		f.scanned = len(b)
		return 0
	}
	if p := f.feed.pace; p != nil {
		piece, _, _ := p.cut(&f.feed.frame, b[:n])
		n = len(piece)
	}
	return n
}

// enough reports whether to append n bytes of records now, or to wait for more.
func (f *follower) enough(n int) bool {
	if f.o.Linger == 0 || n >= f.o.Limits.Batch {
		return true
	}
	if f.since.IsZero() {
		f.since = time.Now()
	}
	return time.Since(f.since) >= f.o.Linger
}

// deliver takes records, and notes where they lie for the state.
func (f *follower) deliver(b []byte) chunk {
	f.state.From, f.state.To = f.r.Place(), f.r.PlaceAfter(b)
	f.r.Take(b)
	f.state.Size = f.state.To.Position + f.r.Unread()
	f.scanned, f.since = 0, time.Time{}
	return chunk{data: b, now: f.feed.src.millis()}
}

// finish waits until there may be more than the unread bytes that were found, and
// reports whether the file is at its end for good.
func (f *follower) finish(unread int) (bool, error) {
	finished, err := f.r.Finished()
	if err != nil {
		return false, err
	}
	if finished {
		// What was added between the look at the end and the look at the path is found
		// by one more look at the end.
		done := f.rest
		f.rest = true
		return done, nil
	}
	f.wait.Wait(f.feed.src.wait.ctx, f.r)
	return false, nil
}

// tooLong passes over a record that is longer than is kept. Its first bytes are b.
func (f *follower) tooLong(b []byte, buf *memory) (chunk, error) {
	from, kept := f.r.Place(), bytes.Clone(b[:f.o.Limits.Line])
	delim := len(f.feed.frame.delim)
	var window []byte // behind the last bytes before it, in which a delimiter may begin
	var size, before int
	for !f.feed.src.wait.ended() {
		window = append(window[:before], b...)
		end, next := f.feed.frame.first(window)
		if end >= 0 {
			f.r.Take(b[:next-before])
			return f.cut(from, kept, size+end-before), nil
		}
		size += len(b)
		f.r.Take(b)
		before = copy(window, window[max(0, len(window)-delim+1):])
		done, err := len(b) == 0, error(nil)
		if done {
			done, err = f.finish(0)
		}
		if err == nil && done {
			return f.cut(from, kept, size), nil
		}
		if err == nil {
			b, err = f.r.Peek(buf.b)
		}
		if errors.Is(err, logfile.ErrTruncated) {
			return chunk{}, f.restart()
		}
		if err != nil {
			return chunk{}, err
		}
	}
	return chunk{end: true}, nil
}

// cut is the chunk of a record of which only the beginning is kept.
func (f *follower) cut(from logfile.Place, kept []byte, size int) chunk {
	f.state.From, f.state.To = from, f.r.Place()
	f.state.Size = f.state.To.Position + f.r.Unread()
	f.scanned, f.since = 0, time.Time{}
	return chunk{data: kept, cut: int64(size), now: f.feed.src.millis()}
}

// restart goes to the beginning of a file that was truncated.
func (f *follower) restart() error {
	f.fo.Notice(fmt.Sprintf("%s was truncated: it is read from its beginning%s", f.fo.Path, lostBytes(f.r.Unread())))
	if err := f.r.Restart(); err != nil {
		return err
	}
	return f.newPage()
}

func lostBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d bytes that were not read are lost", n)
}

// turnPage goes on to the file that has taken the place of a finished one.
func (f *follower) turnPage() error {
	if err := f.r.Next(); err != nil {
		return err
	}
	return f.newPage()
}

// newPage stores that a file was begun. Everything of the one before is made durable
// first: no place in it can be counted from any more.
func (f *follower) newPage() error {
	f.scanned, f.since, f.rest = 0, time.Time{}, false
	if f.fo.Durable {
		if err := f.feed.d.durable.syncEverything(f.feed.d.ctx); err != nil {
			return err
		}
	}
	return f.saveClean(f.r.Place())
}

// saveClean stores that all before a place is appended, and synced where that matters.
func (f *follower) saveClean(p logfile.Place) error {
	f.state.From, f.state.To, f.state.Size = p, p, p.Position+f.r.Unread()
	f.state.Sequences = f.parts(nil)
	f.state.Synced = syncedPlace{p, f.state.Sequences}
	f.marks = f.marks[:0]
	return f.store.save(&f.state, f.fo.Durable)
}

// before stores what is about to be appended.
func (f *follower) before(e *encoder) error {
	known := f.feed.d.durable.knownSafe()
	for len(f.marks) > 0 && f.marks[0].safe <= known {
		f.state.Synced = f.marks[0].place
		f.marks = f.marks[1:]
	}
	f.state.Sequences = f.parts(f.counts(e))
	return f.store.save(&f.state, false)
}

// after takes note of what has been appended.
func (f *follower) after(e *encoder) {
	for p, n := range f.counts(e) {
		f.at[p] = plus(f.at[p], n)
	}
	// Many marks would be of no use: at the next sync all but the last are passed.
	m := mark{f.feed.d.res.Safe + e.already + doneIn(e), syncedPlace{f.state.To, f.parts(nil)}}
	if len(f.marks) < 100 {
		f.marks = append(f.marks, m)
	} else {
		f.marks[len(f.marks)-1] = m
	}
}

// doneIn counts the input records in the encoder's batches.
func doneIn(e *encoder) (n int64) {
	for _, b := range e.batches {
		n += b.done
	}
	return n
}

// counts is how many records of the chunk each partition has or gets, those that an
// earlier run has appended included.
func (f *follower) counts(e *encoder) map[int32]int64 {
	counts := map[int32]int64{}
	for _, b := range e.batches {
		counts[b.partition] += int64(b.records)
	}
	for p, n := range f.seq.was.skip {
		if passed := n - f.seq.skip[p]; passed > 0 {
			counts[p] += passed
		}
	}
	return counts
}

// parts lists the partitions with their sequence numbers at the place up to which all
// is appended, and how many records are to come.
func (f *follower) parts(counts map[int32]int64) []followedPart {
	all := maps.Clone(f.at)
	for p := range counts {
		if _, ok := all[p]; !ok {
			all[p] = 0
		}
	}
	list := make([]followedPart, 0, len(all))
	for _, p := range slices.Sorted(maps.Keys(all)) {
		list = append(list, followedPart{p, all[p], counts[p]})
	}
	return list
}

// plus adds to a sequence number, which goes from 2^31-1 to 0.
func plus(sequence int32, n int64) int32 { return int32((int64(sequence) + n) & (1<<31 - 1)) }
