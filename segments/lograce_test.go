package segments_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// retire takes the first n segments away as retention does: off the list, then the
// files.
func (p *partition) retire(n int) {
	gone := p.listed[:n]
	p.listed = p.listed[n:]
	if p.keepList {
		if err := segments.RewriteList(vfs.OS, p.dir, p.listed, nil); err != nil {
			p.t.Error(err)
		}
	}
	for _, s := range gone {
		for _, suffix := range []string{segments.LogSuffix, segments.IndexSuffix, segments.TimeIndexSuffix} {
			deleted := p.path(s.Base, suffix+segments.DeletedSuffix)
			if err := os.Rename(p.path(s.Base, suffix), deleted); err != nil {
				p.t.Error(err)
			}
			os.Remove(deleted)
		}
	}
	if p.keepList {
		p.list()
	}
}

// Readers beside rolls and retention see every offset, or are told which are gone; a
// listing made during renames and removals never makes them pass over one.
func TestG083ReadersBesideRollsAndRetention(t *testing.T) {
	for _, keepList := range []bool{true, false} {
		t.Run(fmt.Sprintf("list %v", keepList), func(t *testing.T) {
			p := newPartition(t, 400)
			p.keepList = keepList
			for len(p.listed) < 200 {
				p.plain(2)
			}
			var end atomic.Int64
			end.Store(p.next)
			var stop atomic.Bool
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for !stop.Load() {
						if err := readContinuous(p.dir, end.Load()); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for range 400 {
				p.plain(3)
				end.Store(p.next)
				if len(p.listed) > 150 {
					p.retire(7)
				}
			}
			stop.Store(true)
			readers.Wait()
		})
	}
}

// readContinuous reads a log whose end is at least atLeast from its start on.
func readContinuous(dir string, atLeast int64) error {
	l, err := segments.OpenLog(dir, segments.LogOptions{})
	if err != nil {
		return err
	}
	r := l.Reader(l.Start())
	defer r.Close()
	next := l.Start()
	for {
		b, err := r.Next()
		var gap *segments.GapError
		switch {
		case err == io.EOF && next < atLeast:
			return fmt.Errorf("the log ends at %d, it had %d", next, atLeast)
		case err == io.EOF:
			return nil
		case errors.As(err, &gap) && !gap.Missing && gap.First == next:
			next = gap.Last + 1
			continue
		case err != nil:
			return fmt.Errorf("at %d: %w", next, err)
		case b.BaseOffset != next:
			return fmt.Errorf("at %d: batch at %d", next, b.BaseOffset)
		}
		next = b.LastOffset() + 1
	}
}

// A long list that is replaced while it is used is read anew.
func TestListReplacedUnderTheReader(t *testing.T) {
	p := newPartition(t, 300)
	p.keepList = true
	for len(p.listed) < 400 {
		p.plain(2)
	}
	l := p.open()
	r := l.Reader(0)
	defer r.Close()
	for range 5 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	p.retire(200)
	recs, reported := drain(t, r, r.Offset())
	var gap *segments.GapError
	if len(reported) != 1 || !errors.As(reported[0], &gap) || gap.Missing || gap.Last != p.listed[0].Base-1 {
		t.Fatalf("reported %v, want the gap up to %d", reported, p.listed[0].Base)
	}
	// What was open is read to its end.
	want := append(span(10, gap.First), span(p.listed[0].Base, p.next)...)
	if diff := cmp.Diff(want, offsets(recs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if end, err := l.End(); end != p.next || err != nil {
		t.Errorf("end = %d, %v", end, err)
	}
}
