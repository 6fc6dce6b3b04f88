package segments_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/klog-project/klog/segments"
)

// franzDecode reads batches with another implementation of the format.
func franzDecode(t rapid.TB, raw []byte) []segments.Record {
	t.Helper()
	p := kmsg.NewFetchResponseTopicPartition()
	p.RecordBatches = raw
	got, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true}, &p, kgo.DefaultDecompressor(), nil)
	if got.Err != nil {
		t.Fatalf("franz-go: %v", got.Err)
	}
	var recs []segments.Record
	for _, r := range got.Records {
		rec := segments.Record{
			Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), LeaderEpoch: r.LeaderEpoch,
			TimestampType: segments.TimestampType(r.Attrs.TimestampType()), Key: r.Key, Value: r.Value,
		}
		for _, h := range r.Headers {
			rec.Headers = append(rec.Headers, segments.Header{Key: []byte(h.Key), Value: h.Value})
		}
		recs = append(recs, rec)
	}
	return recs
}

// sameBytes compares byte strings and tells null from empty.
func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// diffRecords is cmp.Diff for records, which takes byte strings as a whole.
func diffRecords(want, got []segments.Record) string {
	return cmp.Diff(want, got, cmp.Comparer(sameBytes))
}

// bytesOrNull draws null, empty and other byte strings, some of them compressible and
// longer than a codec's block.
func bytesOrNull(t *rapid.T, label string) []byte {
	switch rapid.IntRange(0, 19).Draw(t, label+" kind") {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		unit := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, label+" unit")
		var b []byte
		for n := rapid.IntRange(1, 70_000).Draw(t, label+" size"); len(b) < n; {
			b = append(b, unit...)
		}
		return b
	}
	return rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, label)
}

func drawHeaders(t *rapid.T) []segments.Header {
	var hs []segments.Header
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "headers") {
		hs = append(hs, segments.Header{
			Key:   []byte(rapid.StringN(0, 10, 30).Draw(t, "header key")),
			Value: bytesOrNull(t, "header value"),
		})
	}
	return hs
}

// drawBatch builds a batch of any kind and says which records are in it.
func drawBatch(t *rapid.T, b *segments.Builder) (raw []byte, want []segments.Record) {
	o := segments.BatchOptions{
		Codec:           segments.Codec(rapid.IntRange(0, 4).Draw(t, "codec")),
		Level:           rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "level"),
		HasProducer:     rapid.Bool().Draw(t, "producer"),
		ProducerID:      rapid.Int64Range(0, 1<<62).Draw(t, "producer id"),
		ProducerEpoch:   rapid.Int16Range(0, 1<<15-1).Draw(t, "producer epoch"),
		BaseSequence:    rapid.Int32Range(0, 1<<31-1).Draw(t, "sequence"),
		Transactional:   rapid.Bool().Draw(t, "transactional"),
		LastOffsetDelta: rapid.SampledFrom([]int32{0, 0, 1, 1000}).Draw(t, "last offset delta"),
	}
	if rapid.IntRange(0, 4).Draw(t, "with horizon") == 0 {
		o.DeleteHorizon = rapid.Int64Range(1, 1<<42).Draw(t, "horizon")
	}
	prefix := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "in front")
	b.Start(prefix, o)
	base := rapid.Int64Range(0, 1<<40).Draw(t, "base offset")
	epoch := rapid.Int32Range(0, 1<<31-1).Draw(t, "epoch")
	delta := int32(-1)
	ts := rapid.Int64Range(-1, 1<<42).Draw(t, "timestamp")
	for range rapid.IntRange(1, 30).Draw(t, "records") {
		if rapid.IntRange(0, 2).Draw(t, "new time") == 0 {
			ts = rapid.Int64Range(-1, 1<<42).Draw(t, "timestamp")
		}
		r := segments.Record{Timestamp: ts, LeaderEpoch: epoch, Value: bytesOrNull(t, "value")}
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			delta++
			b.AppendValue(ts, r.Value)
		case 1:
			delta++
			r.Key, r.Headers = bytesOrNull(t, "key"), drawHeaders(t)
			b.Append(ts, r.Key, r.Value, r.Headers)
		default:
			delta += rapid.Int32Range(1, 100_000).Draw(t, "hole")
			r.Key = bytesOrNull(t, "key")
			b.AppendAt(delta, ts, r.Key, r.Value, nil)
		}
		r.Offset = base + int64(delta)
		want = append(want, r)
	}
	size := b.Size()
	out, err := b.Finish()
	if err != nil {
		t.Fatalf("Finish: %v", err)
	}
	raw = out[len(prefix):]
	if string(out[:len(prefix)]) != string(prefix) || o.Codec == segments.None && len(raw) != size {
		t.Fatalf("%d bytes behind %x, Size was %d", len(raw), out[:len(prefix)], size)
	}
	segments.SetBaseOffset(raw, base)
	segments.SetLeaderEpoch(raw, epoch)
	if rapid.IntRange(0, 4).Draw(t, "log append time") == 0 {
		at := rapid.Int64Range(0, 1<<42).Draw(t, "append time")
		segments.SetLogAppendTime(raw, at)
		for i := range want {
			want[i].Timestamp, want[i].TimestampType = at, segments.LogAppendTime
		}
	}
	return raw, want
}

// TestRoundTrip builds batches of all kinds with one Builder and reads them back with
// one Decoder, and with franz-go.
func TestRoundTrip(t *testing.T) {
	var b segments.Builder
	var d, values segments.Decoder
	rapid.Check(t, func(t *rapid.T) {
		raw, want := drawBatch(t, &b)
		batch, err := segments.ParseBatch(raw, 0)
		if err != nil || !batch.CheckCRC() || len(batch.Raw) != len(raw) {
			t.Fatalf("ParseBatch: %v, crc %v", err, batch.CheckCRC())
		}
		if err := d.Open(batch); err != nil {
			t.Fatal(err)
		}
		if diff := diffRecords(want, readRecords(&d)); diff != "" || d.Err() != nil {
			t.Errorf("error %v, records (-want +got):\n%s", d.Err(), diff)
		}
		values.Open(batch)
		for _, r := range want {
			v, offset, ok := values.NextValue()
			if !ok || offset != r.Offset || !sameBytes(r.Value, v) {
				t.Fatalf("NextValue: offset %d, %d bytes, %v, %v, want offset %d", offset, len(v), ok, values.Err(), r.Offset)
			}
		}
		if _, _, ok := values.NextValue(); ok || values.Err() != nil {
			t.Errorf("NextValue goes on: %v", values.Err())
		}
		if diff := diffRecords(want, franzDecode(t, raw)); diff != "" {
			t.Errorf("franz-go's records (-want +got):\n%s", diff)
		}
	})
}
