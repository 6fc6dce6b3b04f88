package segments_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// parseAll cuts data into batches, which must fill it and have good checksums.
func parseAll(t *testing.T, data []byte) []segments.Batch {
	t.Helper()
	var batches []segments.Batch
	for pos := int64(0); pos < int64(len(data)); {
		b, err := segments.ParseBatch(data[pos:], pos)
		if err != nil {
			t.Fatalf("byte %d: %v", pos, err)
		}
		if !b.CheckCRC() {
			t.Fatalf("byte %d: bad crc", pos)
		}
		batches = append(batches, b)
		pos += b.Size()
	}
	return batches
}

// TestGoldenGood decodes every segment of other implementations to exactly what their
// own readers found in it.
func TestGoldenGood(t *testing.T) {
	for _, g := range segmentstest.Vectors(t).Good {
		t.Run(g.File, func(t *testing.T) {
			batches := parseAll(t, segmentstest.File(t, g.File))
			if len(batches) != len(g.Batches) {
				t.Fatalf("got %d batches, want %d", len(batches), len(g.Batches))
			}
			var d, values segments.Decoder
			next, maxTimestamp := g.SegmentBase, int64(-1)
			for i, b := range batches {
				if diff := cmp.Diff(describe(g.Batches[i]), describe(actual(b))); diff != "" {
					t.Errorf("batch %d (-want +got):\n%s", i, diff)
				}
				d.Open(b)
				checkRecords(t, g.Batches[i].Records, &d)
				values.Open(b)
				checkValues(t, g.Batches[i].Records, &values)
				next = b.LastOffset() + 1
				maxTimestamp = max(maxTimestamp, b.MaxTimestamp)
			}
			if next != g.NextOffset || maxTimestamp != g.MaxTimestamp {
				t.Errorf("ends at %d with timestamp %d, want %d and %d", next, maxTimestamp, g.NextOffset, g.MaxTimestamp)
			}
		})
	}
}

// actual is b in the words of the golden files.
func actual(b segments.Batch) segmentstest.Batch {
	w := segmentstest.Batch{
		Position: b.Position, Size: b.Size(), BaseOffset: b.BaseOffset, Length: b.Length,
		LeaderEpoch: b.LeaderEpoch, Magic: b.Magic, CRC: fmt.Sprintf("0x%08x", b.CRC),
		Attributes: b.Attributes, Codec: b.Codec().String(), TimestampType: b.TimestampType().String(),
		Transactional: b.Transactional(), Control: b.Control(), HasDeleteHorizon: b.HasDeleteHorizon(),
		LastOffsetDelta: b.LastOffsetDelta, LastOffset: b.LastOffset(),
		BaseTimestamp: b.BaseTimestamp, MaxTimestamp: b.MaxTimestamp,
		ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, BaseSequence: b.BaseSequence, Count: b.Count,
	}
	if w.Magic == 0 {
		w.TimestampType = ""
	}
	return w
}

// describe leaves out records, and of magic 0 and 1 what they do not have.
func describe(b segmentstest.Batch) segmentstest.Batch {
	b.Records = nil
	if b.Magic < 2 {
		b.BaseOffset, b.LeaderEpoch, b.LastOffsetDelta = 0, 0, 0
		b.BaseTimestamp, b.ProducerID, b.ProducerEpoch, b.BaseSequence, b.Count = 0, 0, 0, 0, 0
	}
	return b
}

// checkRecords reads d to its end by Next.
func checkRecords(t *testing.T, want []segmentstest.Record, d *segments.Decoder) {
	t.Helper()
	got := readRecords(d)
	if d.Err() != nil || len(got) != len(want) {
		t.Errorf("got %d records and error %v, want %d", len(got), d.Err(), len(want))
		return
	}
	for i, r := range got {
		if err := checkRecord(want[i], r); err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
}

func checkRecord(want segmentstest.Record, r segments.Record) error {
	if r.Offset != want.Offset || r.Timestamp != want.Timestamp || len(r.Headers) != len(want.Headers) {
		return fmt.Errorf("got offset %d, timestamp %d, %d headers, want %d, %d, %d",
			r.Offset, r.Timestamp, len(r.Headers), want.Offset, want.Timestamp, len(want.Headers))
	}
	err := errors.Join(want.Key.Check(r.Key), want.Value.Check(r.Value))
	for i, h := range r.Headers {
		if string(h.Key) != want.Headers[i].Key {
			err = errors.Join(err, fmt.Errorf("header %d: got key %q, want %q", i, h.Key, want.Headers[i].Key))
		}
		err = errors.Join(err, want.Headers[i].Value.Check(h.Value))
	}
	return err
}

// checkValues reads d to its end by NextValue.
func checkValues(t *testing.T, want []segmentstest.Record, d *segments.Decoder) {
	t.Helper()
	for i := 0; ; i++ {
		value, offset, ok := d.NextValue()
		if !ok {
			if i != len(want) || d.Err() != nil {
				t.Errorf("got %d values and error %v, want %d", i, d.Err(), len(want))
			}
			return
		}
		if i >= len(want) || offset != want[i].Offset {
			t.Fatalf("value %d has offset %d", i, offset)
		}
		if err := want[i].Value.Check(value); err != nil {
			t.Errorf("value %d: %v", i, err)
		}
	}
}

// strictContent names the damage that Kafka's reader lets through and klog does not.
var strictContent = map[string]bool{
	"corrupt/offsetdelta-dup.log":    true,
	"corrupt/offsetdelta-beyond.log": true,
}

// TestGoldenContent opens batches whose checksum is right and whose records are not.
func TestGoldenContent(t *testing.T) {
	for _, c := range segmentstest.Vectors(t).Corrupt {
		if c.Content == nil {
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			data := segmentstest.File(t, c.File)
			at := c.Content.Position
			b, err := segments.ParseBatch(data[at:], at)
			if !b.CheckCRC() || b.Size() != c.Content.Size {
				t.Fatalf("batch of %d bytes, crc %v", b.Size(), b.CheckCRC())
			}
			if c.Expect.StopReason != "end" {
				if err == nil || err.Error() != c.Expect.StopReason {
					t.Errorf("ParseBatch: got %v, want %s", err, c.Expect.StopReason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var d, values segments.Decoder
			d.Open(b)
			values.Open(b)
			if c.Content.KafkaReader == "ok" && !strictContent[c.File] {
				checkContent(t, c, &d, &values)
				return
			}
			readRecords(&d)
			for ok := true; ok; {
				_, _, ok = values.NextValue()
			}
			var corrupt *segments.CorruptError
			if !errors.As(d.Err(), &corrupt) || !errors.Is(d.Err(), segments.ErrCorrupt) {
				t.Fatalf("got %v, want a CorruptError", d.Err())
			}
			if corrupt.Position != at || corrupt.Size != b.Size() || corrupt.LastOffset < corrupt.FirstOffset || corrupt.FirstOffset < b.BaseOffset {
				t.Errorf("got %#v", corrupt)
			}
			if diff := cmp.Diff(d.Err().Error(), fmt.Sprint(values.Err())); diff != "" {
				t.Errorf("NextValue differs (-Next +NextValue):\n%s", diff)
			}
		})
	}
}

func checkContent(t *testing.T, c segmentstest.Corrupt, d, values *segments.Decoder) {
	t.Helper()
	want := c.Content.Records
	if c.File == "corrupt/headerkey-badutf8.log" {
		// Kafka puts U+FFFD there; bytes are kept.
		want[0].Headers[0].Key = "\xff\xfe"
	}
	checkRecords(t, want, d)
	checkValues(t, want, values)
}

// TestGoldenCodecEdge reads what Kafka reads of odd compression framings, and nothing
// else.
func TestGoldenCodecEdge(t *testing.T) {
	// The records that most of the files share, out of one that is refused only for
	// what stands behind them.
	var d segments.Decoder
	d.Open(parseAll(t, segmentstest.File(t, "codec-edge/uncompressed-trailing.log"))[0])
	shared := readRecords(&d)
	if len(shared) != 12 || d.Err() == nil {
		t.Fatalf("%d records, error %v", len(shared), d.Err())
	}
	for _, c := range segmentstest.Vectors(t).CodecEdge {
		t.Run(c.File, func(t *testing.T) {
			b := parseAll(t, segmentstest.File(t, c.File))[0]
			if diff := cmp.Diff(describe(c.Batch), describe(actual(b))); diff != "" {
				t.Errorf("batch (-want +got):\n%s", diff)
			}
			var d, values segments.Decoder
			d.Open(b)
			values.Open(b)
			switch {
			case !c.Accepted:
				readRecords(&d)
				if !errors.Is(d.Err(), segments.ErrCorrupt) {
					t.Errorf("got %v, want damage", d.Err())
				}
			case c.RecordsSameAs != "":
				if diff := cmp.Diff(shared, readRecords(&d)); diff != "" || d.Err() != nil {
					t.Errorf("error %v, records (-want +got):\n%s", d.Err(), diff)
				}
			default:
				checkRecords(t, c.Records, &d)
				checkValues(t, c.Records, &values)
			}
		})
	}
}

// TestBombIsBounded refuses a batch that decompresses to more than the bound, and says
// so in a way that callers can tell from damage.
func TestBombIsBounded(t *testing.T) {
	b := parseAll(t, segmentstest.File(t, "codec-edge/bomb-zstd-16m.log"))[0]
	d := segments.Decoder{MaxBytes: 1 << 20}
	err := d.Open(b)
	if !errors.Is(err, segments.ErrDecompressedTooLarge) || !errors.Is(err, segments.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	d.MaxBytes = 17 << 20
	if err := d.Open(b); err != nil {
		t.Errorf("with room for it: %v", err)
	}
}
