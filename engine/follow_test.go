package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// followAll follows a topic's partitions from their beginnings.
func followAll(t testing.TB, top *engine.Topic) *engine.Follower {
	t.Helper()
	var readers []*engine.Reader
	for _, v := range viewsOf(t, top) {
		r, err := v.Reader(engine.ReaderOptions{From: v.Start(), Until: -1})
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	f := engine.NewFollower(readers, engine.FollowOptions{Topic: top, Notice: func(s string) { t.Log(s) }})
	t.Cleanup(func() { f.Close() })
	return f
}

// take reads n more records from a follower, in time.
func take(t testing.TB, f *engine.Follower, n int) (values []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(values) < n {
		_, rec, err := f.Next()
		switch {
		case err == nil:
			values = append(values, string(rec.Value))
		case err != io.EOF:
			t.Fatal(err)
		default:
			if err := f.Wait(ctx); err != nil {
				t.Fatalf("after %d records of %d: %v", len(values), n, err)
			}
		}
	}
	return values
}

func TestG082EveryBurstIsSeen(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	top := partitionsOf(t, map[string]string{"segment.bytes": "1024"}, nil)
	w := writerTo(t, top, 0)
	f := followAll(t, top)
	defer f.Close()
	next := 0
	for burst := range 20 {
		for range 30 {
			put(t, w, int64(burst), int64(burst))
		}
		if got := take(t, f, 60); got[0] != fmt.Sprint(burst) || got[59] != fmt.Sprint(burst) {
			t.Fatalf("burst %d: got %v", burst, got)
		}
		next += 60
	}
	if _, _, err := f.Next(); err != io.EOF {
		t.Errorf("after the last burst: %v, want io.EOF", err)
	}
}

func TestG060PartitionsAddedLater(t *testing.T) {
	top := partitionsOf(t, nil, [][]int64{{1}})
	f := followAll(t, top)
	take(t, f, 1)
	if _, err := top.Root().AlterTopic(t.Context(), "orders", engine.Alteration{Partitions: 4}); err != nil {
		t.Fatal(err)
	}
	now, err := top.Root().Topic("orders")
	if err != nil {
		t.Fatal(err)
	}
	put(t, writerTo(t, now, 3), 42)
	if got := take(t, f, 1); got[0] != "42" {
		t.Errorf("got %v, want what the new partition holds", got)
	}
}

func TestFollowerEndsWhenTheTopicDoes(t *testing.T) {
	for name, change := range map[string]func(*engine.Root) error{
		"deleted": func(r *engine.Root) error {
			_, err := r.DeleteTopic(t.Context(), "orders", false)
			return err
		},
		"deleted for good": func(r *engine.Root) error {
			_, err := r.DeleteTopic(t.Context(), "orders", true)
			return err
		},
		"renamed": func(r *engine.Root) error {
			_, err := r.RenameTopic(t.Context(), "orders", "other")
			return err
		},
		"replaced": func(r *engine.Root) error {
			if _, err := r.DeleteTopic(t.Context(), "orders", false); err != nil {
				return err
			}
			_, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 1})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := partitionsOf(t, nil, [][]int64{{1}})
			f := followAll(t, top)
			take(t, f, 1)
			if err := change(top.Root()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := error(io.EOF)
			for err == io.EOF {
				if err = f.Wait(ctx); err == nil {
					_, _, err = f.Next()
				}
			}
			if !errors.Is(err, engine.ErrTopicGone) {
				t.Errorf("got %v, want ErrTopicGone", err)
			}
		})
	}
}

// Many partitions are followed with few files open.
func TestG125FewFilesOpen(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	const n = 100
	lots := make([][][]int64, n)
	for i := range lots {
		lots[i] = [][]int64{{int64(i)}}
	}
	top := partitionsOf(t, nil, lots...)
	before := openFiles(t)
	f := followAll(t, top)
	take(t, f, n)
	sel, err := engine.Select(viewsOf(t, top), engine.Position{}, engine.Position{Anchor: engine.AtLatest}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := mergedTimes(t, sel); len(got) != n {
		t.Errorf("merged %d records, want %d", len(got), n)
	}
	// The writers above are still open.
	if now := openFiles(t); now > before+16 {
		t.Errorf("%d files open, %d before", now, before)
	}
	put(t, writerTo(t, top, 77), 4711)
	if got := take(t, f, 1); got[0] != "4711" {
		t.Errorf("got %v", got)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func TestWakerPollsWhereEventsAreLost(t *testing.T) {
	w := engine.NewWaker(nil)
	defer w.Close()
	dir := t.TempDir()
	w.Watch(dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := os.WriteFile(dir+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs, all, err := w.Wait(ctx, false)
	if err != nil || !all && (len(dirs) != 1 || dirs[0] != dir) {
		t.Errorf("got %v, %v, %v; want the directory", dirs, all, err)
	}
	// Nothing happens any more, and it says "look everywhere" all the same.
	for {
		_, all, err := w.Wait(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if all {
			return
		}
	}
}

// Undecided transactions hold a follower of committed records back.
func TestCommittedFollowerWaitsForTheMarker(t *testing.T) {
	top := partitionsOf(t, nil, nil)
	w := writerTo(t, top, 0)
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.View(engine.ViewOptions{Committed: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Reader(engine.ReaderOptions{Until: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := engine.NewFollower([]*engine.Reader{r}, engine.FollowOptions{})
	defer f.Close()
	put(t, w, 1)
	take(t, f, 1)
	transactional(t, w, 7, "aborted")
	transactional(t, w, 8, "committed")
	put(t, w, 2)
	if _, rec, err := f.Next(); err != io.EOF {
		t.Fatalf("before any marker: %v, %v; want io.EOF", rec, err)
	}
	end(t, w, 8, segments.CommitMarker)
	if _, rec, err := f.Next(); err != io.EOF {
		t.Fatalf("the older transaction is open: %v, %v; want io.EOF", rec, err)
	}
	end(t, w, 7, segments.AbortMarker)
	put(t, w, 3)
	if got := take(t, f, 3); fmt.Sprint(got) != "[committed 2 3]" {
		t.Errorf("got %v, want [committed 2 3]", got)
	}
}

func transactional(t testing.TB, w *engine.Writer, producer int64, value string) {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{HasProducer: true, ProducerID: producer, Transactional: true})
	b.Append(5, nil, []byte(value), nil)
	raw, err := b.Finish()
	if err == nil {
		_, err = w.Append(t.Context(), raw)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func end(t testing.TB, w *engine.Writer, producer int64, how segments.ControlType) {
	t.Helper()
	raw := segments.AppendMarker(nil, segments.Marker{Type: how, ProducerID: producer, Timestamp: 6})
	if _, err := w.Append(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
}
