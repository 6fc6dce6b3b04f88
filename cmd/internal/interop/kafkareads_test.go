package interop_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// written is a topic that klog wrote, and what is in it.
type written struct {
	codec   string
	want    []record // offsets are dense from 0; the time 0 is one of this test's run
	follows bool     // all but the odd records come from an idempotent producer
}

// writeTopics fills a root with topics of several segments each: every codec, records of
// every kind, LogAppendTime, idempotent batches.
func writeTopics(t *testing.T, root string) map[string]written {
	t.Helper()
	topics := map[string]written{}
	for i, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		klog(t, "", "-R", root, "topic", "create", codec, "--config", "segment.bytes=16KiB", "--config", "index.interval.bytes=600")
		recs := []record{}
		for k, line := range lines(1500 + i) {
			r := record{TSType: "create", TS: 1_764_000_000_000 + int64(k%7*1000+k/3), Value: text(line)}
			if k%2 == 0 {
				r.Key = text(line[:23])
			}
			recs = append(recs, r)
		}
		recs = append(recs, oddRecords()...)
		klog(t, rows(t, recs), "-R", root, "produce", codec, "-J", "-z", codec, "--batch-size", "4KiB")
		topics[codec] = written{codec: codec, want: recs}
	}
	topics["appendtime"] = written{codec: "none", want: writeAppendTime(t, root, "appendtime")}
	topics["follow"] = written{codec: "none", want: writeFollowed(t, root, "follow"), follows: true}
	return topics
}

// writeAppendTime fills a topic whose times are those of the append.
func writeAppendTime(t *testing.T, root, topic string) []record {
	t.Helper()
	klog(t, "", "-R", root, "topic", "create", topic, "--config", "segment.bytes=16KiB", "--config", "index.interval.bytes=600", "--config", "message.timestamp.type=LogAppendTime")
	recs := oddRecords()
	for _, line := range lines(600) {
		recs = append(recs, record{Value: text(line)})
	}
	for i := range recs {
		recs[i].TSType, recs[i].TS = "logappend", 0
	}
	half := len(recs) / 2
	klog(t, rows(t, recs[:half]), "-R", root, "produce", topic, "-J", "--batch-size", "2KiB")
	klog(t, rows(t, recs[half:]), "-R", root, "produce", topic, "-J", "--batch-size", "2KiB")
	return recs
}

// writeFollowed fills a topic by following a file, which makes idempotent batches, in
// two runs, and a few records without a producer between and behind.
func writeFollowed(t *testing.T, root, topic string) []record {
	t.Helper()
	klog(t, "", "-R", root, "topic", "create", topic, "--config", "segment.bytes=16KiB", "--config", "index.interval.bytes=600")
	file := filepath.Join(t.TempDir(), "app.log")
	var recs []record
	for _, part := range [][]string{lines(500), lines(501)} {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range part {
			recs = append(recs, record{TSType: "create", Value: text(line)})
		}
		_, err = f.WriteString(strings.Join(part, "\n") + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		runFollow(t, root, topic, file, len(recs))
		odd := oddRecords()
		klog(t, rows(t, odd), "-R", root, "produce", topic, "-J")
		recs = append(recs, odd...)
	}
	return recs
}

// runFollow follows a file until the topic has so many records.
func runFollow(t *testing.T, root, topic, file string, n int) {
	t.Helper()
	c := program(t, "-R", root, "produce", topic, "--follow", file, "--batch-size", "2KiB")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	last := strconv.Itoa(n - 1)
	until(t, "follow "+file, func() error {
		got := klog(t, "", "-R", root, "tail", topic, "-n", "1", "-F", "%o")
		if got != last {
			return fmt.Errorf("offset %s, want %s", got, last)
		}
		return nil
	})
	c.Process.Signal(syscall.SIGTERM)
	if c.Wait(); c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Fatalf("%v\n%s", c.ProcessState, said.String())
	}
}

// Kafka's log dump tool finds every file that klog writes in order, every batch valid,
// and the records that went in.
func TestInteropKafkaDumpsWhatKlogWrote(t *testing.T) {
	kafkaJars(t)
	t.Parallel()
	root := filepath.Join(t.TempDir(), "root")
	start := time.Now().UnixMilli()
	topics := writeTopics(t, root)
	end := time.Now().UnixMilli()
	var files, indexes []string
	for name := range topics {
		files = append(files, kafkaFiles(t, filepath.Join(root, name+"-0"))...)
	}
	indexes = withSuffix(files, ".index", ".timeindex")
	var sane []string
	for _, d := range dumpLog(t, indexes, "--index-sanity-check") {
		sane = append(sane, d.sane...)
	}
	slices.Sort(sane)
	slices.Sort(indexes)
	if diff := cmp.Diff(indexes, sane); diff != "" {
		t.Errorf("indexes that pass Kafka's sanity check (-want +got):\n%s", diff)
	}
	dumps := dumpLog(t, files, "--deep-iteration", "--print-data-log")
	for name, w := range topics {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name+"-0")
			files, d := kafkaFiles(t, dir), dumps[dir]
			sameBatches(t, d, w)
			for i := range d.records {
				if r := &d.records[i]; r.TS >= start && r.TS <= end {
					r.TS = 0
				}
			}
			sameDumped(t, d, w)
			if n := len(withSuffix(files, ".log")); n < 3 {
				t.Errorf("only %d segments", n)
			}
			sealed := withSuffix(files, ".index")
			for _, f := range sealed[:len(sealed)-1] {
				if d.entries[f] == 0 {
					t.Errorf("%s has no entry", f)
				}
			}
			if w.follows {
				sameProducers(t, d, files)
			}
		})
	}
}

// sameBatches wants valid batches of one codec.
func sameBatches(t *testing.T, d *logDump, w written) {
	t.Helper()
	if len(d.batches) < 20 {
		t.Errorf("only %d batches", len(d.batches))
	}
	for _, b := range d.batches {
		if b["isvalid"] != "true" || b["magic"] != "2" || b["compresscodec"] != w.codec || b["isTransactional"] != "false" || b["isControl"] != "false" || b["partitionLeaderEpoch"] != "0" {
			t.Errorf("Kafka sees the batch %v", b)
		}
	}
}

// sameDumped compares records as far as the tool prints them.
func sameDumped(t *testing.T, d *logDump, w written) {
	t.Helper()
	var got, want []record
	for _, r := range d.records {
		got = append(got, r.record)
	}
	for i, r := range w.want {
		r.Offset = int64(i)
		r.Headers = slices.Clone(r.Headers)
		for j := range r.Headers {
			r.Headers[j].Value = nil
		}
		want = append(want, r)
	}
	sameRecords(t, want, got)
}

// sameProducers wants the sequences of the batches to be without a gap, and each
// snapshot to know the last batch before it of every producer.
func sameProducers(t *testing.T, d *logDump, files []string) {
	t.Helper()
	next := map[string]int{}
	type batch struct{ lastSequence, lastOffset string }
	snapshots := withSuffix(files, ".snapshot")
	if len(snapshots) < 2 {
		t.Errorf("only the snapshots %q", snapshots)
	}
	want := map[string]map[string]batch{}
	for _, b := range d.batches {
		id := b["producerId"]
		if id == "-1" {
			continue
		}
		if first := strconv.Itoa(next[id]); b["baseSequence"] != first || b["producerEpoch"] != "0" {
			t.Errorf("Kafka sees the batch %v, want sequence %s of epoch 0", b, first)
		}
		last, err := strconv.Atoi(b["lastSequence"])
		if err != nil {
			t.Fatal(err)
		}
		next[id] = last + 1
		offset, _ := strconv.Atoi(b["lastOffset"])
		for _, f := range snapshots {
			if base, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(f), ".snapshot")); offset < base {
				if want[f] == nil {
					want[f] = map[string]batch{}
				}
				want[f][id] = batch{b["lastSequence"], b["lastOffset"]}
			}
		}
	}
	got := map[string]map[string]batch{}
	for f, producers := range d.snapshot {
		got[f] = map[string]batch{}
		for _, p := range producers {
			got[f][p["producerId"]] = batch{p["lastSequence"], p["lastOffset"]}
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(batch{})); diff != "" {
		t.Errorf("producers in snapshots (-want +got):\n%s", diff)
	}
	if len(next) == 0 {
		t.Error("no batch has a producer")
	}
}
