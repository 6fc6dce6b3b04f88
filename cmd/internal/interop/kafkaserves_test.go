package interop_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// givenTopics are topics that klog writes and a broker takes over.
type givenTopics struct {
	root string
	want map[string][]record // what klog reads, by topic
}

// giveTopics fills a root with topics whose indexes are hard to get right: times out of
// order and equal, mixed codecs, batches of all sizes, LogAppendTime, full indexes.
func giveTopics(t *testing.T) givenTopics {
	t.Helper()
	g := givenTopics{root: filepath.Join(t.TempDir(), "root"), want: map[string][]record{}}
	create := func(topic string, configs ...string) {
		args := []string{"-R", g.root, "topic", "create", topic, "--config", "index.interval.bytes=" + indexInterval(topic)}
		for _, c := range configs {
			args = append(args, "--config", c)
		}
		klog(t, "", args...)
	}
	create("mixed", "segment.bytes=64KiB")
	for i, codec := range []string{"none", "zstd", "lz4", "none", "snappy", "gzip", "none"} {
		klog(t, rows(t, unorderedRecords(1200+i)), "-R", g.root, "produce", "mixed", "-J", "-z", codec, "--batch-size", strconv.Itoa(300+i*700))
	}
	create("equal", "segment.bytes=64KiB")
	for range 3 {
		klog(t, strings.Join(lines(1000), "\n"), "-R", g.root, "produce", "equal", "--timestamp", "@1764000000", "--batch-size", "1KiB")
	}
	create("interval", "segment.bytes=64KiB")
	klog(t, rows(t, unorderedRecords(4000)), "-R", g.root, "produce", "interval", "-J", "--batch-size", "3000")
	create("full", "segment.index.bytes=400")
	klog(t, rows(t, unorderedRecords(2500)), "-R", g.root, "produce", "full", "-J", "--batch-size", "400")
	create("large", "segment.bytes=8MiB")
	klog(t, rows(t, unorderedRecords(5000)), "-R", g.root, "produce", "large", "-J")
	writeAppendTime(t, g.root, "appendtime")
	writeFollowed(t, g.root, "follow")
	for _, topic := range []string{"mixed", "equal", "interval", "full", "large", "appendtime", "follow"} {
		g.want[topic] = records(t, klog(t, "", "-R", g.root, "cat", topic, "-J"))
	}
	return g
}

// unorderedRecords have times that rise on the whole, with steps back and repetitions.
func unorderedRecords(n int) []record {
	recs := oddRecords()
	for i := range recs {
		recs[i].TS += int64(n)
	}
	for i, line := range lines(n) {
		ts := 1_700_000_000_000 + int64(i/40*40)*1000 - int64(i*7919%97)*500
		recs = append(recs, record{TSType: "create", TS: ts, Key: text(line[:19]), Value: text(line)})
	}
	return recs
}

// indexInterval is index.interval.bytes of a topic, the same for klog and the broker.
func indexInterval(topic string) string {
	switch topic {
	case "interval":
		return "4096"
	case "appendtime", "follow":
		return "600"
	}
	return "512"
}

// place puts klog's files with these suffixes in the place of all segments of the
// broker's topic.
func (g givenTopics) place(t *testing.T, b *broker, topic string, suffixes ...string) {
	t.Helper()
	dir := b.partition(topic, 0)
	for _, f := range kafkaFiles(t, dir) {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range withSuffix(kafkaFiles(t, g.dir(topic)), suffixes...) {
		copyFile(t, f, dir)
	}
}

// copyFile copies a file into a directory.
func copyFile(t *testing.T, file, dir string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (g givenTopics) dir(topic string) string { return filepath.Join(g.root, topic+"-0") }

// A broker that finds klog's segments without indexes after a crash makes the same
// indexes as klog, to the byte. It serves the same records to its clients. And with
// klog's own indexes, which it believes after an orderly stop, it finds the same offsets
// for times.
func TestInteropKafkaServesWhatKlogWrote(t *testing.T) {
	kafkaJars(t)
	t.Parallel()
	g := giveTopics(t)
	b := startBroker(t)
	for topic := range g.want {
		b.createTopic(topic, 1, "index.interval.bytes", indexInterval(topic), "segment.bytes", "8388608", "retention.ms", "-1")
	}
	b.kill()
	for topic := range g.want {
		g.place(t, b, topic, ".log")
	}
	b.start()
	for topic, want := range g.want {
		t.Run("recovered/"+topic, func(t *testing.T) { sameRecords(t, want, b.consume(topic, 0, false)) })
	}
	b.stop()
	for topic := range g.want {
		t.Run("indexes/"+topic, func(t *testing.T) { g.sameIndexes(t, b, topic) })
	}
	for topic := range g.want {
		g.place(t, b, topic, ".log", ".index", ".timeindex", ".snapshot")
		copyFile(t, filepath.Join(g.dir(topic), "leader-epoch-checkpoint"), b.partition(topic, 0))
	}
	b.start()
	times := 0
	for topic, want := range g.want {
		t.Run("believed/"+topic, func(t *testing.T) {
			sameRecords(t, want, b.consume(topic, 0, false))
			times += g.sameTimes(t, b, topic)
		})
	}
	if times < 30 {
		t.Errorf("only %d times compared", times)
	}
	b.stop()
	for topic, want := range g.want {
		epochs, err := os.ReadFile(filepath.Join(b.partition(topic, 0), "leader-epoch-checkpoint"))
		if begin := "0\n2\n0 0\n"; err != nil || !strings.HasPrefix(string(epochs), begin) || !strings.HasSuffix(string(epochs), fmt.Sprintf(" %d\n", len(want))) {
			t.Errorf("%s: Kafka makes of klog's epochs %q, %v", topic, epochs, err)
		}
	}
}

// sameIndexes compares klog's indexes with those that the broker derived. The newest
// segment's are the beginning of what Kafka makes when it closes them.
func (g givenTopics) sameIndexes(t *testing.T, b *broker, topic string) {
	t.Helper()
	logs := withSuffix(kafkaFiles(t, g.dir(topic)), ".log")
	kafka := withSuffix(kafkaFiles(t, b.partition(topic, 0)), ".log")
	if len(logs) != len(kafka) || topic != "large" && len(logs) < 4 {
		t.Errorf("klog has %d segments, Kafka %d", len(logs), len(kafka))
	}
	for i, log := range logs {
		for _, suffix := range []string{".log", ".index", ".timeindex"} {
			name := strings.TrimSuffix(filepath.Base(log), ".log") + suffix
			ours, err := os.ReadFile(filepath.Join(g.dir(topic), name))
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := os.ReadFile(filepath.Join(b.partition(topic, 0), name))
			if err != nil {
				t.Fatal(err)
			}
			same := bytes.Equal(ours, theirs)
			if i == len(logs)-1 && suffix == ".timeindex" {
				same = bytes.HasPrefix(theirs, ours) && len(theirs) <= len(ours)+12
			}
			if !same {
				t.Errorf("%s differs: klog's has %d bytes, Kafka's %d", name, len(ours), len(theirs))
			}
		}
	}
}

// sameTimes asks the broker and klog where times are, and returns how many it asked. In the newest segment a broker
// knows the greatest time only if it closed it itself, so that times above those of the
// sealed segments are left out.
func (g givenTopics) sameTimes(t *testing.T, b *broker, topic string) int {
	t.Helper()
	logs := withSuffix(kafkaFiles(t, g.dir(topic)), ".log")
	newest, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(logs[len(logs)-1]), ".log"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[int64]string{}, map[int64]string{}
	recs := g.want[topic]
	for i := 0; i < len(recs); i += len(recs)/12 + 1 {
		ts := recs[i].TS
		offset := strings.TrimSpace(klog(t, "", "-R", g.root, "cat", topic, "-o", "@"+strconv.FormatInt(ts, 10), "-n", "1", "-F", "%o"))
		if n, err := strconv.ParseInt(offset, 10, 64); err != nil || n >= newest {
			continue
		}
		want[ts], got[ts] = offset, fmt.Sprint(b.offset(topic, 0, ts, false))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first offsets of times (-klog +Kafka):\n%s", diff)
	}
	return len(want)
}
