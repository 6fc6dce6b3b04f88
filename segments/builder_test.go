package segments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
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
