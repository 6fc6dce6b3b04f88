package segments

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Smallest values of the length field, by magic: what is left of an empty batch, or
// of an entry with null key and null value, behind that field.
const (
	minLengthV0 = 14
	minLengthV1 = 22
	minLengthV2 = HeaderSize - prefixSize
)

// legacyHeaderV0 and legacyHeaderV1 are the bytes of an entry in front of its key
// length.
const (
	legacyHeaderV0 = 18
	legacyHeaderV1 = 26
)

// Batch is one record batch, or one entry of a magic 0 or 1 message set, as it lies
// in its file. It is a view: its bytes are shared with whoever made it, who says how
// long they live.
type Batch struct {
	BatchHeader
	Position int64  // of the batch's first byte in its file
	Raw      []byte // the whole batch
}

// headerError is a verdict of the header-level check, in the words that scans,
// verify and repair use as CorruptError.Reason.
type headerError string

const (
	errTruncatedHeader headerError = "truncated header"
	errTruncatedBatch  headerError = "truncated batch"
	errBadLength       headerError = "bad length"
	errBadMagic        headerError = "bad magic"
	errBadCRC          headerError = "bad crc"
	errBadCount        headerError = "bad record count"
	errBadDelta        headerError = "bad last offset delta"
	errOffsetOrder     headerError = "offset not increasing"
	errOffsetRange     headerError = "offset out of range for the segment"
)

// Error is the verdict.
func (e headerError) Error() string { return string(e) }

// Is makes errors.Is(err, io.ErrUnexpectedEOF) true where more bytes could still
// make the batch whole.
func (e headerError) Is(target error) bool {
	return target == io.ErrUnexpectedEOF && (e == errTruncatedHeader || e == errTruncatedBatch)
}

// parsePrefix reads what the three magics share, the first 17 bytes, and checks the
// length against the magic. It returns the fields even with an error, as far as the
// bytes reach.
func parsePrefix(b []byte) (BatchHeader, error) {
	if len(b) <= magicAt {
		return BatchHeader{}, errTruncatedHeader
	}
	h := BatchHeader{
		BaseOffset: int64(binary.BigEndian.Uint64(b)),
		Length:     int32(binary.BigEndian.Uint32(b[8:])),
		Magic:      int8(b[magicAt]),
	}
	// A length that no magic allows is told apart from a bad magic: it is what zeros
	// and a preallocated file look like.
	if h.Length < minLengthV0 {
		return h, errBadLength
	}
	least := int32(minLengthV2)
	switch h.Magic {
	case 2:
	case 1:
		least = minLengthV1
	case 0:
		least = minLengthV0
	default:
		return h, errBadMagic
	}
	if h.Length < least {
		return h, errBadLength
	}
	return h, nil
}

// ParseBatch reads the batch that b begins with; b may go on behind it. pos is the
// batch's position in its file and is only passed on. The batch's Raw is a part of b.
//
// It checks what can be told from the header without the checksum: length, magic,
// record count and last offset delta. With the last two verdicts the batch is
// returned whole beside the error, so that a caller can ask CheckCRC whether they
// are damage or were written so. An error that is io.ErrUnexpectedEOF by errors.Is
// means that b ends inside the batch; the batch then holds the fields that could be
// read (BaseOffset, Length and Magic from 17 bytes on) and no Raw.
func ParseBatch(b []byte, pos int64) (Batch, error) {
	h, err := parsePrefix(b)
	if err != nil {
		return Batch{BatchHeader: h, Position: pos}, err
	}
	if int64(len(b)) < h.Size() {
		return Batch{BatchHeader: h, Position: pos}, errTruncatedBatch
	}
	raw := b[:h.Size():h.Size()]
	if h.Magic < 2 {
		return Batch{BatchHeader: parseLegacyHeader(raw), Position: pos, Raw: raw}, nil
	}
	h = parseHeaderV2(raw)
	batch := Batch{BatchHeader: h, Position: pos, Raw: raw}
	switch {
	case h.LastOffsetDelta < 0:
		return batch, errBadDelta
	case h.Count < 0:
		return batch, errBadCount
	}
	return batch, nil
}

// PeekHeader reads the header at the front of b, of which the rest may be missing. It is
// for telling what stands where no good batch is: the fields are what the bytes say. ok
// is false where they cannot be a header. HeaderSize bytes are enough for each magic.
func PeekHeader(b []byte) (h BatchHeader, ok bool) {
	h, err := parsePrefix(b)
	switch {
	case err != nil:
		return h, false
	case h.Magic == 0 && len(b) >= legacyHeaderV0, h.Magic == 1 && len(b) >= legacyHeaderV1:
		return parseLegacyHeader(b), true
	case h.Magic == 2 && len(b) >= HeaderSize:
		return parseHeaderV2(b), true
	}
	return h, false
}

// parseLegacyHeader reads the fixed part of a magic 0 or 1 entry. The fields that do
// not exist there get their "none" value; Count is 1 for a plain entry and -1 for a
// compressed one, whose records are known only once it is opened.
func parseLegacyHeader(b []byte) BatchHeader {
	h := BatchHeader{
		BaseOffset:    int64(binary.BigEndian.Uint64(b)),
		Length:        int32(binary.BigEndian.Uint32(b[8:])),
		LeaderEpoch:   -1,
		Magic:         int8(b[magicAt]),
		CRC:           binary.BigEndian.Uint32(b[prefixSize:]),
		Attributes:    int16(b[magicAt+1]) & (attrCodec | attrLogAppendTime),
		BaseTimestamp: -1,
		MaxTimestamp:  -1,
		ProducerID:    -1,
		ProducerEpoch: -1,
		BaseSequence:  -1,
		Count:         1,
	}
	if h.Codec() != None {
		h.Count = -1
	}
	if h.Magic == 1 {
		ts := int64(binary.BigEndian.Uint64(b[legacyHeaderV0:]))
		h.BaseTimestamp, h.MaxTimestamp = ts, ts
	}
	return h
}

// CheckCRC reports whether the batch's checksum is right. It covers neither base
// offset nor length, of magic 2 neither leader epoch nor magic.
func (b Batch) CheckCRC() bool {
	if b.Magic < 2 {
		return len(b.Raw) >= magicAt && crc32.ChecksumIEEE(b.Raw[magicAt:]) == b.CRC
	}
	return len(b.Raw) >= HeaderSize && checksum(b.Raw[crcFrom:]) == b.CRC
}

// checksum is CRC-32C. The table is made at the first call: a program that reads no
// batch does not pay for it at its start.
func checksum(b []byte) uint32 {
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

// SetBaseOffset gives a whole magic 2 batch its place in the log. The checksum does
// not cover it and stays.
func SetBaseOffset(raw []byte, offset int64) {
	binary.BigEndian.PutUint64(raw, uint64(offset))
}

// SetLeaderEpoch stamps a whole magic 2 batch with the epoch of the leader that
// appends it. The checksum does not cover it and stays.
func SetLeaderEpoch(raw []byte, epoch int32) {
	binary.BigEndian.PutUint32(raw[prefixSize:], uint32(epoch))
}

// SetLogAppendTime makes ts, in ms, the timestamp of every record of a whole magic 2
// batch, whatever their own timestamps were, and computes the checksum anew. Base
// timestamp and payload stay as they are.
func SetLogAppendTime(raw []byte, ts int64) {
	raw[crcFrom+1] |= attrLogAppendTime
	binary.BigEndian.PutUint64(raw[35:], uint64(ts))
	setChecksum(raw)
}

// setChecksum computes the checksum of a whole magic 2 batch.
func setChecksum(raw []byte) {
	binary.BigEndian.PutUint32(raw[17:], checksum(raw[crcFrom:]))
}
