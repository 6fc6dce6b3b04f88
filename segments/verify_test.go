package segments_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
	"github.com/klog-project/klog/segments/vfs"
)

// verify runs Verify, deep, and returns what it found.
func verify(t testing.TB, dir string, interval int) ([]segments.Finding, segments.VerifyResult) {
	t.Helper()
	var found []segments.Finding
	o := segments.VerifyOptions{Deep: true, IndexInterval: interval}
	res, err := segments.Verify(t.Context(), dir, o, func(f segments.Finding) error {
		found = append(found, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Findings != len(found) {
		t.Errorf("%d findings were counted, %d told", res.Findings, len(found))
	}
	return found, res
}

func wantSound(t testing.TB, dir string, interval int) segments.VerifyResult {
	t.Helper()
	found, res := verify(t, dir, interval)
	for _, f := range found {
		t.Errorf("%s: found %+v", filepath.Base(dir), f)
	}
	return res
}

func TestVerifySoundDirectories(t *testing.T) {
	t.Run("classes", func(t *testing.T) {
		for name, end := range map[string]int64{
			"orders-0": 150, "crashed-0": 146, "crashed-recovered-0": 146, "defaults-0": 66, "follower-0": 100, "txns-0": 16,
		} {
			if res := wantSound(t, segmentstest.Dir(t, "dirs/"+name), 512); res.End != end || res.Batches == 0 {
				t.Errorf("%s: got %+v, want end %d", name, res, end)
			}
		}
	})
	for _, state := range []string{"clean", "killed"} {
		t.Run("broker "+state, func(t *testing.T) {
			for _, dir := range partitionDirs(t, segmentstest.Dir(t, "broker-4.3.1/"+state)) {
				wantSound(t, dir, 4096)
			}
		})
		t.Run("more topics "+state, func(t *testing.T) {
			for _, dir := range partitionDirs(t, segmentstest.Shared(t, "vectors/broker-4.3.1/"+state)) {
				wantSound(t, dir, 4096)
			}
		})
	}
}

// threeSegments makes a sound partition directory of three segments with indexes.
func threeSegments(t testing.TB) (dir string, bases []int64) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "orders-0")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	next := int64(0)
	for range 3 {
		bases = append(bases, next)
		var log []byte
		for range 20 {
			log = append(log, batchOf(t, next, text(200), text(100))...)
			next += 2
		}
		writeSegment(t, dir, bases[len(bases)-1], log)
	}
	return dir, bases
}

// writeSegment writes a segment with the indexes that belong to it.
func writeSegment(t testing.TB, dir string, base int64, log []byte) {
	t.Helper()
	x, _, err := segments.BuildIndexes(scannerOf(log, base), 512, true, segments.NewProducerTable())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, segments.SegmentName(base))
	for suffix, data := range map[string][]byte{".log": log, ".index": x.Index, ".timeindex": x.TimeIndex} {
		writeFile(t, name+suffix, data)
	}
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rebased adds k to the base offsets of the batches that begin in log where those of
// the undamaged original do, or where the lengths in it lead.
func rebased(log, original []byte, k int64) []byte {
	out := slices.Clone(log)
	starts := map[int]bool{}
	chain := func(b []byte) (end int) {
		for end+12 <= len(b) {
			starts[end] = true
			size := int(int32(binary.BigEndian.Uint32(b[end+8:])))
			if size < 14 {
				break
			}
			end += 12 + size
		}
		return end
	}
	if chain(log) != len(log) {
		chain(original)
	}
	for at := range starts {
		if at+8 <= len(out) {
			binary.BigEndian.PutUint64(out[at:], binary.BigEndian.Uint64(out[at:])+uint64(k))
		}
	}
	return out
}

func TestVerifyNamesEachCorruptVector(t *testing.T) {
	const k = 40 // where the middle segment begins
	original := segmentstest.File(t, "good/corrupt-base.log")
	for _, row := range segmentstest.Vectors(t).Corrupt {
		if row.Expect.StopReason == "end" && row.Content == nil {
			continue
		}
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			dir, _ := threeSegments(t)
			for _, old := range []int64{40, 80} {
				for _, suffix := range []string{".log", ".index", ".timeindex"} {
					os.Remove(filepath.Join(dir, segments.SegmentName(old)+suffix))
				}
			}
			base := row.SegmentBase + k
			log := rebased(segmentstest.File(t, row.File), original, k)
			writeSegment(t, dir, base, log)
			writeSegment(t, dir, 5000, batchOf(t, 5000, text(9)))
			found, _ := verify(t, dir, 1<<20)
			if row.Content != nil {
				checkMalformed(t, row, found)
				return
			}
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			f, e := found[0], row.Expect
			if f.File != filepath.Join(dir, segments.SegmentName(base)+".log") || f.Position != e.ValidBytes ||
				f.What != e.StopReason || f.FirstOffset != e.NextOffset+k || f.Size <= 0 || f.LastOffset < f.FirstOffset {
				t.Errorf("got %+v, want %s at %d from offset %d on", f, e.StopReason, e.ValidBytes, e.NextOffset+k)
			}
		})
	}
}

// checkMalformed checks what was found in a segment with a batch that is malformed inside
// under a right checksum.
func checkMalformed(t *testing.T, row segmentstest.Corrupt, found []segments.Finding) {
	t.Helper()
	if row.Expect.StopReason != "end" {
		if len(found) != 1 || found[0].What != row.Expect.StopReason {
			t.Errorf("got %+v, want %s", found, row.Expect.StopReason)
		}
		return
	}
	lenient := row.Content.KafkaReader == "ok" && !strings.Contains(row.File, "offsetdelta-")
	if lenient && len(found) == 0 {
		return
	}
	if len(found) != 1 || found[0].Position != row.Content.Position || found[0].Size != row.Content.Size || found[0].Repair != segments.RepairQuarantine {
		t.Errorf("got %+v, want one at %d of %d bytes", found, row.Content.Position, row.Content.Size)
	}
}

func TestVerifyTornTailIsNoFinding(t *testing.T) {
	dir, bases := threeSegments(t)
	last := filepath.Join(dir, segments.SegmentName(bases[2])+".log")
	log := readFile(t, last)
	for _, cut := range []int{1, 7, 100, 400} {
		writeFile(t, last, log[:len(log)-cut])
		wantSound(t, dir, 512)
	}
	writeFile(t, last, append(slices.Clone(log), make([]byte, 5000)...))
	wantSound(t, dir, 512)
	// The same in an older segment is damage.
	middle := filepath.Join(dir, segments.SegmentName(bases[1])+".log")
	writeFile(t, middle, log[:len(log)-7])
	if found, _ := verify(t, dir, 512); len(found) == 0 {
		t.Error("a torn segment in the middle was not found")
	}
}

func TestG042VerifyNamesMissingSegments(t *testing.T) {
	dir, bases := threeSegments(t)
	var all []segments.SegmentInfo
	for _, b := range bases {
		all = append(all, segments.SegmentInfo{Base: b, MaxTimestamp: unknown})
	}
	if err := os.Mkdir(filepath.Join(dir, ".klog"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := segments.RewriteList(vfs.OS, dir, all, stat(t, dir)); err != nil {
		t.Fatal(err)
	}
	wantSound(t, dir, 512)
	for i, want := range []struct{ first, last int64 }{{0, 39}, {40, 79}, {80, -1}} {
		name := filepath.Join(dir, segments.SegmentName(bases[i]))
		data := readFile(t, name+".log")
		if err := os.Remove(name + ".log"); err != nil {
			t.Fatal(err)
		}
		found, _ := verify(t, dir, 512)
		if len(found) != 1 || found[0].What != "missing segment" || found[0].FirstOffset != want.first || found[0].LastOffset != want.last {
			t.Errorf("segment %d: got %+v, want offsets %d to %d missing", i, found, want.first, want.last)
		}
		writeFile(t, name+".log", data)
	}
	wantSound(t, dir, 512)
}

func TestVerifyIndexDamage(t *testing.T) {
	dir, bases := threeSegments(t)
	middle := filepath.Join(dir, segments.SegmentName(bases[1]))
	for _, suffix := range []string{".index", ".timeindex"} {
		good := readFile(t, middle+suffix)
		entry := 8
		if suffix == ".timeindex" {
			entry = 12
		}
		if len(good) < 3*entry {
			t.Fatalf("%s of %d bytes is too small for this test", suffix, len(good))
		}
		junk := make([]byte, 1003)
		r := rand.New(rand.NewPCG(7, uint64(entry)))
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		swapped := slices.Concat(good[entry:2*entry], good[:entry], good[2*entry:])
		for name, data := range map[string][]byte{
			"G007 junk":       junk,
			"empty":           {},
			"half an entry":   good[:len(good)-3],
			"swapped":         swapped,
			"twice":           append(slices.Clone(good), good[len(good)-entry:]...),
			"one byte":        mutate(good, entry-1, 0x10),
			"one high byte":   mutate(good, len(good)-4, 0x40),
			"of another time": readFile(t, filepath.Join(dir, segments.SegmentName(bases[1])+suffix))[:entry-1],
		} {
			writeFile(t, middle+suffix, data)
			found, _ := verify(t, dir, 512)
			if len(found) != 1 || found[0].File != middle+suffix || found[0].Repair != segments.RepairRebuild {
				t.Errorf("%s, %s: got %+v, want one finding", suffix, name, found)
			}
		}
		// Preallocated space behind the entries is none.
		writeFile(t, middle+suffix, append(slices.Clone(good), make([]byte, 100*entry)...))
		wantSound(t, dir, 512)
		if err := os.Remove(middle + suffix); err != nil {
			t.Fatal(err)
		}
		if found, _ := verify(t, dir, 512); len(found) != 1 || !strings.HasPrefix(found[0].What, "missing") {
			t.Errorf("%s removed: got %+v, want one finding", suffix, found)
		}
		writeFile(t, middle+suffix, good)
	}
	wantSound(t, dir, 512)
}

func mutate(b []byte, at int, bit byte) []byte {
	m := slices.Clone(b)
	m[at] ^= bit
	return m
}

func TestVerifyNewestIndexes(t *testing.T) {
	dir, bases := threeSegments(t)
	newest := filepath.Join(dir, segments.SegmentName(bases[2]))
	log := readFile(t, newest+".log")
	// Entries beyond the end are of records that came later, or never did.
	writeFile(t, newest+".log", log[:len(log)/2])
	wantSound(t, dir, 512)
	// G012: a newest segment without indexes, or without records, is fine.
	for _, suffix := range []string{".index", ".timeindex"} {
		if err := os.Remove(newest + suffix); err != nil {
			t.Fatal(err)
		}
		wantSound(t, dir, 512)
	}
	writeFile(t, newest+".log", nil)
	wantSound(t, dir, 512)
	// Wrong entries about what is there are a finding.
	writeFile(t, newest+".log", log)
	writeFile(t, newest+".index", indexBytes([2]int32{3, 500}))
	if found, _ := verify(t, dir, 512); len(found) != 1 || found[0].File != newest+".index" {
		t.Errorf("got %+v, want one finding", found)
	}
}

func TestVerifySealedLogThatWasCut(t *testing.T) {
	dir, bases := threeSegments(t)
	name := filepath.Join(dir, segments.SegmentName(bases[1]))
	log := readFile(t, name+".log")
	b, err := segments.ParseBatch(log, 0)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(dense bool) (logs []segments.Finding) {
		o := segments.VerifyOptions{IndexInterval: 512, Dense: dense}
		if _, err := segments.Verify(t.Context(), dir, o, func(f segments.Finding) error {
			if strings.HasSuffix(f.File, ".log") {
				logs = append(logs, f)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return logs
	}
	if found := cut(true); len(found) != 0 {
		t.Errorf("before it is cut: got %+v", found)
	}
	writeFile(t, name+".log", log[:b.Size()])
	found := cut(true)
	if len(found) != 1 || found[0].File != name+".log" || found[0].Position != b.Size() ||
		found[0].FirstOffset != bases[1]+2 || found[0].LastOffset != bases[2]-1 {
		t.Errorf("got %+v, want one about offsets %d to %d", found, bases[1]+2, bases[2]-1)
	}
	if found := cut(false); len(found) != 0 {
		t.Errorf("where compaction may have been: got %+v", found)
	}
	// With indexes of its own it is a log with a gap, which is legal.
	writeSegment(t, dir, bases[1], log[:b.Size()])
	if found := cut(true); len(found) != 0 {
		t.Errorf("with its own indexes: got %+v", found)
	}
}

func TestVerifySmallFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		file   string
		change func([]byte) []byte
		repair segments.Repair
	}{
		"snapshot":        {"00000000000000000066.snapshot", func(b []byte) []byte { return mutate(b, 20, 1) }, segments.RepairRebuild},
		"snapshot cut":    {"00000000000000000066.snapshot", func(b []byte) []byte { return b[:30] }, segments.RepairRebuild},
		"snapshot empty":  {"00000000000000000066.snapshot", func(b []byte) []byte { return nil }, segments.RepairRebuild},
		"epochs":          {"leader-epoch-checkpoint", func(b []byte) []byte { return []byte("0\n2\n0 0\n") }, segments.RepairRebuild},
		"epochs fall":     {"leader-epoch-checkpoint", func(b []byte) []byte { return []byte("0\n2\n5 0\n3 9\n") }, segments.RepairRebuild},
		"epochs later":    {"leader-epoch-checkpoint", func(b []byte) []byte { return []byte("7\n0\n") }, segments.RepairNone},
		"metadata":        {"partition.metadata", func(b []byte) []byte { return b[:20] }, segments.RepairRebuild},
		"metadata zeroed": {"partition.metadata", func(b []byte) []byte { return make([]byte, len(b)) }, segments.RepairRebuild},
	} {
		t.Run(name, func(t *testing.T) {
			dir := segmentstest.Dir(t, "dirs/orders-0")
			path := filepath.Join(dir, tt.file)
			writeFile(t, path, tt.change(readFile(t, path)))
			found, _ := verify(t, dir, 512)
			if len(found) != 1 || found[0].File != path || found[0].Repair != tt.repair || found[0].What == "" {
				t.Errorf("got %+v, want one finding about %s", found, tt.file)
			}
		})
	}
}

func TestVerifyLeaderEpochs(t *testing.T) {
	dir := segmentstest.Dir(t, "dirs/orders-0")
	path := filepath.Join(dir, "00000000000000000031.log")
	log := readFile(t, path)
	segments.SetLeaderEpoch(log[466:], 9)
	writeFile(t, path, log)
	found, _ := verify(t, dir, 512)
	if len(found) != 1 || found[0].Position != 466 || found[0].FirstOffset != 33 || found[0].LastOffset != 35 || !strings.Contains(found[0].What, "leader epoch 9") {
		t.Errorf("got %+v, want the batch at 466", found)
	}
}

func TestVerifyLeaderEpochNotListedYet(t *testing.T) {
	dir := segmentstest.Dir(t, "dirs/orders-0")
	path := filepath.Join(dir, "00000000000000000133.log")
	log := readFile(t, path)
	last := 0
	for at := 0; at < len(log); at += 12 + int(binary.BigEndian.Uint32(log[at+8:])) {
		last = at
	}
	segments.SetLeaderEpoch(log[last:], 99)
	writeFile(t, path, log)
	wantSound(t, dir, 512)
}

func TestVerifyTransactionIndex(t *testing.T) {
	// txns-0 and a segment behind it, so that its indexes must be complete.
	sealed := func(t *testing.T) (dir, path string) {
		dir = segmentstest.Dir(t, "dirs/txns-0")
		next := batchOf(t, 16, text(5))
		segments.SetLeaderEpoch(next, 6)
		writeSegment(t, dir, 16, next)
		return dir, filepath.Join(dir, "00000000000000000000.txnindex")
	}
	dir, _ := sealed(t)
	wantSound(t, dir, 512)
	for name, change := range map[string]func([]byte) []byte{
		"empty":            func(b []byte) []byte { return nil },
		"without the last": func(b []byte) []byte { return b[:34] },
		"other producer":   func(b []byte) []byte { return mutate(b, 9, 1) },
		"other marker":     func(b []byte) []byte { return mutate(b, 25, 1) },
		"twice":            func(b []byte) []byte { return append(b, b[34:]...) },
		"half":             func(b []byte) []byte { return b[:50] },
		"version":          func(b []byte) []byte { return mutate(b, 1, 4) },
	} {
		dir, path := sealed(t)
		writeFile(t, path, change(readFile(t, path)))
		if found, _ := verify(t, dir, 512); len(found) != 1 || found[0].File != path {
			t.Errorf("%s: got %+v, want one finding", name, found)
		}
	}
}

func TestVerifyOffsetsBeyondTheNextSegment(t *testing.T) {
	dir, bases := threeSegments(t)
	path := filepath.Join(dir, segments.SegmentName(bases[0])+".log")
	log := readFile(t, path)
	at := len(log) - len(batchOf(t, 0, text(200), text(100)))
	segments.SetBaseOffset(log[at:], 1000)
	writeSegment(t, dir, bases[0], log)
	found, _ := verify(t, dir, 512)
	if len(found) != 1 || found[0].Position != int64(at) || found[0].What != "offset beyond the next segment" {
		t.Errorf("got %+v, want the batch at %d", found, at)
	}
}

func TestVerifyErrorsAreNoFindings(t *testing.T) {
	dir, bases := threeSegments(t)
	for _, suffix := range []string{".log", ".index", ".timeindex"} {
		bad := brokenFS{FS: vfs.OS, name: segments.SegmentName(bases[1]) + suffix}
		_, err := segments.Verify(t.Context(), dir, segments.VerifyOptions{FS: bad}, func(f segments.Finding) error {
			t.Errorf("%s: found %+v", suffix, f)
			return nil
		})
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got %v, want EIO", suffix, err)
		}
	}
}

// brokenFS is a file system of which one file cannot be read.
type brokenFS struct {
	vfs.FS
	name string
}

func (b brokenFS) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := b.FS.OpenFile(name, flag, perm)
	if err == nil && filepath.Base(name) == b.name {
		f = brokenFile{f}
	}
	return f, err
}

type brokenFile struct{ vfs.File }

func (b brokenFile) ReadAt([]byte, int64) (int, error) {
	return 0, &os.PathError{Op: "read", Path: b.Name(), Err: syscall.EIO}
}

func TestVerifyUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir, bases := threeSegments(t)
	if err := os.Chmod(filepath.Join(dir, segments.SegmentName(bases[1])+".index"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := segments.Verify(t.Context(), dir, segments.VerifyOptions{}, func(segments.Finding) error { return nil })
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestG010VerifySpanBeyond31Bits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t-0")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	log := slices.Concat(batchOf(t, 0, text(10)), batchOf(t, 2147483700, text(5000)), batchOf(t, 2147483701, text(10)))
	writeSegment(t, dir, 0, log)
	writeSegment(t, dir, 2147483702, batchOf(t, 2147483702, text(5)))
	wantSound(t, dir, 512)
}

func TestVerifyChangesNothing(t *testing.T) {
	dir, bases := threeSegments(t)
	path := filepath.Join(dir, segments.SegmentName(bases[1])+".log")
	writeFile(t, path, mutate(readFile(t, path), 900, 1))
	before := snapshotDir(t, dir)
	if found, _ := verify(t, dir, 512); len(found) == 0 {
		t.Error("nothing was found")
	}
	if after := snapshotDir(t, dir); !bytes.Equal(before, after) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// snapshotDir is the names, sizes and times of all files in a directory.
func snapshotDir(t *testing.T, dir string) []byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + " " + fi.ModTime().String() + " " + fi.Mode().String() + "\n")
		b.Write(readFile(t, filepath.Join(dir, e.Name())))
	}
	return b.Bytes()
}

func BenchmarkVerify(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "16KiB": 16 << 10, "256KiB": 256 << 10} {
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "orders-0")
			if err := os.Mkdir(dir, 0o777); err != nil {
				b.Fatal(err)
			}
			var log []byte
			for off := int64(0); len(log) < 64<<20; off++ {
				log = append(log, batchOf(b, off, text(size))...)
			}
			writeSegment(b, dir, 0, log)
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				_, err := segments.Verify(b.Context(), dir, segments.VerifyOptions{}, func(segments.Finding) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
