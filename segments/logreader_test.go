package segments_test

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

func TestReaderFromEveryOffset(t *testing.T) {
	p := newPartition(t, 600)
	for p.next < 150 {
		p.plain(min(7, int(150-p.next)))
	}
	l := p.open()
	for from := range int64(151) {
		recs, reported := readFrom(t, l, from)
		if len(reported) > 0 {
			t.Fatalf("from %d: reported %v", from, reported)
		}
		if diff := cmp.Diff(span(from, 150), offsets(recs)); diff != "" {
			t.Fatalf("from %d (-want +got):\n%s", from, diff)
		}
	}
	if end, err := l.End(); end != 150 || err != nil {
		t.Errorf("end = %d, %v; want 150", end, err)
	}
}

func TestChunksHoldWhatNextReturns(t *testing.T) {
	p := newPartition(t, 20_000)
	for i := range 200 {
		p.plain(1 + i%13)
	}
	l := p.open()
	for _, from := range []int64{0, 1, 500, p.next - 1, p.next} {
		r := l.Reader(from)
		var c segments.Chunk
		var bases []int64
		for {
			err := r.NextChunk(&c)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range c.Batches {
				if !b.CheckCRC() {
					t.Fatalf("batch at %d: bad checksum", b.BaseOffset)
				}
				bases = append(bases, b.BaseOffset)
			}
		}
		r.SeekTo(from)
		var want []int64
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, b.BaseOffset)
		}
		if diff := cmp.Diff(want, bases); diff != "" {
			t.Errorf("from %d (-Next +NextChunk):\n%s", from, diff)
		}
		r.Close()
	}
}

// A reader sees half of a batch at any byte, many times, and never takes it for
// anything but the end.
func TestG004LivePartialRead(t *testing.T) {
	p := newPartition(t, 1<<20)
	p.plain(3)
	l := p.open()
	r := l.Reader(0)
	defer r.Close()
	if recs, reported := drain(t, r, 0); len(recs) != 3 || reported != nil {
		t.Fatalf("got %v, %v", recs, reported)
	}
	before := p.size
	p.plain(4)
	path := p.path(0, segments.LogSuffix)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := before; size < int64(len(whole)); size++ {
		if err := os.WriteFile(path, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if recs, reported := drain(t, r, 0); recs != nil || reported != nil {
			t.Fatalf("%d bytes of %d: got %v, %v", size, len(whole), recs, reported)
		}
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	recs, reported := drain(t, r, 0)
	if diff := cmp.Diff(span(3, 7), offsets(recs)); diff != "" || reported != nil {
		t.Errorf("%v (-want +got):\n%s", reported, diff)
	}
}

// A torn tail that a writer cuts and writes over is read as what is there in the end.
func TestG001TornTailIsTheEnd(t *testing.T) {
	p := newPartition(t, 1<<20)
	p.plain(100)
	good := p.size
	p.plain(5)
	path := p.path(0, segments.LogSuffix)
	if err := os.Truncate(path, p.size-7); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	l := p.open()
	r := l.Reader(0)
	defer r.Close()
	recs, reported := drain(t, r, 0)
	if len(recs) != 100 || reported != nil {
		t.Fatalf("got %d records, %v; want 100", len(recs), reported)
	}
	if end, err := l.End(); end != 100 || err != nil {
		t.Errorf("end = %d, %v; want 100", end, err)
	}
	if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
		t.Error("a reader changed the file")
	}
	if err := os.Truncate(path, good); err != nil {
		t.Fatal(err)
	}
	p.size, p.next = good, 100
	p.batch(segments.BatchOptions{}, rec{1, "other"}, rec{2, "records"})
	recs, reported = drain(t, r, 0)
	if diff := cmp.Diff([]int64{100, 101}, offsets(recs)); diff != "" || reported != nil {
		t.Errorf("after the cut: %v (-want +got):\n%s", reported, diff)
	}
}

func TestG002ReaderMeetsGarbageLength(t *testing.T) {
	for _, length := range []uint32{0x7FFFFFFF, 0xFFFFFFFF, 0, 13, 14, 48, 49, 50, 1 << 20} {
		t.Run(fmt.Sprintf("%#x", length), func(t *testing.T) {
			p := newPartition(t, 1<<20)
			p.plain(10)
			tail := make([]byte, 61)
			binary.BigEndian.PutUint64(tail, 10)
			binary.BigEndian.PutUint32(tail[8:], length)
			tail[16] = 2
			p.append(segments.LogSuffix, tail)
			l := p.open()
			recs, reported := readFrom(t, l, 0)
			if len(recs) != 10 || reported != nil {
				t.Errorf("got %d records, %v; want 10", len(recs), reported)
			}
			if end, err := l.End(); end != 10 || err != nil {
				t.Errorf("end = %d, %v; want 10", end, err)
			}
		})
	}
}

func TestG005DamageInTheMiddleLosesOneBatch(t *testing.T) {
	p := newPartition(t, 4096)
	for p.next < 2000 {
		p.plain(5)
	}
	bases := p.bases()
	path := p.path(bases[1], segments.LogSuffix)
	flip(t, path, 61+40)
	l := p.open()

	r := l.Reader(0)
	defer r.Close()
	var bad *segments.CorruptError
	for bad == nil {
		if _, err := r.Next(); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
	}
	if bad.File != path || bad.Position != 0 || bad.FirstOffset != bases[1] || bad.LastOffset != bases[1]+4 {
		t.Errorf("damage = %+v", bad)
	}
	if _, err := r.Next(); !errors.Is(err, bad) {
		t.Errorf("Next after damage: %v, want the same again", err)
	}
	recs, reported := readFrom(t, l, 0)
	want := append(span(0, bases[1]), span(bases[1]+5, 2000)...)
	if diff := cmp.Diff(want, offsets(recs)); diff != "" || len(reported) != 1 {
		t.Errorf("%v (-want +got):\n%s", reported, diff)
	}
	// Damage that lies below what is wanted is nobody's concern, whatever the index
	// said about where to begin.
	os.Remove(p.path(bases[1], segments.IndexSuffix))
	recs, reported = readFrom(t, l, bases[1]+5)
	if diff := cmp.Diff(span(bases[1]+5, 2000), offsets(recs)); diff != "" || reported != nil {
		t.Errorf("behind the damage: %v (-want +got):\n%s", reported, diff)
	}
}

func flip(t testing.TB, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 0x10
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// damageIndexes are ways in which index files differ from what the log says.
func damageIndexes(t *testing.T, p *partition) map[string]func() {
	each := func(change func(i int, path string)) func() {
		return func() {
			for i, base := range p.bases() {
				change(i, p.path(base, segments.IndexSuffix))
				change(i, p.path(base, segments.TimeIndexSuffix))
			}
		}
	}
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(){
		"missing": each(func(_ int, path string) { os.Remove(path) }),
		"empty":   each(func(_ int, path string) { write(path, nil) }),
		"random": each(func(_ int, path string) {
			junk := make([]byte, 1003)
			rand.Read(junk)
			write(path, junk)
		}),
		"small random numbers": each(func(_ int, path string) {
			var junk []byte
			for i := range 400 {
				junk = binary.BigEndian.AppendUint32(junk, uint32(i*3))
			}
			write(path, junk)
		}),
		"preallocated": each(func(_ int, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(path, append(data, make([]byte, 6000)...))
		}),
		"every third missing, every second empty": each(func(i int, path string) {
			switch {
			case i%3 == 0:
				os.Remove(path)
			case i%2 == 0:
				write(path, nil)
			}
		}),
		"of the neighbour": func() {
			bases := p.bases()
			for i := range bases {
				for _, suffix := range []string{segments.IndexSuffix, segments.TimeIndexSuffix} {
					data, err := os.ReadFile(p.path(bases[(i+1)%len(bases)], suffix))
					if err != nil {
						t.Fatal(err)
					}
					write(p.path(bases[i], suffix), data)
				}
			}
		},
		"directories": each(func(_ int, path string) {
			os.Remove(path)
			os.Mkdir(path, 0o755)
		}),
		"pipes": each(func(_ int, path string) {
			os.RemoveAll(path)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skipf("no FIFO to be had: %v", err)
			}
		}),
	}
}

func TestG007G008DamagedIndexChangesNothing(t *testing.T) {
	build := func() *partition {
		p := newPartition(t, 200_000)
		for i := 0; p.next < 9000; i++ {
			p.plain(1 + i%4)
			if i%50 == 0 {
				p.hole(int64(i % 7))
			}
		}
		return p
	}
	p := build()
	var probes []int64
	for o := int64(0); o <= p.next; o += 97 {
		probes = append(probes, o)
	}
	answers := func(p *partition) []string {
		l := p.open()
		var all []string
		for _, o := range probes {
			r := l.Reader(o)
			b, err := r.Next()
			at, found, terr := l.OffsetForTime(1_700_000_000_000+o, 0)
			all = append(all, fmt.Sprint(o, b.BaseOffset, b.LastOffset(), err, at, found, terr))
			r.Close()
		}
		end, err := l.End()
		return append(all, fmt.Sprint(end, err))
	}
	want := answers(p)
	for name := range damageIndexes(t, p) {
		t.Run(name, func(t *testing.T) {
			p := build()
			damageIndexes(t, p)[name]()
			if diff := cmp.Diff(want, answers(p)); diff != "" {
				t.Errorf("(-whole index +damaged):\n%s", diff)
			}
		})
	}
}

// An index of a longer log that was cut and written differently points into the middle
// of batches.
func TestG008StaleIndexOfAnEarlierLog(t *testing.T) {
	p := newPartition(t, 1<<20)
	for p.next < 5000 {
		p.plain(3)
	}
	stale, err := os.ReadFile(p.path(0, segments.IndexSuffix))
	if err != nil {
		t.Fatal(err)
	}
	q := newPartition(t, 1<<20)
	for q.next < 5000 {
		q.plain(7)
	}
	if err := os.WriteFile(q.path(0, segments.IndexSuffix), stale, 0o644); err != nil {
		t.Fatal(err)
	}
	l := q.open()
	for from := int64(0); from < 5000; from += 61 {
		recs, reported := readFrom(t, l, from)
		if len(recs) == 0 || recs[0].offset != from || reported != nil {
			t.Fatalf("from %d: %d records, %v", from, len(recs), reported)
		}
	}
}

func TestG010OffsetsBeyond31Bits(t *testing.T) {
	p := newPartition(t, 1<<20)
	p.plain(1)
	p.hole(2147483700 - 1)
	p.plain(1)
	for _, index := range []bool{true, false} {
		if !index {
			os.Remove(p.path(0, segments.IndexSuffix))
		}
		recs, reported := readFrom(t, p.open(), 2147483700)
		if diff := cmp.Diff([]int64{2147483700}, offsets(recs)); diff != "" || reported != nil {
			t.Errorf("index %v: %v (-want +got):\n%s", index, reported, diff)
		}
	}
}

func TestG040G041ForeignFiles(t *testing.T) {
	p := newPartition(t, 600)
	for range 30 {
		p.plain(4)
	}
	file := func(name string) {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte("not a segment"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		".nfs0001", ".DS_Store", "foo.log", "README", "00000000000000000000.log~", "0.log", "0000000000000000010.log",
		"000000000000000000010.log", "99999999999999999999.log", "-0000000000000000001.log", "00000000000000000005.log.bak",
		"00000000000000000007.log.deleted", "00000000000000000007.log.swap", "00000000000000000007.log.cleaned",
	} {
		file(name)
	}
	if err := os.Mkdir(p.path(1, segments.LogSuffix), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.path(2, segments.LogSuffix), 0o600); err != nil {
		t.Logf("no FIFO to be had: %v", err)
	}
	if err := os.Symlink(filepath.Base(p.path(3, segments.LogSuffix)), p.path(3, segments.LogSuffix)); err != nil {
		t.Fatal(err)
	}
	// A directory named like the segment that a roll would make next.
	if err := os.Mkdir(p.path(p.next, segments.LogSuffix), 0o755); err != nil {
		t.Fatal(err)
	}
	l := p.open()
	recs, reported := readFrom(t, l, 0)
	if diff := cmp.Diff(span(0, p.next), offsets(recs)); diff != "" || reported != nil {
		t.Errorf("%v (-want +got):\n%s", reported, diff)
	}
	if end, err := l.End(); end != p.next || err != nil {
		t.Errorf("end = %d, %v; want %d", end, err, p.next)
	}
}

func TestG042MissingSegment(t *testing.T) {
	build := func(t *testing.T, keepList bool) *partition {
		p := newPartition(t, 600)
		p.keepList = keepList
		for len(p.listed) < 10 {
			p.plain(5)
		}
		for _, suffix := range []string{segments.LogSuffix, segments.IndexSuffix, segments.TimeIndexSuffix} {
			os.Remove(p.path(p.bases()[4], suffix))
			os.Remove(p.path(p.bases()[5], suffix))
		}
		return p
	}
	t.Run("named in the list", func(t *testing.T) {
		p := build(t, true)
		b := p.bases()
		for _, from := range []int64{0, b[4], b[4] + 2, b[5] + 1} {
			recs, reported := readFrom(t, p.open(), from)
			if len(reported) != 1 {
				t.Fatalf("from %d: reported %v, want the gap once", from, reported)
			}
			var gap *segments.GapError
			if !errors.As(reported[0], &gap) || !errors.Is(reported[0], segments.ErrCorrupt) {
				t.Fatalf("from %d: reported %v", from, reported[0])
			}
			if gap.First != max(from, b[4]) || gap.Last != b[6]-1 || !gap.Missing {
				t.Errorf("from %d: gap %+v, want %d to %d", from, gap, max(from, b[4]), b[6]-1)
			}
			want := append(span(min(from, b[4]), b[4]), span(b[6], p.next)...)
			if diff := cmp.Diff(want, offsets(recs)); diff != "" {
				t.Errorf("from %d (-want +got):\n%s", from, diff)
			}
		}
		if recs, reported := readFrom(t, p.open(), b[6]); len(recs) != int(p.next-b[6]) || reported != nil {
			t.Errorf("behind the gap: %d records, %v", len(recs), reported)
		}
	})
	t.Run("no list", func(t *testing.T) {
		p := build(t, false)
		b := p.bases()
		recs, reported := readFrom(t, p.open(), 0)
		want := append(span(0, b[4]), span(b[6], p.next)...)
		if diff := cmp.Diff(want, offsets(recs)); diff != "" || reported != nil {
			t.Errorf("%v (-want +got):\n%s", reported, diff)
		}
	})
	t.Run("newest", func(t *testing.T) {
		p := newPartition(t, 600)
		p.keepList = true
		for len(p.listed) < 4 {
			p.plain(5)
		}
		newest := p.base
		os.Remove(p.path(newest, segments.LogSuffix))
		l := p.open()
		r := l.Reader(0)
		defer r.Close()
		recs, reported := drain(t, r, 0)
		var gap *segments.GapError
		if len(recs) != int(newest) || len(reported) != 1 || !errors.As(reported[0], &gap) || gap.First != newest || gap.Last != -1 {
			t.Errorf("%d records, %v", len(recs), reported)
		}
		if _, again := drain(t, r, 0); again != nil {
			t.Errorf("reported once more: %v", again)
		}
	})
}

func TestRetentionUnderTheReadersFeet(t *testing.T) {
	p := newPartition(t, 600)
	for len(p.listed) < 8 {
		p.plain(5)
	}
	b := p.bases()
	l := p.open()
	r := l.Reader(0)
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for _, base := range b[:5] {
		os.Rename(p.path(base, segments.LogSuffix), p.path(base, segments.LogSuffix+segments.DeletedSuffix))
		os.Remove(p.path(base, segments.LogSuffix+segments.DeletedSuffix))
	}
	recs, reported := drain(t, r, 5)
	var gap *segments.GapError
	if len(reported) != 1 || !errors.As(reported[0], &gap) || gap.Missing || errors.Is(gap, segments.ErrCorrupt) {
		t.Fatalf("reported %v, want one gap that is no damage", reported)
	}
	// What was open stays readable to its end.
	if gap.First != b[1] || gap.Last != b[5]-1 {
		t.Errorf("gap %d to %d, want %d to %d", gap.First, gap.Last, b[1], b[5]-1)
	}
	want := append(span(5, b[1]), span(b[5], p.next)...)
	if diff := cmp.Diff(want, offsets(recs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Compaction merges segments into the first one and then removes the others. A reader
// sees every surviving record once, at whichever step it comes along.
func TestCompactionUnderTheReadersFeet(t *testing.T) {
	for at := range 40 {
		p := newPartition(t, 600)
		for len(p.listed) < 6 {
			p.plain(5)
		}
		b := p.bases()
		l := p.open()
		r := l.Reader(0)
		var seen []int64
		for range at {
			batch, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, span(batch.BaseOffset, batch.LastOffset()+1)...)
		}
		var merged []byte
		for _, base := range b[1:4] {
			data, err := os.ReadFile(p.path(base, segments.LogSuffix))
			if err != nil {
				t.Fatal(err)
			}
			merged = append(merged, data...)
		}
		swap := p.path(b[1], segments.LogSuffix+segments.SwapSuffix)
		if err := os.WriteFile(swap, merged, 0o644); err != nil {
			t.Fatal(err)
		}
		os.Rename(swap, p.path(b[1], segments.LogSuffix))
		if at%2 == 0 {
			os.Remove(p.path(b[2], segments.LogSuffix))
			os.Remove(p.path(b[3], segments.LogSuffix))
		}
		recs, reported := drain(t, r, r.Offset())
		if diff := cmp.Diff(span(0, p.next), append(seen, offsets(recs)...)); diff != "" || reported != nil {
			t.Fatalf("swapped after %d batches: %v (-want +got):\n%s", at, reported, diff)
		}
		r.Close()
	}
}

func TestReaderFollowsRolls(t *testing.T) {
	for _, keepList := range []bool{true, false} {
		p := newPartition(t, 300)
		p.keepList = keepList
		p.plain(1)
		l := p.open()
		r := l.Reader(0)
		var seen []int64
		for range 100 {
			recs, reported := drain(t, r, r.Offset())
			if reported != nil {
				t.Fatal(reported)
			}
			seen = append(seen, offsets(recs)...)
			for range 3 {
				p.plain(2)
			}
		}
		recs, _ := drain(t, r, r.Offset())
		if diff := cmp.Diff(span(0, p.next), append(seen, offsets(recs)...)); diff != "" {
			t.Errorf("list %v (-want +got):\n%s", keepList, diff)
		}
		r.Close()
	}
}

// racingFS lists a directory while two segments come in it, of which it names the second
// alone: a listing may.
type racingFS struct {
	vfs.FS
	p     *partition
	times int
}

func (f *racingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	es, err := f.FS.ReadDir(name)
	if f.times == 0 || err != nil {
		return es, err
	}
	f.times--
	f.p.plain(1)
	missed := f.p.base
	f.p.plain(1)
	es, err = f.FS.ReadDir(name)
	return slices.DeleteFunc(es, func(e fs.DirEntry) bool {
		base, _, ok := segments.ParseSegmentName(e.Name())
		return ok && base == missed
	}), err
}

func TestG083ListingMissesOneOfTwoNewSegments(t *testing.T) {
	p := newPartition(t, 1)
	p.plain(1)
	p.plain(1)
	l, err := segments.OpenLog(p.dir, segments.LogOptions{FS: &racingFS{FS: osFS, p: p, times: 10}})
	if err != nil {
		t.Fatal(err)
	}
	r := l.Reader(0)
	defer r.Close()
	var seen []int64
	for range 20 {
		recs, reported := drain(t, r, 0)
		if reported != nil {
			t.Fatal(reported)
		}
		seen = append(seen, offsets(recs)...)
	}
	if diff := cmp.Diff(span(0, p.next), seen); diff != "" || p.next != 22 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	res, err := segments.Verify(t.Context(), p.dir, segments.VerifyOptions{FS: &racingFS{FS: osFS, p: p, times: 1}}, func(f segments.Finding) error {
		t.Errorf("%+v", f)
		return nil
	})
	if err != nil || res.End < 22 || res.Batches != res.End {
		t.Errorf("verified %d batches, to %d, %v", res.Batches, res.End, err)
	}
}

func TestReaderSaysThatTheDirectoryIsGone(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"removed": func(dir string) { os.RemoveAll(dir) },
		"renamed": func(dir string) { os.Rename(dir, dir+".0123456789abcdef0123456789abcdef-delete") },
		"replaced": func(dir string) {
			os.Rename(dir, dir+".old")
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, segments.SegmentName(0)+".log"), nil, 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPartition(t, 1<<20)
			p.plain(3)
			r := p.open().Reader(0)
			defer r.Close()
			drain(t, r, 0)
			change(p.dir)
			if _, err := r.Next(); !errors.Is(err, segments.ErrGone) {
				t.Errorf("got %v, want ErrGone", err)
			}
		})
	}
}

func TestParkedReaderGoesOnWhereItWas(t *testing.T) {
	p := newPartition(t, 600)
	for range 30 {
		p.plain(4)
	}
	r := p.open().Reader(0)
	defer r.Close()
	var seen []int64
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, span(b.BaseOffset, b.LastOffset()+1)...)
		r.Park()
	}
	if diff := cmp.Diff(span(0, p.next), seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Opening at an offset of a log with very many segments lists no directory.
func TestG129OpeningListsNothing(t *testing.T) {
	p := newPartition(t, 300)
	p.keepList = true
	for len(p.listed) < 300 {
		p.plain(2)
	}
	fsys := &countingFS{FS: osFS}
	l, err := segments.OpenLog(p.dir, segments.LogOptions{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	r := l.Reader(p.next / 2)
	defer r.Close()
	b, err := r.Next()
	if err != nil || b.BaseOffset > p.next/2 || b.LastOffset() < p.next/2 {
		t.Errorf("got %d, %v", b.BaseOffset, err)
	}
	if end, err := l.End(); end != p.next || err != nil {
		t.Errorf("end = %d, %v", end, err)
	}
	if _, found, err := l.OffsetForTime(1_700_000_000_000+p.next/3, 0); !found || err != nil {
		t.Errorf("time: %v, %v", found, err)
	}
	if fsys.lists > 0 || fsys.opens > 12 {
		t.Errorf("%d listings, %d opens: %s", fsys.lists, fsys.opens, strings.Join(fsys.opened, " "))
	}
}
