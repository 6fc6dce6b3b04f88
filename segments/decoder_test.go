package segments_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klog-project/klog/segments"
)

// rawBatch puts records, encoded by hand, into an uncompressed batch with a right
// checksum.
func rawBatch(t *testing.T, count, lastDelta int32, records string) segments.Batch {
	t.Helper()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{LastOffsetDelta: lastDelta})
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	raw = append(raw, records...)
	put := func(at int, v int32) {
		for i := range 4 {
			raw[at+i] = byte(v >> (24 - 8*i))
		}
	}
	put(8, int32(len(raw)-12))
	put(57, count)
	segments.SetLogAppendTime(raw, 5) // computes the checksum
	batch, err := segments.ParseBatch(raw, 1000)
	if err != nil || !batch.CheckCRC() {
		t.Fatalf("ParseBatch: %v", err)
	}
	return batch
}

// tail fills the record up so that it is not near the end of its batch, where
// NextValue goes another way.
var tail = "\x4e\x00\x00\x02\x01\x42" + strings.Repeat("x", 33) + "\x00"

// TestDecoderStrictness reads records with one field wrong, by both ways and with and
// without another record behind.
func TestDecoderStrictness(t *testing.T) {
	for _, c := range []struct{ name, record, reason string }{
		{"sound", "\x0e\x00\x00\x00\x01\x02v\x00", ""},
		{"overlong varints", "\x94\x00\x00\x80\x00\x80\x00\x01\x82\x00v\x00", ""},
		{"ten byte timestamp", "\x20\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01\x02v\x00", ""},
		{"eleven byte timestamp", "\x22\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01\x02v\x00", "bad timestamp delta"},
		{"null key of length -7", "\x0e\x00\x00\x00\x0d\x02v\x00", ""},
		{"null value of length -7", "\x0c\x00\x00\x00\x01\x0d\x00", ""},
		{"value of 9000 bytes", "\xe0\x8c\x01\x00\x00\x00\x01\xd0\x8c\x01" + strings.Repeat("v", 9000) + "\x00", ""},
		{"length 0", "\x00", "bad record length"},
		{"length -1", "\x01", "bad record length"},
		{"length beyond the batch", "\xfe\xff\xff\xff\x0f\x00\x00\x00\x01\x02v\x00", "bad record length"},
		{"length of 6 bytes", "\xff\xff\xff\xff\xff\x01\x00\x00", "bad record length"},
		{"record ends in the timestamp", "\x04\x00\x80", "bad timestamp delta"},
		{"record ends before the offset", "\x04\x00\x00", "bad offset delta"},
		{"offset -1", "\x0e\x00\x00\x01\x01\x02v\x00", "bad offset delta"},
		{"offset beyond the batch", "\x0e\x00\x00\x04\x01\x02v\x00", "bad offset delta"},
		{"record ends before the key", "\x06\x00\x00\x00", "bad key length"},
		{"key beyond the record", "\x0e\x00\x00\x00\x40\x02v\x00", "bad key length"},
		{"record ends before the value", "\x08\x00\x00\x00\x01", "bad value length"},
		{"value beyond the record", "\x0e\x00\x00\x00\x01\x40v\x00", "bad value length"},
		{"record ends before the headers", "\x0c\x00\x00\x00\x01\x02v", "bad header count"},
		{"headers -1", "\x0e\x00\x00\x00\x01\x02v\x01", "bad header count"},
		{"more headers than bytes", "\x12\x00\x00\x00\x01\x02v\x04\x00\x00", "bad header count"},
		{"header key null", "\x12\x00\x00\x00\x01\x02v\x02\x01\x00", "bad header key length"},
		{"header key beyond the record", "\x12\x00\x00\x00\x01\x02v\x02\x10\x00", "bad header key length"},
		{"header value beyond the record", "\x12\x00\x00\x00\x01\x02v\x02\x00\x10", "bad header value length"},
		{"header value missing", "\x12\x00\x00\x00\x01\x02v\x02\x02k", "bad header value length"},
		{"bytes behind the headers", "\x10\x00\x00\x00\x01\x02v\x00\x00", "record length and fields disagree"},
		{"bytes behind one header", "\x14\x00\x00\x00\x01\x02v\x02\x00\x00\x00", "record length and fields disagree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, behind := range []string{"", tail} {
				count := int32(1 + len(behind)/len(tail))
				b := rawBatch(t, count, 1, c.record+behind)
				var d, values segments.Decoder
				d.Open(b)
				recs := readRecords(&d)
				values.Open(b)
				n := 0
				for _, _, ok := values.NextValue(); ok; _, _, ok = values.NextValue() {
					n++
				}
				if len(recs) != n || fmt.Sprint(d.Err()) != fmt.Sprint(values.Err()) {
					t.Errorf("Next: %d records, %v; NextValue: %d, %v", len(recs), d.Err(), n, values.Err())
				}
				if c.reason == "" && (d.Err() != nil || len(recs) != int(count)) {
					t.Errorf("%d records, %v", len(recs), d.Err())
				}
				if c.reason != "" && (d.Err() == nil || !strings.HasSuffix(d.Err().Error(), "byte 1000: "+c.reason+" (offsets 0 to 1)")) {
					t.Errorf("got %v, want %s", d.Err(), c.reason)
				}
			}
		})
	}
}

func TestDecoderCounts(t *testing.T) {
	one := "\x0e\x00\x00\x00\x01\x02v\x00"
	for _, c := range []struct {
		name    string
		count   int32
		records string
		n       int
		want    string
	}{
		{"none", 0, "", 0, ""},
		{"none counted, bytes there", 0, one, 0, ""},
		{"one", 1, one, 1, ""},
		{"one too many", 2, one, 1, "byte 1000: fewer records than the batch counts (offsets 1 to 1)"},
		{"one too few", 1, one + "\x0e\x00\x00\x02\x01\x02v\x00", 1, "byte 1000: bytes behind the last record (offsets 1 to 1)"},
		{"same offset twice", 2, one + one, 1, "byte 1000: bad offset delta (offsets 1 to 1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d segments.Decoder
			d.Open(rawBatch(t, c.count, 1, c.records))
			if got := len(readRecords(&d)); got != c.n {
				t.Errorf("%d records, want %d", got, c.n)
			}
			got := ""
			if d.Err() != nil {
				got = d.Err().Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if r := (segments.Record{}); d.Next(&r) {
				t.Error("Next goes on behind the end")
			}
		})
	}
}

// TestTooManyHeaders refuses a record whose headers would need far more memory than it
// has bytes.
func TestTooManyHeaders(t *testing.T) {
	const most = 1 << 19
	for n, want := range map[int]bool{most: true, 2 * most: false} {
		headers := make([]segments.Header, n)
		for i := range headers {
			headers[i].Key = []byte{}
			headers[i].Value = []byte{}
		}
		var w segments.Builder
		w.Start(nil, segments.BatchOptions{})
		w.Append(0, nil, nil, headers)
		raw, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := segments.ParseBatch(raw, 0)
		var d, values segments.Decoder
		d.Open(b)
		var r segments.Record
		if got := d.Next(&r); got != want || got && len(r.Headers) != n {
			t.Errorf("%d headers: read %v, %v", n, got, d.Err())
		}
		values.Open(b)
		if _, _, got := values.NextValue(); got != want {
			t.Errorf("%d headers: NextValue %v, %v", n, got, values.Err())
		}
	}
}

// TestDecoderUsesItsBuffersAgain reads batches of very different size with one Decoder.
func TestDecoderUsesItsBuffersAgain(t *testing.T) {
	var d segments.Decoder
	for codec := segments.None; codec <= segments.Zstd; codec++ {
		for _, size := range []int{10, 5 << 20, 10, 0, 300 << 10} {
			var w segments.Builder
			value := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			w.Start(nil, segments.BatchOptions{Codec: codec})
			w.AppendValue(math.MaxInt64, value)
			w.AppendValue(math.MinInt64, value)
			raw, err := w.Finish()
			if err != nil {
				t.Fatal(err)
			}
			b, _ := segments.ParseBatch(raw, 0)
			d.Open(b)
			recs := readRecords(&d)
			if d.Err() != nil || len(recs) != 2 || !bytes.Equal(recs[0].Value, value) || !bytes.Equal(recs[1].Value, value) {
				t.Fatalf("%v, %d bytes: %d records, %v", codec, size, len(recs), d.Err())
			}
			if recs[0].Timestamp != math.MaxInt64 || recs[1].Timestamp != math.MinInt64 {
				t.Errorf("timestamps %d and %d", recs[0].Timestamp, recs[1].Timestamp)
			}
		}
	}
}
