package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/segments/vfs"
)

func TestFollowStateSurvivesAKillAtEveryCall(t *testing.T) {
	fresh := func() vfs.FS {
		m := vfs.NewMem()
		if err := m.Mkdir("/follow", 0o700); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for fault := range vfs.EachKill(fresh, func(c vfs.Call) bool { return c.Kind.Changes() }) {
		saved, _ := feed.SaveStates(fault, "/follow/s", 1, 12)
		got, err := feed.LoadState(fault.Base(), "/follow/s")
		if err != nil || got < saved || got > saved+1 {
			t.Fatalf("killed at %v after state %d: found state %d, %v", fault.Fired(), saved, got, err)
		}
		if saved, err := feed.SaveStates(fault.Base(), "/follow/s", got+1, got+3); err != nil || saved != got+3 {
			t.Fatalf("killed at %v, then: saved %d, %v", fault.Fired(), saved, err)
		}
	}
}

func TestFollowStateSurvivesAPowerFailure(t *testing.T) {
	for seed := range uint64(200) {
		m := vfs.NewMem()
		if err := m.Mkdir("/follow", 0o700); err != nil {
			t.Fatal(err)
		}
		m.SyncDir("/")
		if _, err := feed.SaveStates(m, "/follow/s", 1, 11); err != nil {
			t.Fatal(err)
		}
		// The ninth was the last one that was synced.
		if got, err := feed.LoadState(m.Crash(seed), "/follow/s"); err != nil || got < 9 {
			t.Fatalf("seed %d: found state %d, %v", seed, got, err)
		}
	}
}

// world is a followed file, a topic, and what should be in it.
type world struct {
	t     *testing.T
	tp    *topic
	fs    vfs.FS
	path  string
	keyed bool
	lines []string
	said  []string
	ids   int64
	turns int // of rotation
}

func newWorld(t *testing.T, partitions int) *world {
	m := vfs.NewMem()
	if err := m.Mkdir("/follow", 0o700); err != nil {
		t.Fatal(err)
	}
	m.SyncDir("/")
	return &world{t: t, tp: newTopic(partitions), fs: m, path: filepath.Join(t.TempDir(), "log"), keyed: partitions > 1}
}

// add writes n lines, and text behind them.
func (w *world) add(n int, text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for range n {
		line := fmt.Sprintf("%d:line %s", len(w.lines)%7, strings.Repeat("z", len(w.lines)%50))
		line += fmt.Sprint(" ", len(w.lines))
		w.lines = append(w.lines, line)
		b.WriteString(line + "\n")
	}
	if _, err := f.WriteString(b.String() + text); err != nil {
		w.t.Fatal(err)
	}
}

// rotate renames the file, which a writer finished long ago.
func (w *world) rotate() {
	w.turns++
	name := fmt.Sprint(w.path, ".", w.turns)
	if err := os.Rename(w.path, name); err != nil {
		w.t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	os.Chtimes(name, long, long)
}

func (w *world) options() (feed.Options, feed.FollowOptions) {
	o := feed.Options{
		Target:    w.tp.target(),
		Partition: -1,
		Limits:    feed.Limits{Message: 1 << 20, Batch: 700, Line: 2 << 20, Earliest: 1 << 62, Latest: 1 << 62},
		Sync:      feed.Sync{Exit: true},
	}
	if w.keyed {
		o.KeyDelimiter = []byte(":")
	}
	fo := feed.FollowOptions{
		Path: w.path, State: "/follow/s", TopicID: "id", FS: w.fs, Durable: true,
		LastSequence: func(_ context.Context, p int32, id int64) (int32, int64, bool, error) {
			w.tp.mu.Lock()
			defer w.tp.mu.Unlock()
			next, offset, ok := w.tp.parts[p].next(id)
			return (next - 1) & (1<<31 - 1), offset, ok, nil
		},
		NewProducer: func(context.Context) (int64, error) { w.ids++; return w.ids, nil },
		Notice:      func(s string) { w.said = append(w.said, s) },
	}
	return o, fo
}

// got are the lines in the topic, in the order of the file.
func (w *world) got() []string {
	var all []string
	for p := range w.tp.parts {
		w.tp.mu.Lock()
		for _, r := range w.tp.parts[p].records {
			v := string(r.Value)
			if w.keyed {
				v = string(r.Key) + ":" + v
			}
			all = append(all, v)
		}
		w.tp.mu.Unlock()
	}
	if len(w.tp.parts) > 1 {
		slices.SortStableFunc(all, func(a, b string) int { return lineNumber(a) - lineNumber(b) })
	}
	return all
}

func lineNumber(s string) (n int) {
	fmt.Sscan(s[strings.LastIndexByte(s, ' ')+1:], &n)
	return n
}

// follow runs until everything is in the topic, or the run ends by itself.
func (w *world) follow() error {
	w.t.Helper()
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	o, fo := w.options()
	done := make(chan error, 1)
	go func() {
		_, err := feed.Follow(ctx, o, fo)
		done <- err
	}()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Microsecond) {
		select {
		case err := <-done:
			return err
		default:
		}
		if len(w.got()) >= len(w.lines) {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("not within 20 s: %d of %d lines; said %q", len(w.got()), len(w.lines), w.said)
		}
	}
	cancel(errSignal)
	return <-done
}

// caughtUp follows to the end and compares.
func (w *world) caughtUp(when string) {
	w.t.Helper()
	if err := w.follow(); !errors.Is(err, errSignal) {
		w.t.Fatalf("%s: %v", when, err)
	}
	if diff := cmp.Diff(w.lines, w.got()); diff != "" {
		w.t.Fatalf("%s: lines (-want +got):\n%.2000s\nsaid %q", when, diff, w.said)
	}
}

func TestFollowReadsEachLineOnce(t *testing.T) {
	for _, partitions := range []int{1, 4} {
		w := newWorld(t, partitions)
		w.add(100, "half of a line")
		w.caughtUp("first run")
		w.caughtUp("nothing new")
		// The rest of the line makes it one.
		w.lines = append(w.lines, "half of a line is 3:x 100")
		f, _ := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND, 0)
		f.WriteString(" is 3:x 100\n")
		f.Close()
		w.caughtUp("the line was finished")
		w.add(50, "")
		w.rotate()
		w.add(50, "")
		w.caughtUp("rotated")
		os.Truncate(w.path, 0)
		w.add(20, "")
		w.caughtUp("truncated")
		if partitions == 1 && len(w.said) == 0 {
			t.Error("nobody was told of the truncation")
		}
	}
}

func TestFollowAppendsTheUnfinishedLineOfARotatedFile(t *testing.T) {
	w := newWorld(t, 1)
	w.add(3, "the end 3")
	w.caughtUp("first")
	w.lines = append(w.lines, "the end 3")
	w.rotate()
	w.add(2, "")
	w.caughtUp("rotated")
}

func TestFollowWaitsForTheFile(t *testing.T) {
	w := newWorld(t, 1)
	w.caughtUp("no file")
	w.add(3, "")
	w.caughtUp("a file")
}

// A run that ends between the batches of an append, or before or behind it, is taken up
// so that each line is there once.
func TestFollowIsResumedExactly(t *testing.T) {
	for _, partitions := range []int{1, 4} {
		for _, rotated := range []bool{false, true} {
			for stop := range 30 {
				w := newWorld(t, partitions)
				w.add(60, "")
				batches := 0
				w.tp.refuse = func(int32, int64) error {
					if batches++; batches > stop {
						return syscall.ENOSPC
					}
					return nil
				}
				err := w.follow()
				full := errors.Is(err, syscall.ENOSPC)
				w.tp.refuse = nil
				w.add(30, "")
				if rotated {
					w.rotate()
					w.add(10, "")
				}
				w.caughtUp(fmt.Sprintf("%d partitions, stopped after %d batches", partitions, stop))
				if !full {
					break
				}
			}
		}
	}
}

// The state can be stored or not, in part or wholly.
func TestFollowIsResumedAfterAFailureOfItsState(t *testing.T) {
	w := newWorld(t, 1)
	base := w.fs
	for stop := 1; stop < 40; stop++ {
		w.add(25, "")
		calls := 0
		w.fs = vfs.NewFault(base, func(c vfs.Call) error {
			if c.Kind.Changes() {
				if calls++; calls == stop {
					return &vfs.ShortWrite{Done: 30, Err: syscall.EIO}
				}
			}
			return nil
		})
		if err := w.follow(); !errors.Is(err, syscall.EIO) && !errors.Is(err, errSignal) {
			t.Fatal(err)
		}
		w.fs = base
		w.caughtUp(fmt.Sprintf("its call %d failed", stop))
	}
}

func TestFollowSurvivesAPowerFailure(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t, 1+int(seed%2)*3)
		w.add(1, "")
		w.caughtUp("first")
		for range 4 {
			w.add(rnd.IntN(60), "")
			if rnd.IntN(3) == 0 {
				w.rotate()
				w.add(1+rnd.IntN(20), "")
			}
			stop := rnd.IntN(12)
			w.tp.refuse = func(int32, int64) error {
				if stop--; stop < 0 {
					return syscall.EIO
				}
				return nil
			}
			if err := w.follow(); errors.Is(err, errSignal) || rnd.IntN(2) == 0 {
				continue
			}
			// The machine loses power: of log and state only what was synced is sure.
			// The failed run synced at its end, so some of it is taken back.
			w.tp.refuse = nil
			for p := range w.tp.parts {
				part := &w.tp.parts[p]
				part.synced = min(part.synced, int64(len(part.records)))
			}
			w.tp.cut()
			w.fs = w.fs.(*vfs.Mem).Crash(seed)
		}
		w.tp.refuse = nil
		w.caughtUp(fmt.Sprintf("seed %d", seed))
	}
}

func TestFollowTellsWhatIsLost(t *testing.T) {
	w := newWorld(t, 1)
	w.add(50, "")
	w.caughtUp("first")
	w.add(10, "")
	lost := w.lines[50:]
	w.lines = w.lines[:50]
	size := 0
	for _, l := range lost {
		size += len(l) + 1
	}
	os.Remove(w.path)
	w.add(10, "")
	w.caughtUp("removed")
	if len(w.said) != 1 || !strings.Contains(w.said[0], "is gone") {
		t.Errorf("said %q", w.said)
	}
}

func TestFollowOfARecreatedTopicBeginsAnew(t *testing.T) {
	w := newWorld(t, 1)
	w.add(10, "")
	w.caughtUp("first")
	w.tp = newTopic(1)
	o, fo := w.options()
	fo.TopicID = "another"
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := feed.Follow(ctx, o, fo)
		done <- err
	}()
	until(t, "all lines are in the new topic", func() bool { return len(w.got()) == 10 })
	cancel(errSignal)
	<-done
	if diff := cmp.Diff(w.lines, w.got()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
