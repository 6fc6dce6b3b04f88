package feed_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func TestKeyedRecordsKeepTheirOrder(t *testing.T) {
	const n = 120000
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "key%d\t%d\n", i%977, i)
	}
	tp := newTopic(8)
	o := options(t, tp, text.String())
	o.KeyDelimiter = []byte("\t")
	o.Partitioner = engine.CRC32
	o.Target.OpenWriters = 3
	if res := run(t, o); res.Records != n || res.Safe != n {
		t.Errorf("counted %+v", res)
	}
	seen := 0
	for p := range tp.parts {
		last := -1
		for _, r := range tp.parts[p].records {
			var i int
			fmt.Sscan(string(r.Value), &i)
			if i <= last || string(r.Key) != fmt.Sprint("key", i%977) || int(crc32.ChecksumIEEE(r.Key)%8) != p {
				t.Fatalf("partition %d: %q %q after %d", p, r.Key, r.Value, last)
			}
			last = i
			seen++
		}
	}
	if seen != n {
		t.Errorf("%d records, want %d", seen, n)
	}
	if tp.most > 3 || tp.open != 0 {
		t.Errorf("%d writers were open at a time, %d at the end", tp.most, tp.open)
	}
}

func TestRowsKeepAllTheirParts(t *testing.T) {
	for _, partitions := range []int{1, 4} {
		tp := newTopic(partitions)
		o := options(t, tp, numbered("", 2000))
		o.Fixed.Headers = []segments.Header{{Key: []byte("all"), Value: []byte("1")}}
		o.OwnPartition = true
		o.Workers = 1
		scratch := []byte("k")
		o.Parser = rowParser(func(r *format.Row) {
			scratch = append(scratch[:1], r.Value...) // lives for one record
			r.Key = scratch
			if r.Value[0] == '7' {
				r.Key = nil
			}
			r.Headers = append(r.Headers, segments.Header{Key: []byte("h"), Value: r.Value}, segments.Header{Key: []byte("h")})
			r.Timestamp, r.HasTimestamp = int64(len(r.Value)), true
			if r.Value[0] == '9' {
				r.Partition = int32(partitions - 1)
			}
		})
		run(t, o)
		n := 0
		for p := range tp.parts {
			for _, r := range tp.parts[p].records {
				n++
				wantKey := []byte("k" + string(r.Value))
				if r.Value[0] == '7' {
					wantKey = nil
				}
				want := segments.Record{
					Key: wantKey, Value: r.Value, Timestamp: int64(len(r.Value)), Offset: r.Offset, LeaderEpoch: r.LeaderEpoch,
					Headers: []segments.Header{{Key: []byte("h"), Value: r.Value}, {Key: []byte("h")}, {Key: []byte("all"), Value: []byte("1")}},
				}
				if diff := cmp.Diff(want, r); diff != "" {
					t.Fatalf("record (-want +got):\n%s", diff)
				}
				if r.Value[0] == '9' && p != partitions-1 {
					t.Errorf("%q is in partition %d", r.Value, p)
				}
			}
		}
		if n != 2000 {
			t.Errorf("%d records", n)
		}
	}
}

func TestFixedKeyAndTime(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, "a\n\n")
	o.Fixed = feed.Fixed{Key: []byte("k"), Timestamp: 12345, HasTime: true}
	run(t, o)
	rs := tp.parts[0].records
	if len(rs) != 2 || string(rs[0].Key) != "k" || rs[0].Timestamp != 12345 || string(rs[0].Value) != "a" || rs[1].Value == nil {
		t.Errorf("records %+v", rs)
	}
}

func TestG128Timestamps(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		ts   int64
		want bool
	}{
		{-2, false},
		{-1, true},
		{0, false},
		{now.UnixMilli() - 1001, false},
		{now.UnixMilli() - 1000, true},
		{now.UnixMilli() + 500, true},
		{now.UnixMilli() + 501, false},
		{1 << 62, false},
	} {
		tp := newTopic(1)
		o := options(t, tp, "v\n")
		o.Now = func() time.Time { return now }
		o.Limits.Earliest, o.Limits.Latest = 1000, 500
		o.Parser = rowParser(func(r *format.Row) { r.Timestamp, r.HasTimestamp = c.ts, true })
		_, err := feed.Run(t.Context(), o)
		if (err == nil) != c.want {
			t.Errorf("%d: error %v", c.ts, err)
		}
	}
	// Without bounds any time from 1970 on will do.
	tp := newTopic(1)
	o := options(t, tp, "v\n")
	o.Fixed = feed.Fixed{HasTime: true}
	run(t, o)
}

func TestCodecs(t *testing.T) {
	text := numbered("a line that compresses well ", 30000)
	for _, codec := range []segments.Codec{segments.Gzip, segments.Snappy, segments.LZ4, segments.Zstd} {
		tp := newTopic(1)
		o := options(t, tp, text)
		o.Codec = codec
		run(t, o)
		if strings.Join(tp.values(0), "\n")+"\n" != text {
			t.Errorf("%v: not what went in", codec)
		}
		for _, h := range tp.parts[0].heads {
			if h.Codec() != codec {
				t.Fatalf("a batch of %v, want %v", h.Codec(), codec)
			}
		}
	}
}

func TestOffsetsAndTee(t *testing.T) {
	tp := newTopic(2)
	var offsets, tee bytes.Buffer
	o := options(t, tp, "a\nb\n", "c", "d\n")
	o.Partition = 1
	o.Offsets, o.Tee = &offsets, &tee
	run(t, o)
	if got, want := offsets.String(), "t\t1\t0\nt\t1\t1\nt\t1\t2\nt\t1\t3\n"; got != want {
		t.Errorf("offsets %q, want %q", got, want)
	}
	if got, want := tee.String(), "a\nb\ncd\n"; got != want {
		t.Errorf("tee %q, want %q", got, want)
	}
}

func TestTeeStopsWhereTheLogDoes(t *testing.T) {
	tp := newTopic(3)
	var offsets, tee bytes.Buffer
	o := options(t, tp, "k:a\nl:b\nbad\nm:c\n")
	o.KeyDelimiter = []byte(":")
	o.Offsets, o.Tee = &offsets, &tee
	if _, err := feed.Run(t.Context(), o); err == nil {
		t.Fatal("no error")
	}
	if tee.String() != "k:a\nl:b\n" || strings.Count(offsets.String(), "\n") != 2 {
		t.Errorf("tee %q, offsets %q", &tee, &offsets)
	}
}

func TestG017SyncBatchComesBeforeTheOffset(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, "a\nb\n")
	o.Sync = feed.Sync{Batch: true, Exit: true}
	var offsets bytes.Buffer
	o.Offsets = &offsets
	o.Flush = func() error {
		if offsets.Len() > 0 {
			tp.events = append(tp.events, "print")
		}
		return nil
	}
	run(t, o)
	if diff := cmp.Diff([]string{"append", "sync", "print"}, tp.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	tp.syncErr = syscall.EIO
	offsets.Reset()
	o.Inputs = options(t, tp, "c\nd\n").Inputs
	_, err := feed.Run(t.Context(), o)
	var sync *feed.SyncError
	if !errors.As(err, &sync) || !errors.Is(err, syscall.EIO) || offsets.Len() > 0 {
		t.Errorf("error %v, printed %q", err, &offsets)
	}
}

func TestG016FailedSyncIsNotTriedAgain(t *testing.T) {
	tp := newTopic(1)
	tp.syncErr = syscall.EIO
	o := options(t, tp, numbered("a line of some length ", 100000))
	o.Sync = feed.Sync{Exit: true, Bytes: 256 << 10}
	_, err := feed.Run(t.Context(), o)
	var stop *feed.StopError
	if !errors.Is(err, syscall.EIO) || !errors.As(err, &stop) || stop.Safe != int64(len(tp.values(0))) {
		t.Errorf("error %v", err)
	}
	if tp.syncs != 1 {
		t.Errorf("%d syncs", tp.syncs)
	}
}

func TestSyncModes(t *testing.T) {
	text := numbered("a line of some length ", 100000)
	size := int64(len(text))
	for _, c := range []struct {
		name    string
		sync    feed.Sync
		atLeast int
		atMost  int
		synced  bool
	}{
		{"never", feed.Sync{}, 0, 0, false},
		{"exit", feed.Sync{Exit: true}, 1, 1, true},
		{"exit and bytes", feed.Sync{Exit: true, Bytes: size / 2}, 2, 12, true},
		{"messages", feed.Sync{Messages: 50000}, 1, 2, false},
	} {
		tp := newTopic(1)
		o := options(t, tp, text)
		o.Sync = c.sync
		run(t, o)
		if tp.syncs < c.atLeast || tp.syncs > c.atMost {
			t.Errorf("%s: %d syncs, want %d to %d", c.name, tp.syncs, c.atLeast, c.atMost)
		}
		if c.synced && tp.parts[0].synced != 100000 {
			t.Errorf("%s: synced up to %d", c.name, tp.parts[0].synced)
		}
	}
}

func TestSyncEverySoOftenWhileNothingComes(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	o.Sync.Every = time.Millisecond
	done := start(t.Context(), o)
	for i := range int64(3) {
		io.WriteString(w, "line\n")
		until(t, "the line is synced", func() bool {
			tp.mu.Lock()
			defer tp.mu.Unlock()
			return tp.parts[0].synced == i+1
		})
	}
	tp.mu.Lock()
	tp.syncErr = syscall.EIO
	tp.mu.Unlock()
	io.WriteString(w, "line\n")
	// The failure ends the run although no input comes any more.
	if got := <-done; !errors.Is(got.err, syscall.EIO) {
		t.Errorf("ended with %+v", got)
	}
}

func TestLingerWaitsForMore(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	o.Linger = time.Hour
	o.Limits.Batch = 1000
	done := start(t.Context(), o)
	for range 30 {
		io.WriteString(w, strings.Repeat("x", 49)+"\n")
	}
	until(t, "a full batch goes at once", func() bool { return len(tp.values(0)) >= 18 })
	w.Close()
	if got := <-done; got.err != nil || len(tp.values(0)) != 30 {
		t.Errorf("ended with %+v, %d records", got, len(tp.values(0)))
	}
	if len(tp.parts[0].sizes) > 4 {
		t.Errorf("batches of %v bytes", tp.parts[0].sizes)
	}
}

func TestRate(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, numbered("", 60))
	o.Rate = 200
	begin := time.Now()
	run(t, o)
	// 20 at once, the others at 200 a second: a lower bound of a duration cannot fail
	// on a slow machine.
	if took := time.Since(begin); took < 150*time.Millisecond {
		t.Errorf("60 records at 200/s took %v", took)
	}
	if len(tp.values(0)) != 60 || len(tp.parts[0].sizes) != 3 {
		t.Errorf("%d records in batches of %v bytes", len(tp.values(0)), tp.parts[0].sizes)
	}
}

func TestRoundRobin(t *testing.T) {
	tp := newTopic(3)
	o := options(t, tp, numbered("", 9))
	o.Partitioner = engine.RoundRobin
	run(t, o)
	for p := range tp.parts {
		if n := len(tp.values(p)); n != 3 {
			t.Errorf("partition %d has %d records", p, n)
		}
	}
}

func TestG086ZerosInFrontOfALine(t *testing.T) {
	zeros := strings.Repeat("\x00", 20_000_000)
	for _, how := range []feed.Oversize{feed.Fail, feed.Skip} {
		tp := newTopic(1)
		o := options(t, tp, "first\n"+zeros+"line\nnext\n")
		o.Oversize = how
		res, err := feed.Run(t.Context(), o)
		var over *feed.OversizeError
		if how == feed.Fail {
			if !errors.As(err, &over) || over.Size != 20_000_004 {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err != nil || res.LeftOut != 1 || !slices.Equal(tp.values(0), []string{"first", "next"}) {
			t.Errorf("%+v, %v: %d records", res, err, len(tp.values(0)))
		}
	}
	tp := newTopic(1)
	o := options(t, tp, zeros+"line\nnext\n")
	o.Codec, o.Limits.Line = segments.Zstd, 1<<30
	run(t, o)
	if vs := tp.values(0); len(vs) != 2 || vs[0] != zeros+"line" || vs[1] != "next" {
		t.Errorf("lengths %v", lengths(vs))
	}
}
