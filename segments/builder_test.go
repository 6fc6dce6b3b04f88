package segments_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// decodeAll reads every record of raw, a whole batch, as copies.
func decodeAll(t *testing.T, raw []byte) []segments.Record {
	t.Helper()
	b, err := segments.ParseBatch(raw, 0)
	if err != nil {
		t.Fatalf("ParseBatch: %v", err)
	}
	if len(b.Raw) != len(raw) || !b.CheckCRC() {
		t.Fatalf("batch of %d bytes in %d, crc %v", len(b.Raw), len(raw), b.CheckCRC())
	}
	var d segments.Decoder
	d.Open(b)
	recs := readRecords(&d)
	if err := d.Err(); err != nil {
		t.Fatalf("Err: %v", err)
	}
	return recs
}

// readRecords reads what is left of d's batch, with headers of their own.
func readRecords(d *segments.Decoder) []segments.Record {
	var recs []segments.Record
	var r segments.Record
	for d.Next(&r) {
		c := r
		c.Headers = append([]segments.Header(nil), r.Headers...)
		recs = append(recs, c)
	}
	return recs
}

func TestBuilderRoundTrip(t *testing.T) {
	var b segments.Builder
	b.Start([]byte("before"), segments.BatchOptions{})
	b.AppendValue(1000, []byte("first"))
	b.AppendValue(1000, []byte("second"))
	b.AppendValue(1000, nil)
	b.AppendValue(2000, []byte{})
	b.Append(-1, []byte("k"), nil, []segments.Header{{Key: []byte("h"), Value: nil}, {Key: []byte{}, Value: []byte("v")}})
	size := b.Size()
	out, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if string(out[:6]) != "before" || len(out)-6 != size {
		t.Fatalf("got %d bytes behind %q, Size said %d", len(out)-6, out[:6], size)
	}
	want := []segments.Record{
		{Offset: 0, Timestamp: 1000, LeaderEpoch: -1, Value: []byte("first")},
		{Offset: 1, Timestamp: 1000, LeaderEpoch: -1, Value: []byte("second")},
		{Offset: 2, Timestamp: 1000, LeaderEpoch: -1},
		{Offset: 3, Timestamp: 2000, LeaderEpoch: -1, Value: []byte{}},
		{Offset: 4, Timestamp: -1, LeaderEpoch: -1, Key: []byte("k"), Headers: []segments.Header{{Key: []byte("h")}, {Key: []byte{}, Value: []byte("v")}}},
	}
	if diff := cmp.Diff(want, decodeAll(t, out[6:])); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestBuilderWritesKafkasBytes encodes the records of Kafka's own uncompressed batches
// and wants the very same bytes.
func TestBuilderWritesKafkasBytes(t *testing.T) {
	var w segments.Builder
	compared := 0
	for _, g := range segmentstest.Vectors(t).Good {
		for i, b := range parseAll(t, segmentstest.File(t, g.File)) {
			if b.Magic < 2 || b.Codec() != segments.None || b.Count == 0 {
				continue
			}
			var d segments.Decoder
			d.Open(b)
			recs := readRecords(&d)
			o := segments.BatchOptions{
				HasProducer: true, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, BaseSequence: b.BaseSequence,
				Transactional: b.Transactional(), Control: b.Control(), LastOffsetDelta: b.LastOffsetDelta,
			}
			if b.HasDeleteHorizon() {
				o.DeleteHorizon = b.BaseTimestamp
			} else if b.BaseTimestamp != recs[0].Timestamp {
				continue // a client that takes another base, or LogAppendTime
			}
			w.Start(nil, o)
			for _, r := range recs {
				w.AppendAt(int32(r.Offset-b.BaseOffset), r.Timestamp, r.Key, r.Value, r.Headers)
			}
			raw, err := w.Finish()
			if err != nil {
				t.Fatal(err)
			}
			segments.SetBaseOffset(raw, b.BaseOffset)
			segments.SetLeaderEpoch(raw, b.LeaderEpoch)
			if b.TimestampType() == segments.LogAppendTime {
				segments.SetLogAppendTime(raw, b.MaxTimestamp)
			}
			if !bytes.Equal(raw, b.Raw) {
				t.Errorf("%s, batch %d (-want +got):\n%s", g.File, i, cmp.Diff(hex.Dump(b.Raw), hex.Dump(raw)))
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("only %d batches compared", compared)
	}
}

// TestAppendEmptyBatch writes what Kafka's compaction leaves of a batch without records.
func TestAppendEmptyBatch(t *testing.T) {
	found := false
	for _, b := range parseAll(t, segmentstest.File(t, "good/compacted-empty.log")) {
		if b.Count != 0 {
			continue
		}
		found = true
		h := b.BatchHeader
		h.Count, h.Length, h.CRC, h.BaseTimestamp = 3, 1000, 1, 5
		h.Attributes |= int16(segments.Zstd) | 0x40
		got := segments.AppendEmptyBatch([]byte("in front"), h)
		if !bytes.Equal(got[8:], b.Raw) {
			t.Errorf("(-Kafka +klog):\n%s", cmp.Diff(hex.Dump(b.Raw), hex.Dump(got[8:])))
		}
	}
	if !found {
		t.Error("no empty batch in the golden file")
	}
}

// TestEmptyBatch finishes a batch without records: legal, not compressed, one offset.
func TestEmptyBatch(t *testing.T) {
	for _, o := range []segments.BatchOptions{{}, {Codec: segments.Gzip}, {LastOffsetDelta: 9}} {
		var w segments.Builder
		w.Start(nil, o)
		raw, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		b, err := segments.ParseBatch(raw, 0)
		if err != nil || !b.CheckCRC() || b.Codec() != segments.None || b.Count != 0 || b.LastOffsetDelta != o.LastOffsetDelta || b.BaseTimestamp != -1 || b.MaxTimestamp != -1 {
			t.Errorf("%+v: %+v, %v", o, b.BatchHeader, err)
		}
		if len(decodeAll(t, raw)) != 0 {
			t.Errorf("%+v: records", o)
		}
	}
}

// TestBuilderErrors wants a batch that cannot be written to be refused, and the bytes
// in front of it to come back.
func TestBuilderErrors(t *testing.T) {
	var w segments.Builder
	for _, c := range []struct {
		name  string
		o     segments.BatchOptions
		build func()
		is    error
	}{
		{"offset back", segments.BatchOptions{}, func() { w.AppendAt(5, 0, nil, nil, nil); w.AppendAt(5, 0, nil, nil, nil) }, nil},
		{"no offsets left", segments.BatchOptions{}, func() { w.AppendAt(math.MaxInt32, 0, nil, nil, nil); w.AppendValue(0, []byte{}) }, segments.ErrBatchTooLarge},
		{"unknown codec", segments.BatchOptions{Codec: 6}, func() { w.AppendValue(0, []byte("v")) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.Start([]byte("in front"), c.o)
			c.build()
			got, err := w.Finish()
			if err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v", err)
			}
			if string(got) != "in front" {
				t.Errorf("got %q", got)
			}
		})
	}
	w.Start(nil, segments.BatchOptions{})
	w.AppendValue(0, []byte("v"))
	raw, err := w.Finish()
	if err != nil || len(decodeAll(t, raw)) != 1 {
		t.Errorf("the next batch: %v", err)
	}
}

// TestHotPathsDoNotAllocate holds what is called for every record, and for every batch
// once the buffers have their size, to no allocation at all.
func TestHotPathsDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates beside")
	}
	lines := logLines(100)
	header := []segments.Header{{Key: []byte("k"), Value: []byte("v")}}
	for codec := segments.None; codec <= segments.Zstd; codec++ {
		var w segments.Builder
		var d segments.Decoder
		var r segments.Record
		buf := make([]byte, 0, 1<<20)
		n := testing.AllocsPerRun(20, func() {
			w.Start(buf, segments.BatchOptions{Codec: codec})
			for i, line := range lines {
				w.AppendValue(int64(i/8), line)
				w.Append(int64(i/8), line[:10], line, header)
			}
			raw, err := w.Finish()
			if err != nil {
				t.Fatal(err)
			}
			b, err := segments.ParseBatch(raw, 0)
			if err != nil || !b.CheckCRC() {
				t.Fatal(err)
			}
			d.Open(b)
			for d.Next(&r) {
			}
			d.Open(b)
			for _, _, ok := d.NextValue(); ok; _, _, ok = d.NextValue() {
			}
			if d.Err() != nil {
				t.Fatal(d.Err())
			}
		})
		if n > 0 {
			t.Errorf("%v: %v allocations a batch", codec, n)
		}
	}
}
