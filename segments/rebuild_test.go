package segments_test

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
	"github.com/klog-project/klog/segments/vfs"
)

// rebuild makes all indexes and snapshots of a partition directory anew and compares
// them with the files that are there. skip names files that differ for a reason.
func rebuild(t *testing.T, dir string, interval int, skip ...string) {
	t.Helper()
	bases, err := segments.ReadSegmentDir(vfs.OS, dir)
	if err != nil || len(bases) == 0 {
		t.Fatalf("segments %v: %v", bases, err)
	}
	producers := segments.NewProducerTable()
	compared := 0
	compare := func(base int64, suffix string, got []byte) {
		name := segments.SegmentName(base) + suffix
		want, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) && len(got) == 0 || slices.Contains(skip, name) {
			return
		}
		if err != nil {
			t.Error(err)
		}
		compared++
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got %d bytes, want %d\n got %x\nwant %x", name, len(got), len(want), got[:min(96, len(got))], want[:min(96, len(want))])
		}
	}
	next := bases[0]
	for i, base := range bases {
		if i > 0 && !slices.Contains(skip, segments.SegmentName(base)+segments.SnapshotSuffix) {
			compareSnapshot(t, dir, base, producers)
		}
		log, err := os.ReadFile(filepath.Join(dir, segments.SegmentName(base)+segments.LogSuffix))
		if err != nil {
			t.Fatal(err)
		}
		x, damage, err := segments.BuildIndexes(scannerOf(log, base), interval, i+1 < len(bases), producers)
		if err != nil || len(damage) > 0 {
			t.Fatalf("%v %v", err, damage)
		}
		compare(base, segments.IndexSuffix, x.Index)
		compare(base, segments.TimeIndexSuffix, x.TimeIndex)
		compare(base, segments.TxnIndexSuffix, x.TxnIndex)
		next = x.Next
	}
	compareSnapshot(t, dir, next, producers)
	if compared < 2 {
		t.Errorf("only %d files compared", compared)
	}
}

// compareSnapshot compares the snapshot at offset, if there is one, with the state that
// the log gives.
func compareSnapshot(t *testing.T, dir string, offset int64, producers *segments.ProducerTable) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, segments.SegmentName(offset)+segments.SnapshotSuffix))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := segments.ParseSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := segments.EncodeSnapshot(want); !bytes.Equal(again, data) {
		t.Errorf("snapshot %d: encoded again it is\n%x, was\n%x", offset, again, data)
	}
	got, err := segments.ParseSnapshot(segments.EncodeSnapshot(producers.Entries()))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, func(a, b segments.ProducerEntry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("snapshot %d (-file +log):\n%s", offset, d)
	}
}

func TestBuildIndexesOfKafkasClasses(t *testing.T) {
	for name, interval := range map[string]int{
		"orders-0": 512, "crashed-recovered-0": 512, "defaults-0": 4096, "txns-0": 512,
	} {
		t.Run(name, func(t *testing.T) { rebuild(t, segmentstest.Dir(t, "dirs/"+name), interval) })
	}
}

// compactedAway is the state of a producer all of whose batches compaction has removed
// since: the first segment of compacted-plain-0 is empty.
var compactedAway = []string{"00000000000000014483.snapshot"}

func TestBuildIndexesOfABroker(t *testing.T) {
	root := segmentstest.Dir(t, "broker-4.3.1/clean")
	for _, dir := range partitionDirs(t, root) {
		t.Run(filepath.Base(dir), func(t *testing.T) { rebuild(t, dir, 4096, compactedAway...) })
	}
}

func TestBuildIndexesOfMoreTopics(t *testing.T) {
	root := segmentstest.Shared(t, "vectors/broker-4.3.1/clean")
	for _, dir := range partitionDirs(t, root) {
		interval := 4096
		if strings.HasPrefix(filepath.Base(dir), "codec-") {
			interval = 512
		}
		t.Run(filepath.Base(dir), func(t *testing.T) { rebuild(t, dir, interval, compactedAway...) })
	}
}

// partitionDirs lists the partition directories of a root.
func partitionDirs(t *testing.T, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		if _, _, ok := segments.ParsePartitionDir(e.Name()); ok && e.IsDir() {
			dirs = append(dirs, filepath.Join(root, e.Name()))
		}
	}
	if len(dirs) == 0 {
		t.Fatalf("%s: %v", root, fs.ErrNotExist)
	}
	return dirs
}
