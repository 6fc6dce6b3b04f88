package segments_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// fuzzLimit bounds what a fuzzed batch may decompress to.
const fuzzLimit = 1 << 20

// addBatches seeds a fuzz target with the batches of golden files of the given magics.
func addBatches(f *testing.F, magics string) {
	f.Helper()
	for _, dir := range []string{"good", "corrupt", "codec-edge"} {
		for _, name := range segmentstest.Files(f, dir) {
			data := segmentstest.File(f, name)
			for len(data) > 0 {
				b, err := segments.ParseBatch(data, 0)
				if err != nil || b.Raw == nil {
					break
				}
				data = data[b.Size():]
				if len(b.Raw) < 4<<10 && bytes.IndexByte([]byte(magics), byte(b.Magic)) >= 0 {
					f.Add(b.Raw)
				}
			}
		}
	}
}

// FuzzDecodeBatch reads any bytes as a batch.
func FuzzDecodeBatch(f *testing.F) {
	addBatches(f, "\x02")
	f.Fuzz(checkAnyBatch)
}

// FuzzDecodeLegacy reads any bytes as an entry of a message set.
func FuzzDecodeLegacy(f *testing.F) {
	addBatches(f, "\x00\x01")
	f.Fuzz(checkAnyBatch)
}

// checkAnyBatch holds the Decoder to what it promises of whatever bytes: no panic, no
// more memory than the bound, offsets that rise within the batch, damage reported as
// such and by Next and NextValue alike, and records that survive being written again.
func checkAnyBatch(t *testing.T, data []byte) {
	b, err := segments.ParseBatch(data, 1000)
	b.CheckCRC()
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) && len(data) > 16 && int64(len(data)) >= b.Size() {
			t.Errorf("%v with %d bytes, size %d", err, len(data), b.Size())
		}
		return
	}
	if len(b.Raw) > len(data) || int64(len(b.Raw)) != b.Size() {
		t.Fatalf("batch of %d bytes in %d", len(b.Raw), len(data))
	}
	d := segments.Decoder{MaxBytes: fuzzLimit}
	d.Open(b)
	recs := readRecords(&d)
	last := b.BaseOffset - 1
	if b.Magic < 2 && b.Codec() != segments.None {
		last = -1 // its own offset is that of the last record
	}
	for _, r := range recs {
		if r.Offset <= last || b.LastOffset() != 0 && r.Offset > b.LastOffset() {
			t.Errorf("offset %d after %d, batch ends at %d", r.Offset, last, b.LastOffset())
		}
		last = r.Offset
	}
	checkError(t, d.Err(), b)

	values := segments.Decoder{MaxBytes: fuzzLimit}
	values.Open(b)
	n := 0
	for ; ; n++ {
		v, offset, ok := values.NextValue()
		if !ok {
			break
		}
		if n >= len(recs) || offset != recs[n].Offset || !sameBytes(v, recs[n].Value) {
			t.Fatalf("value %d at offset %d differs", n, offset)
		}
	}
	if n != len(recs) || (values.Err() == nil) != (d.Err() == nil) {
		t.Errorf("%d values and %v, %d records and %v", n, values.Err(), len(recs), d.Err())
	}
	if d.Err() == nil && b.Magic == 2 && len(recs) > 0 {
		checkRewritten(t, b, recs)
	}
}

// checkError wants damage to be told with its place.
func checkError(t *testing.T, err error, b segments.Batch) {
	t.Helper()
	if err == nil {
		return
	}
	var corrupt *segments.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Position != 1000 || corrupt.Size != b.Size() || corrupt.Reason == "" {
		t.Errorf("got %#v", err)
	}
}

// checkRewritten encodes the records anew and reads them again.
func checkRewritten(t *testing.T, b segments.Batch, recs []segments.Record) {
	t.Helper()
	var w segments.Builder
	w.Start(nil, segments.BatchOptions{
		Codec: b.Codec(), HasProducer: true, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		BaseSequence: b.BaseSequence, Transactional: b.Transactional(), Control: b.Control(), LastOffsetDelta: b.LastOffsetDelta,
	})
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
	if diff := diffRecords(recs, decodeAll(t, raw)); diff != "" {
		t.Errorf("written again (-first +second):\n%s", diff)
	}
}

// addPayloads seeds a fuzz target with the compressed streams of golden files.
func addPayloads(f *testing.F, codecs ...segments.Codec) {
	f.Helper()
	for _, dir := range []string{"good", "corrupt", "codec-edge"} {
		for _, name := range segmentstest.Files(f, dir) {
			b, err := segments.ParseBatch(segmentstest.File(f, name), 0)
			if err != nil || b.Magic != 2 || len(b.Raw) > 4<<10 {
				continue
			}
			for _, c := range codecs {
				if c == b.Codec() {
					f.Add(b.Raw[segments.HeaderSize:])
				}
			}
		}
	}
}

// checkStream decompresses any bytes: no panic, nothing beyond the limit, no more
// memory than the content or a constant accounts for. It returns what came out.
func checkStream(t *testing.T, codec segments.Codec, data []byte) ([]byte, error) {
	t.Helper()
	out, capacity, err := segments.Decompress(codec, data, fuzzLimit)
	if err == nil && len(out) > fuzzLimit {
		t.Errorf("%d bytes of %d allowed", len(out), fuzzLimit)
	}
	if capacity > fuzzLimit+8<<20 {
		t.Errorf("buffer of %d bytes for %d", capacity, len(data))
	}
	return out, err
}

// checkSame wants what another implementation read, if it could.
func checkSame(t *testing.T, got []byte, err error, want []byte, theirs error) {
	t.Helper()
	if err == nil && theirs == nil && !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, another reader %d", len(got), len(want))
	}
}

// FuzzGzipStream compares with the library's own reading of several members.
func FuzzGzipStream(f *testing.F) {
	addPayloads(f, segments.Gzip)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := checkStream(t, segments.Gzip, data)
		z, theirs := gzip.NewReader(bytes.NewReader(data))
		if theirs != nil {
			if err == nil {
				t.Errorf("read %d bytes, the library says %v", len(out), theirs)
			}
			return
		}
		want, theirs := io.ReadAll(io.LimitReader(z, fuzzLimit+1))
		checkSame(t, out, err, want, theirs)
		if theirs == nil && len(want) <= fuzzLimit && err != nil {
			t.Errorf("%v, the library reads %d bytes", err, len(want))
		}
	})
}

// FuzzSnappyFraming reads both framings, and what is written comes back.
func FuzzSnappyFraming(f *testing.F) {
	addPayloads(f, segments.Snappy)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := checkStream(t, segments.Snappy, data)
		if n, theirs := s2.DecodedLen(data); theirs == nil && n <= 22*len(data) && n <= fuzzLimit {
			want, theirs := s2.Decode(nil, data)
			if theirs == nil && err != nil {
				t.Errorf("one block: %v", err)
			}
			checkSame(t, out, err, want, theirs)
		}
		checkBack(t, segments.Snappy, data)
	})
}

// FuzzLZ4Frame compares with the library's own frame reader.
func FuzzLZ4Frame(f *testing.F) {
	addPayloads(f, segments.LZ4)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := checkStream(t, segments.LZ4, data)
		want, theirs := io.ReadAll(io.LimitReader(lz4.NewReader(bytes.NewReader(data)), fuzzLimit+1))
		// The library goes on to a second frame, which Kafka does not.
		if theirs == nil && len(want) >= len(out) {
			want = want[:len(out)]
		}
		checkSame(t, out, err, want, theirs)
		checkBack(t, segments.LZ4, data)
	})
}

// FuzzZstdStream compares with the library's own streaming reader.
func FuzzZstdStream(f *testing.F) {
	addPayloads(f, segments.Zstd)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := checkStream(t, segments.Zstd, data)
		z, theirs := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27))
		if theirs != nil {
			t.Skip()
		}
		defer z.Close()
		want, theirs := io.ReadAll(io.LimitReader(z, fuzzLimit+1))
		checkSame(t, out, err, want, theirs)
		checkBack(t, segments.Zstd, data)
	})
}

// checkBack compresses data and wants it back.
func checkBack(t *testing.T, codec segments.Codec, data []byte) {
	t.Helper()
	z, err := segments.Compress(codec, 0, data)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := segments.Decompress(codec, z, len(data))
	if err != nil || !bytes.Equal(out, data) {
		t.Errorf("%v: %d bytes come back as %d, %v", codec, len(data), len(out), err)
	}
}
