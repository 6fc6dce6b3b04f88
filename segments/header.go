package segments

import (
	"encoding/binary"
	"fmt"
)

// Sizes of the fixed parts of the format.
const (
	// HeaderSize is the size in bytes of a magic 2 batch header, records not included.
	HeaderSize = 61
	// prefixSize is the part that all three magics share: base offset and length.
	// A batch's length field counts the bytes behind it.
	prefixSize = 12
	// magicAt is where the magic byte lies, whatever the magic.
	magicAt = 16
	// crcFrom is the first byte that the CRC of a magic 2 batch covers: base offset,
	// length, leader epoch and magic lie before it, so an appender sets them without
	// computing the CRC again.
	crcFrom = 21
)

// BatchHeader holds the fixed fields of one record batch as they lie on disk.
//
// For the message sets of magic 0 and 1 the fields that do not exist there hold
// their "none" value (-1), BaseOffset is the entry's own offset (of a compressed
// entry: that of its last record), LastOffsetDelta is 0 and MaxTimestamp the
// entry's timestamp (-1 for magic 0).
type BatchHeader struct {
	BaseOffset      int64
	Length          int32 // bytes that follow the length field
	LeaderEpoch     int32 // -1: unknown
	Magic           int8
	CRC             uint32
	Attributes      int16
	LastOffsetDelta int32
	BaseTimestamp   int64 // ms since the epoch; a delete horizon when HasDeleteHorizon
	MaxTimestamp    int64 // ms since the epoch; -1: none
	ProducerID      int64 // -1: none
	ProducerEpoch   int16
	BaseSequence    int32
	Count           int32 // records in the batch; compaction lowers it, never LastOffsetDelta
}

// Attribute bits of a batch.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
)

// Size is the number of bytes that the whole batch takes in its file.
func (h BatchHeader) Size() int64 { return int64(h.Length) + prefixSize }

// LastOffset is the offset of the batch's last record as it was when the batch was
// appended. The next offset of the log is one more, whatever Count says.
func (h BatchHeader) LastOffset() int64 { return h.BaseOffset + int64(h.LastOffsetDelta) }

// Codec is the compression of the records.
func (h BatchHeader) Codec() Codec { return Codec(h.Attributes & attrCodec) }

// TimestampType says what the timestamps of the records mean.
func (h BatchHeader) TimestampType() TimestampType {
	switch {
	case h.Magic == 0:
		return NoTimestamp
	case h.Attributes&attrLogAppendTime != 0:
		return LogAppendTime
	}
	return CreateTime
}

// Transactional reports whether the batch belongs to a transaction.
func (h BatchHeader) Transactional() bool { return h.Attributes&attrTransactional != 0 }

// Control reports whether the batch holds control records, which no consumer sees.
func (h BatchHeader) Control() bool { return h.Attributes&attrControl != 0 }

// HasDeleteHorizon reports whether BaseTimestamp is the time from which compaction
// may drop the batch's tombstones (KIP-534), and not the first record's time.
func (h BatchHeader) HasDeleteHorizon() bool { return h.Attributes&attrDeleteHorizon != 0 }

// parseHeaderV2 reads the 61 bytes of a magic 2 header. It believes nothing: the
// caller checks the length against what there is and the fields against each other.
func parseHeaderV2(b []byte) BatchHeader {
	_ = b[HeaderSize-1]
	return BatchHeader{
		BaseOffset:      int64(binary.BigEndian.Uint64(b)),
		Length:          int32(binary.BigEndian.Uint32(b[8:])),
		LeaderEpoch:     int32(binary.BigEndian.Uint32(b[12:])),
		Magic:           int8(b[16]),
		CRC:             binary.BigEndian.Uint32(b[17:]),
		Attributes:      int16(binary.BigEndian.Uint16(b[21:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[23:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(b[27:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[35:])),
		ProducerID:      int64(binary.BigEndian.Uint64(b[43:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[51:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[53:])),
		Count:           int32(binary.BigEndian.Uint32(b[57:])),
	}
}

// Codec is a batch's compression, numbered as in its attributes.
type Codec int8

// The codecs of the format. Numbers above Zstd are invalid.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// String is the codec's name in compression.type.
func (c Codec) String() string {
	if c < 0 || int(c) >= len(codecNames) {
		return fmt.Sprintf("codec %d", int8(c))
	}
	return codecNames[c]
}

// ParseCodec reads a codec's name.
func ParseCodec(s string) (Codec, error) {
	for i, n := range codecNames {
		if s == n {
			return Codec(i), nil
		}
	}
	return None, fmt.Errorf("compression %q: want none, gzip, snappy, lz4 or zstd", s)
}

// TimestampType says where the timestamps of a batch come from.
type TimestampType int8

// The timestamp types of the format; magic 0 has none.
const (
	CreateTime TimestampType = iota
	LogAppendTime
	NoTimestamp
)

// String is the type's name in message.timestamp.type.
func (t TimestampType) String() string {
	switch t {
	case CreateTime:
		return "CreateTime"
	case LogAppendTime:
		return "LogAppendTime"
	}
	return "NoTimestampType"
}
