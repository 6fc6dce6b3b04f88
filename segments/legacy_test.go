package segments_test

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
)

// entry encodes one entry of a message set of magic 0 or 1 with a right checksum. Its
// timestamp is 1000 + offset.
func entry(magic byte, offset int64, attributes byte, key, value []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, magic, attributes)
	if magic == 1 {
		b = binary.BigEndian.AppendUint64(b, uint64(1000+offset))
	}
	for _, s := range [][]byte{key, value} {
		if s == nil {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[16:]))
	return b
}

// wrap encodes a compressed entry around a message set.
func wrap(t *testing.T, magic byte, offset int64, attributes byte, set []byte) []byte {
	t.Helper()
	stream, err := segments.Compress(segments.Codec(attributes&7), 0, set)
	if err != nil {
		t.Fatal(err)
	}
	return entry(magic, offset, attributes, nil, stream)
}

// decodeEntry reads raw, which must be one entry with a good checksum.
func decodeEntry(t *testing.T, raw []byte) ([]segments.Record, error) {
	t.Helper()
	b, err := segments.ParseBatch(raw, 0)
	if err != nil || !b.CheckCRC() || len(b.Raw) != len(raw) {
		t.Fatalf("ParseBatch: %v, crc %v", err, b.CheckCRC())
	}
	var d segments.Decoder
	d.Open(b)
	return readRecords(&d), d.Err()
}

func TestLegacyOffsetsAndTimestamps(t *testing.T) {
	v := []byte("v")
	for _, c := range []struct {
		name string
		raw  []byte
		want []segments.Record
	}{
		{"magic 0", entry(0, 7, 0, nil, v), []segments.Record{{Offset: 7, Timestamp: -1, TimestampType: segments.NoTimestamp, Value: v}}},
		{"magic 1", entry(1, 7, 0, []byte{}, nil), []segments.Record{{Offset: 7, Timestamp: 1007, Key: []byte{}}}},
		{"magic 1, append time", entry(1, 7, 8, nil, v), []segments.Record{{Offset: 7, Timestamp: 1007, TimestampType: segments.LogAppendTime, Value: v}}},
		{
			"magic 0 has absolute offsets",
			wrap(t, 0, 9, 1, append(entry(0, 5, 0, nil, v), entry(0, 9, 0, nil, v)...)),
			[]segments.Record{{Offset: 5, Timestamp: -1, TimestampType: segments.NoTimestamp, Value: v}, {Offset: 9, Timestamp: -1, TimestampType: segments.NoTimestamp, Value: v}},
		},
		{
			"magic 1 has relative offsets",
			wrap(t, 1, 109, 2, append(entry(1, 0, 0, nil, v), entry(1, 9, 0, nil, v)...)),
			[]segments.Record{{Offset: 100, Timestamp: 1000, Value: v}, {Offset: 109, Timestamp: 1009, Value: v}},
		},
		{
			"outer offset 0 of a client that did not set it",
			wrap(t, 1, 0, 3, append(entry(1, 0, 0, nil, v), entry(1, 1, 0, nil, v)...)),
			[]segments.Record{{Offset: 0, Timestamp: 1000, Value: v}, {Offset: 1, Timestamp: 1001, Value: v}},
		},
		{
			"append time of the outer entry counts",
			wrap(t, 1, 101, 1|8, append(entry(1, 0, 0, nil, v), entry(1, 1, 0, nil, v)...)),
			[]segments.Record{{Offset: 100, Timestamp: 1101, TimestampType: segments.LogAppendTime, Value: v}, {Offset: 101, Timestamp: 1101, TimestampType: segments.LogAppendTime, Value: v}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.want {
				c.want[i].LeaderEpoch = -1
			}
			got, err := decodeEntry(t, c.raw)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v, records (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestLegacyDamage opens entries whose own checksum is right and whose content is not.
func TestLegacyDamage(t *testing.T) {
	one := entry(1, 0, 0, nil, []byte("v"))
	two := entry(1, 1, 0, nil, []byte("v"))
	badCRC := entry(1, 1, 0, nil, []byte("v"))
	badCRC[len(badCRC)-1]++
	badKey := entry(1, 0, 0, []byte("k"), nil)
	badKey[29] = 9 // key length
	binary.BigEndian.PutUint32(badKey[12:], crc32.ChecksumIEEE(badKey[16:]))
	set := func(parts ...[]byte) []byte {
		var b []byte
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	for _, c := range []struct {
		name   string
		raw    []byte
		reason string
	}{
		{"key beyond the entry", badKey, "entry size and fields disagree"},
		{"zstd", entry(1, 5, 4, nil, []byte("x")), "zstd in a message set"},
		{"unknown codec", entry(0, 5, 7, nil, []byte("x")), "codec 7 in a message set"},
		{"no value", entry(1, 5, 1, nil, nil), "compressed entry without a value"},
		{"not gzip", entry(1, 5, 1, nil, []byte("x")), "bad gzip data"},
		{"no records", wrap(t, 1, 5, 1, nil), "compressed entry without records"},
		{"inner crc", wrap(t, 1, 5, 1, set(one, badCRC)), "bad crc of an inner entry"},
		{"inner magic", wrap(t, 0, 5, 1, one), "bad inner entry"},
		{"inner entry cut", wrap(t, 1, 5, 1, set(one, two[:20])), "bad inner entry"},
		{"inner header cut", wrap(t, 1, 5, 1, set(one, two[:9])), "bad inner entry"},
		{"inner key beyond the entry", wrap(t, 1, 5, 1, badKey), "inner entry size and fields disagree"},
		{"nested", wrap(t, 1, 5, 1, wrap(t, 1, 0, 2, one)), "compressed entry inside a compressed entry"},
		{"offsets fall", wrap(t, 1, 5, 1, set(two, one)), "inner offset not increasing"},
		{"offset twice", wrap(t, 1, 5, 1, set(one, one)), "inner offset not increasing"},
		{"offset below 0", wrap(t, 1, 1, 1, set(one, entry(1, 2, 0, nil, nil))), "inner offsets do not end at the outer one"},
		{"offset beyond the outer one", wrap(t, 0, 5, 1, entry(0, 6, 0, nil, nil)), "inner offsets do not end at the outer one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeEntry(t, c.raw)
			if err == nil || !strings.HasPrefix(err.Error(), "byte 0: "+c.reason) || len(got) != 0 {
				t.Errorf("got %d records, %v, want %s", len(got), err, c.reason)
			}
		})
	}
}
