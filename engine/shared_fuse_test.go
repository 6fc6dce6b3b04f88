//go:build fuse && linux

package engine_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
)

// onTwoMounts makes a root with one topic on a shared directory and opens its partition
// as each of two hosts does.
func onTwoMounts(t *testing.T, config map[string]string) (a, b *engine.Partition) {
	t.Helper()
	m, n := twoMounts(t, cached)
	root := filepath.Join(m.Dir, "root")
	o := engine.DoctorOptions{Start: startHelper, Peer: startHelper, PeerDir: filepath.Join(n.Dir, "root"), PeerName: "beta"}
	if r, err := engine.EnableShared(t.Context(), root, o); err != nil || !r.Enabled {
		t.Fatalf("%v\n%s", err, report(t, r))
	}
	top := topicIn(t, root, "orders", config)
	a, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := engine.Create(filepath.Join(n.Dir, "root"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	top, err = other.Topic("orders")
	if err != nil {
		t.Fatal(err)
	}
	b, err = top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// values reads the whole partition.
func values(t *testing.T, p *engine.Partition) []string {
	t.Helper()
	r, err := p.Reader(engine.ReaderOptions{Until: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []string
	for {
		rec, err := r.Next()
		if isEnd(err) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Offset != int64(len(all)) {
			t.Fatalf("offset %d where %d comes next", rec.Offset, len(all))
		}
		all = append(all, string(rec.Value))
	}
}

// TestG033FuseWritersOnTwoMountsOverwriteNothing lets two hosts append at once, over several
// segments, and then looks for every record at the offset that was acknowledged.
func TestG033FuseWritersOnTwoMountsOverwriteNothing(t *testing.T) {
	const appends = 60
	a, b := onTwoMounts(t, map[string]string{"segment.bytes": "2000"})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := make(map[int64]string)
	for host, p := range map[string]*engine.Partition{"alpha": a, "beta": b} {
		wg.Go(func() {
			w, err := p.OpenWriter(engine.WriterOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			for i := range appends {
				value := fmt.Sprintf("%s %d", host, i)
				got, err := w.Append(t.Context(), batch(t, value))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if old, ok := acked[got.First]; ok {
					t.Errorf("offset %d was given to %q and to %q", got.First, old, value)
				}
				acked[got.First] = value
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for host, p := range map[string]*engine.Partition{"alpha": a, "beta": b} {
		got := values(t, p)
		if len(got) != 2*appends {
			t.Errorf("%s sees %d records", host, len(got))
		}
		for off, want := range acked {
			if off >= int64(len(got)) || got[off] != want {
				t.Errorf("%s: not %q at offset %d", host, want, off)
			}
		}
	}
}

// TestG033FuseWriterDoesNotBelieveWhatItsHostHasCached lets one host fill its caches by
// reading, the other append, and then the first one append with the writer it has had
// open all the time.
func TestG033FuseWriterDoesNotBelieveWhatItsHostHasCached(t *testing.T) {
	a, b := onTwoMounts(t, nil)
	wa, wb := openPartitionWriter(t, a), openPartitionWriter(t, b)
	var want []string
	add := func(w *engine.Writer) {
		value := fmt.Sprint("record ", len(want))
		got, err := w.Append(t.Context(), batch(t, value))
		if err != nil {
			t.Fatal(err)
		}
		if got.First != int64(len(want)) {
			t.Fatalf("record %d got offset %d", len(want), got.First)
		}
		want = append(want, value)
	}
	read := func(p *engine.Partition) {
		if got := values(t, p); !slices.Equal(got, want) {
			t.Fatalf("read %q, not %q", got, want)
		}
	}
	for range 4 {
		add(wa)
		read(a)
		add(wb)
		add(wb)
		read(b)
	}
	read(a)
}

func openPartitionWriter(t *testing.T, p *engine.Partition) *engine.Writer {
	t.Helper()
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// TestFuseReaderSeesWhatAnotherHostAppends keeps one reader open beside a writer on the other
// mount, across rolls.
func TestFuseReaderSeesWhatAnotherHostAppends(t *testing.T) {
	a, b := onTwoMounts(t, map[string]string{"segment.bytes": "1000"})
	r, err := b.Reader(engine.ReaderOptions{Until: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := a.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 40 {
		want := fmt.Sprintf("%d %s", i, strings.Repeat("x", 50))
		if _, err := w.Append(t.Context(), batch(t, want)); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(30 * time.Second)
		rec, err := r.Next()
		for isEnd(err) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond) // as a follower polls
			rec, err = r.Next()
		}
		if err != nil || string(rec.Value) != want {
			t.Fatalf("record %d: %v", i, err)
		}
	}
}

// isEnd reports whether a reader has come to the present end.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
