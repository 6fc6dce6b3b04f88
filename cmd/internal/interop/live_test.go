package interop_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// klog follows what a broker writes, over rolls, transactions, a kill -9 that leaves a
// torn batch, and the broker's recovery; it prints what a client consumes. It changes
// nothing in the broker's directory and refuses to write there.
func TestInteropKlogFollowsARunningBroker(t *testing.T) {
	kafkaJars(t)
	t.Parallel()
	b := startBroker(t)
	b.createTopic("live", 2, "segment.bytes", "1048576")
	b.createTopic("txn", 1, "segment.bytes", "1048576", "segment.index.bytes", "4000")
	live := follow(t, "-R", b.logDir, "live")
	one := follow(t, b.partition("live", 1))
	every := follow(t, "-R", b.logDir, "txn")
	committed := follow(t, b.partition("txn", 0), "--isolation", "read_committed")

	l := startLoad(t, b, "live", 2)
	x := startTransactions(t, b, "txn")
	plain := b.client(kgo.DefaultProduceTopic("txn"))
	for i := range 9 {
		x.begin(30)
		x.end(i%3 != 1)
		if err := plain.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint("plain ", i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	wantSegments(t, b.partition("live", 1), 3)
	t.Run("running", func(t *testing.T) {
		before := hashes(t, b.logDir, true)
		readEverything(t, b.logDir)
		sameHashes(t, before, hashes(t, b.logDir, false))
		l.wait(t, 50)
	})
	t.Run("refused", func(t *testing.T) { writesAreRefused(t, b) })

	x.begin(10)
	b.kill()
	tear(t, b.partition("live", 0))
	t.Run("killed", func(t *testing.T) {
		before := hashes(t, b.logDir, false)
		readEverything(t, b.logDir)
		sameHashes(t, before, hashes(t, b.logDir, false))
	})
	b.start()
	x.end(true)
	x.begin(20)
	x.end(false)
	l.wait(t, 200)
	l.stop()
	x.begin(5)
	if err := plain.ProduceSync(t.Context(), kgo.StringRecord("behind an open transaction")).FirstErr(); err != nil {
		t.Fatal(err)
	}

	sameAsConsumed := func(t *testing.T) {
		want := b.consume("txn", 0, true)
		sameRecords(t, want, committed.records(0, len(want)))
		all := b.consume("txn", 0, false)
		sameRecords(t, all, every.records(0, len(all)))
		if len(want) >= len(all) {
			t.Errorf("%d records are committed, of %d", len(want), len(all))
		}
		for p := range int32(2) {
			want := b.consume("live", p, false)
			sameRecords(t, want, live.records(p, len(want)))
			if p == 1 {
				sameRecords(t, want, one.records(p, len(want)))
			}
			dir := b.partition("live", int(p))
			sameRecords(t, want, records(t, klog(t, "", "cat", "-J", dir)))
		}
	}
	t.Run("undecided", sameAsConsumed)
	x.end(true)
	t.Run("decided", sameAsConsumed)
	for _, f := range []*follower{live, one, every, committed} {
		f.end()
	}
	b.stop()
	t.Run("stopped", func(t *testing.T) {
		before := hashes(t, b.logDir, false)
		readEverything(t, b.logDir)
		sameHashes(t, before, hashes(t, b.logDir, false))
	})
}

// wantSegments waits until a partition has so many segments.
func wantSegments(t *testing.T, dir string, n int) {
	t.Helper()
	until(t, "segments in "+dir, func() error {
		if got := len(withSuffix(kafkaFiles(t, dir), ".log")); got < n {
			return fmt.Errorf("%d of %d", got, n)
		}
		return nil
	})
}

// readEverything runs the commands that read on a whole log directory. Verify must find
// nothing wrong.
func readEverything(t *testing.T, dir string) {
	t.Helper()
	if found := klog(t, "", "-R", dir, "verify", "--deep"); found != "" {
		t.Errorf("klog verify finds\n%s", found)
	}
	for _, args := range [][]string{
		{"cat", "live"},
		{"cat", "txn", "--isolation", "read_committed"},
		{"tail", "live", "-n", "3"},
		{"cat", filepath.Join(dir, "live-0"), "-o", "-2"},
		{"topic", "list"},
		{"topic", "describe", "live", "txn"},
		{"dump", dir},
		{"dump", "--deep", filepath.Join(dir, "txn-0")},
	} {
		if out := klog(t, "", append([]string{"-R", dir}, args...)...); out == "" {
			t.Errorf("klog %s prints nothing", strings.Join(args, " "))
		}
	}
}

// writesAreRefused runs the commands that write while the broker has its directory
// locked.
func writesAreRefused(t *testing.T, b *broker) {
	t.Helper()
	for _, args := range [][]string{
		{"produce", "live"},
		{"produce", "new"},
		{"topic", "create", "new"},
		{"topic", "alter", "live", "--partitions", "3"},
		{"topic", "delete", "-y", "live"},
		{"topic", "rename", "-y", "live", "other"},
	} {
		code, out, said := klogStatus(t, "x\n", append([]string{"-R", b.logDir, "--lock-timeout", "100ms"}, args...)...)
		if code != 5 || out != "" || !strings.Contains(said, fmt.Sprintf("locked by pid %d (a Kafka broker", b.cmd.Process.Pid)) {
			t.Errorf("klog %s: status %d, want 5\n%s%s", strings.Join(args, " "), code, out, said)
		}
	}
	hashes(t, b.logDir, true) // nothing of klog's is there
}

// hashes are the checksums of all files in a log directory, or only of those that a
// running broker has done with. klog must have made nothing of its own there.
func hashes(t *testing.T, dir string, sealed bool) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if sealed && os.IsNotExist(err) {
				return nil
			}
			return err
		}
		if strings.HasPrefix(d.Name(), ".klog") {
			t.Errorf("klog made %s", path)
		}
		if d.IsDir() || sealed && !isSealed(t, path) {
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isSealed tells whether a file belongs to a segment that is not the newest.
func isSealed(t *testing.T, path string) bool {
	t.Helper()
	if !strings.HasPrefix(filepath.Base(path), "0") {
		return false
	}
	logs := withSuffix(kafkaFiles(t, filepath.Dir(path)), ".log")
	return len(logs) > 0 && strings.TrimSuffix(path, filepath.Ext(path))+".log" < logs[len(logs)-1]
}

// sameHashes wants each file to be as it was.
func sameHashes(t *testing.T, before, after map[string][32]byte) {
	t.Helper()
	if len(before) < 5 {
		t.Errorf("only %d files to compare", len(before))
	}
	for path, h := range before {
		if after[path] != h {
			t.Errorf("%s was changed or removed", path)
		}
	}
}

// tear puts the first half of a batch at the end of a partition, as a broker leaves it
// that is killed in the middle of a write.
func tear(t *testing.T, dir string) {
	t.Helper()
	logs := withSuffix(kafkaFiles(t, dir), ".log")
	newest := logs[len(logs)-1]
	next := klog(t, "", "tail", dir, "-n", "1", "-F", "%o")
	var last int64
	if _, err := fmt.Sscan(next, &last); err != nil {
		t.Fatal(err)
	}
	batch, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	torn := batch[:(12+binary.BigEndian.Uint32(batch[8:]))/2]
	binary.BigEndian.PutUint64(torn, uint64(last+1))
	f, err := os.OpenFile(newest, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(torn); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(next, klog(t, "", "tail", dir, "-n", "1", "-F", "%o")); diff != "" {
		t.Errorf("the last offset before a torn batch (-before +after):\n%s", diff)
	}
}
