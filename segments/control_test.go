package segments_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// TestMarkersOfKafka reads the control records of Kafka's own transactions and writes
// the same bytes.
func TestMarkersOfKafka(t *testing.T) {
	want := map[int64]segments.ControlType{
		7: segments.AbortMarker, 8: segments.CommitMarker, 10: segments.CommitMarker, 13: segments.AbortMarker,
	}
	var d segments.Decoder
	seen := map[int64]segments.ControlType{}
	for _, b := range parseAll(t, segmentstest.File(t, "good/transactions.log")) {
		if !b.Control() {
			continue
		}
		var r segments.Record
		if d.Open(b); !d.Next(&r) {
			t.Fatalf("offset %d: %v", b.BaseOffset, d.Err())
		}
		c, err := segments.ParseControl(r)
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Offset] = c.Type
		again := segments.AppendMarker(nil, segments.Marker{
			Type: c.Type, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
			CoordinatorEpoch: c.CoordinatorEpoch, Timestamp: r.Timestamp,
		})
		segments.SetBaseOffset(again, b.BaseOffset)
		segments.SetLeaderEpoch(again, b.LeaderEpoch)
		if diff := cmp.Diff(b.Raw, again); diff != "" {
			t.Errorf("offset %d (-Kafka +klog):\n%s", r.Offset, diff)
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
}

func TestParseControl(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		want             segments.Control
		err              string
	}{
		{name: "commit", key: "\x00\x00\x00\x01", value: "\x00\x00\x00\x00\x00\x07", want: segments.Control{Type: segments.CommitMarker, CoordinatorEpoch: 7}},
		{name: "longer", key: "\x00\x01\x00\x00more", value: "\x00\x01\xff\xff\xff\xffmore", want: segments.Control{Type: segments.AbortMarker, Version: 1, CoordinatorEpoch: -1}},
		{name: "unknown type", key: "\x00\x00\x03\xe7", want: segments.Control{Type: 999, CoordinatorEpoch: -1}},
		{name: "short key", key: "\x00\x00\x00", err: "key of 3 bytes"},
		{name: "negative version", key: "\xff\xff\x00\x00", value: "\x00\x00\x00\x00\x00\x00", err: "key version -1"},
		{name: "short value", key: "\x00\x00\x00\x00", value: "\x00\x00\x00", err: "abort with a value of 3 bytes"},
		{name: "negative value version", key: "\x00\x00\x00\x01", value: "\xff\xff\x00\x00\x00\x00", err: "commit with value version -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := segments.ParseControl(segments.Record{Offset: 42, Key: []byte(c.key), Value: []byte(c.value)})
			if c.err != "" {
				if !errors.Is(err, segments.ErrCorrupt) || !strings.Contains(err.Error(), "control record 42: "+c.err) {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}
