package segments_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// partition writes a partition's directory batch by batch, as a broker would.
type partition struct {
	t        testing.TB
	dir      string
	interval int   // index.interval.bytes
	maxSize  int64 // segment.bytes
	keepList bool

	base, size, next int64
	index            segments.IndexState
	listed           []segments.SegmentInfo
	builder          segments.Builder
}

func newPartition(t testing.TB, maxSize int64) *partition {
	t.Helper()
	p := &partition{t: t, dir: filepath.Join(t.TempDir(), "orders-0"), interval: 200, maxSize: maxSize, base: -1}
	if err := os.MkdirAll(filepath.Join(p.dir, ".klog"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// rec is a record to be written.
type rec struct {
	ts    int64
	value string
}

// batch appends a batch of records with rising offsets, compressed with codec, and
// returns its base offset.
func (p *partition) batch(o segments.BatchOptions, recs ...rec) int64 {
	p.t.Helper()
	p.builder.Start(nil, o)
	for _, r := range recs {
		p.builder.Append(r.ts, nil, []byte(r.value), nil)
	}
	raw, err := p.builder.Finish()
	if err != nil {
		p.t.Fatal(err)
	}
	return p.raw(raw)
}

// plain appends one batch of n records that hold their offsets, a millisecond apart.
func (p *partition) plain(n int) int64 {
	recs := make([]rec, n)
	for i := range recs {
		at := p.next + int64(i)
		recs[i] = rec{ts: 1_700_000_000_000 + at, value: fmt.Sprintf("value %d", at)}
	}
	return p.batch(segments.BatchOptions{}, recs...)
}

// raw appends an encoded batch at the next offset.
func (p *partition) raw(raw []byte) int64 {
	p.t.Helper()
	b, err := segments.ParseBatch(raw, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.base < 0 || p.size > 0 && p.size+b.Size() > p.maxSize {
		p.roll()
	}
	first := p.next
	segments.SetBaseOffset(raw, first)
	b, err = segments.ParseBatch(raw, p.size)
	if err != nil {
		p.t.Fatal(err)
	}
	idx, tidx := p.index.Add(b.BatchHeader, p.base, p.size, p.interval, nil, nil)
	p.append(segments.LogSuffix, raw)
	p.append(segments.IndexSuffix, idx)
	p.append(segments.TimeIndexSuffix, tidx)
	p.size += b.Size()
	p.next = b.LastOffset() + 1
	return first
}

// hole leaves n offsets out.
func (p *partition) hole(n int64) { p.next += n }

// roll begins the next segment.
func (p *partition) roll() {
	p.t.Helper()
	if p.base >= 0 {
		p.append(segments.TimeIndexSuffix, p.index.Seal(p.base, nil))
		p.listed[len(p.listed)-1].MaxTimestamp = p.index.MaxTimestamp
	}
	p.base, p.size, p.index = p.next, 0, segments.NewIndexState()
	for _, suffix := range []string{segments.LogSuffix, segments.IndexSuffix, segments.TimeIndexSuffix} {
		p.append(suffix, nil)
	}
	p.listed = append(p.listed, segments.SegmentInfo{Base: p.base, MaxTimestamp: segments.UnknownTimestamp})
	if p.keepList {
		p.list()
	}
}

// list writes the list of segments for the directory as it is.
func (p *partition) list() {
	p.t.Helper()
	info, err := os.Stat(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, segments.ListName), segments.EncodeList(p.listed, info), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *partition) path(base int64, suffix string) string {
	return filepath.Join(p.dir, segments.SegmentName(base)+suffix)
}

// append adds bytes to a file of the active segment.
func (p *partition) append(suffix string, data []byte) {
	p.t.Helper()
	f, err := os.OpenFile(p.path(p.base, suffix), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		_, err = f.Write(data)
		f.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *partition) bases() []int64 {
	bases := make([]int64, len(p.listed))
	for i, s := range p.listed {
		bases[i] = s.Base
	}
	return bases
}

func (p *partition) open() *segments.Log {
	p.t.Helper()
	return openLog(p.t, p.dir)
}

func openLog(t testing.TB, dir string) *segments.Log {
	t.Helper()
	l, err := segments.OpenLog(dir, segments.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// got is a record that was read.
type got struct {
	offset, ts int64
	value      string
}

// readFrom returns what a reader finds from an offset on, going on behind whatever it
// reports, and what it reported.
func readFrom(t testing.TB, l *segments.Log, from int64) (recs []got, reported []error) {
	t.Helper()
	r := l.Reader(from)
	defer r.Close()
	return drain(t, r, from)
}

func drain(t testing.TB, r *segments.LogReader, from int64) (recs []got, reported []error) {
	t.Helper()
	var d segments.Decoder
	var rec segments.Record
	for {
		b, err := r.Next()
		var bad *segments.CorruptError
		var gap *segments.GapError
		switch {
		case err == io.EOF:
			return recs, reported
		case errors.As(err, &bad):
			reported = append(reported, err)
			r.SkipCorrupt()
			continue
		case errors.As(err, &gap):
			reported = append(reported, err)
			continue
		case err != nil:
			t.Fatalf("read from %d: %v", from, err)
		}
		if b.Control() {
			continue
		}
		for d.Open(b); d.Next(&rec); {
			if rec.Offset >= from {
				recs = append(recs, got{rec.Offset, rec.Timestamp, string(rec.Value)})
			}
		}
		if err := d.Err(); err != nil {
			reported = append(reported, err)
		}
	}
}

// offsets are those of recs.
func offsets(recs []got) []int64 {
	var o []int64
	for _, r := range recs {
		o = append(o, r.offset)
	}
	return o
}

// span is a, a+1, … b-1.
func span(a, b int64) []int64 {
	var s []int64
	for ; a < b; a++ {
		s = append(s, a)
	}
	return s
}

// batchesOf are the batches from an offset on.
func batchesOf(l *segments.Log, from int64) iter.Seq2[segments.Batch, error] {
	return func(yield func(segments.Batch, error) bool) {
		r := l.Reader(from)
		defer r.Close()
		for {
			b, err := r.Next()
			if err == io.EOF || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// copyGolden writes a golden directory's files to dir.
func copyGolden(t testing.TB, name, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range segmentstest.Files(t, name) {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), segmentstest.File(t, file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
