package segmentstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"
)

// Index says what is in the golden segments. File names are those that File takes.
type Index struct {
	Good      []Good      `json:"good"`
	Corrupt   []Corrupt   `json:"corrupt"`
	CodecEdge []CodecEdge `json:"codec_edge"`
}

// Good is a segment that every reader must decode.
type Good struct {
	File         string  `json:"file"`
	Encoder      string  `json:"encoder"`
	Note         string  `json:"note"`
	SegmentBase  int64   `json:"segment_base_offset"` // number that the file would be named by
	NextOffset   int64   `json:"next_offset"`
	MaxTimestamp int64   `json:"max_timestamp"`
	Batches      []Batch `json:"batches"`
}

// Batch is one batch's header and records. Of magic 0 and 1 only Position, Size,
// Length, Magic, CRC, Attributes, Codec, LastOffset, MaxTimestamp and Records are set.
type Batch struct {
	Position         int64    `json:"position"`
	Size             int64    `json:"size"`
	BaseOffset       int64    `json:"base_offset"`
	Length           int32    `json:"length"`
	LeaderEpoch      int32    `json:"partition_leader_epoch"`
	Magic            int8     `json:"magic"`
	CRC              string   `json:"crc"` // "0x" and 8 hex digits
	Attributes       int16    `json:"attributes"`
	Codec            string   `json:"codec"`
	TimestampType    string   `json:"timestamp_type"` // "" for magic 0
	Transactional    bool     `json:"transactional"`
	Control          bool     `json:"control"`
	HasDeleteHorizon bool     `json:"has_delete_horizon"`
	LastOffsetDelta  int32    `json:"last_offset_delta"`
	LastOffset       int64    `json:"last_offset"`
	BaseTimestamp    int64    `json:"base_timestamp"`
	MaxTimestamp     int64    `json:"max_timestamp"`
	ProducerID       int64    `json:"producer_id"`
	ProducerEpoch    int16    `json:"producer_epoch"`
	BaseSequence     int32    `json:"base_sequence"`
	Count            int32    `json:"record_count"`
	Records          []Record `json:"records"`
}

// Record is one record.
type Record struct {
	Offset    int64    `json:"offset"`
	Timestamp int64    `json:"timestamp"` // -1: none
	Key       *Bytes   `json:"key"`       // nil: null
	Value     *Bytes   `json:"value"`     // nil: null
	Headers   []Header `json:"headers"`
}

// Header is one record header.
type Header struct {
	Key   string `json:"key"`
	Value *Bytes `json:"value"` // nil: null
}

// Corrupt is a damaged segment with the verdict of a strict check of its headers.
type Corrupt struct {
	File        string   `json:"file"`
	Note        string   `json:"note"`
	Group       string   `json:"group"`
	SegmentBase int64    `json:"segment_base_offset"`
	Expect      Verdict  `json:"expect"`
	Content     *Content `json:"content"` // nil: the damage shows in the headers
}

// Verdict is what a strict scan of the headers finds.
type Verdict struct {
	ValidBatches    int    `json:"valid_batches"`
	ValidBytes      int64  `json:"valid_bytes"` // end of the first good run
	NextOffset      int64  `json:"next_offset"`
	LastValidOffset *int64 `json:"last_valid_offset"` // nil: no good batch
	StopReason      string `json:"stop_reason"`       // "end": everything is valid
}

// Content describes the one batch that passes its checksum but is malformed inside.
type Content struct {
	BatchIndex            int      `json:"batch_index"`
	Position              int64    `json:"position"`
	Size                  int64    `json:"size"`
	KafkaReader           string   `json:"kafka_reader"` // "error" or "ok"
	Records               []Record `json:"records"`      // what Kafka reads when "ok"
	RecordsInOtherBatches int      `json:"records_in_other_batches"`
}

// CodecEdge is a segment of one batch with odd compression framing.
type CodecEdge struct {
	File          string   `json:"file"`
	Note          string   `json:"note"`
	Accepted      bool     `json:"accepted_by_kafka"`
	Batch         Batch    `json:"batch"`
	Records       []Record `json:"records"`
	RecordsSameAs string   `json:"records_same_as"` // a file whose records are the same
}

// Bytes is a byte string, or only the length and hash of a long one.
type Bytes struct {
	Data   []byte
	Len    int
	SHA256 string // "" when Data is known
}

// UnmarshalJSON reads base64 text, or an object of len and sha256.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		var long struct {
			Len    int    `json:"len"`
			SHA256 string `json:"sha256"`
		}
		err := json.Unmarshal(text, &long)
		b.Len, b.SHA256 = long.Len, long.SHA256
		return err
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(s)
	b.Data, b.Len = data, len(data)
	return err
}

// Check says how got differs from b; a nil got is null, and so is a nil b.
func (b *Bytes) Check(got []byte) error {
	switch {
	case b == nil && got == nil:
		return nil
	case b == nil:
		return fmt.Errorf("got %d bytes, want null", len(got))
	case got == nil:
		return fmt.Errorf("got null, want %d bytes", b.Len)
	case len(got) != b.Len:
		return fmt.Errorf("got %d bytes, want %d", len(got), b.Len)
	case b.SHA256 == "" && !bytes.Equal(got, b.Data):
		return fmt.Errorf("got %q, want %q", got, b.Data)
	case b.SHA256 == "":
		return nil
	}
	if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != b.SHA256 {
		return fmt.Errorf("got %d bytes with another hash than %s", len(got), b.SHA256)
	}
	return nil
}

// Vectors returns the contents of the golden segments.
func Vectors(t testing.TB) *Index {
	t.Helper()
	var index Index
	JSON(t, "vectors.json", &index)
	if len(index.Good) == 0 || len(index.Corrupt) == 0 || len(index.CodecEdge) == 0 {
		t.Fatal("vectors.json is empty")
	}
	return &index
}
