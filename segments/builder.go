package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrBatchTooLarge is returned by Builder.Finish when a record or the batch does not
// fit the format's 31-bit lengths and counts, or holds more than DefaultMaxDecompressed
// to be compressed. The batch is dropped.
var ErrBatchTooLarge = errors.New("batch too large for the format")

// BatchOptions say what stands in a batch's header beside its records. The zero
// value is a plain, uncompressed batch of no producer in particular.
type BatchOptions struct {
	Codec Codec
	// Level is the effort of the codec, in its own numbers: gzip 1 to 9, lz4 1 to 9,
	// zstd 1 to 22. 0 is the default: gzip's own, for lz4 and zstd the fastest. Snappy
	// has no levels.
	Level int

	// The producer's identity for recognising duplicates. It is written when
	// HasProducer is set or ProducerID is not 0; else all three are -1.
	HasProducer   bool
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32

	Transactional bool // part of a transaction of the producer
	Control       bool // holds control records, which no consumer sees

	// DeleteHorizon, in ms, is the time from which compaction may drop the batch's
	// tombstones; 0: none. It takes the place of the base timestamp.
	DeleteHorizon int64
	// LastOffsetDelta is kept where it is larger than the last record's: a batch
	// that compaction has thinned still ends where it ended.
	LastOffsetDelta int32
}

// Builder encodes magic 2 batches into a caller's buffer. It keeps its scratch memory
// from batch to batch: adding a record allocates nothing once the buffers have
// their size. The zero value is ready. One goroutine at a time.
//
//	b.Start(buf[:0], segments.BatchOptions{})
//	b.AppendValue(now, line)
//	buf, err = b.Finish()
type Builder struct {
	opts BatchOptions
	dst  []byte // the caller's bytes; of a compressed batch without its records
	buf  []byte // where records are added: dst, or scratch when compressed
	at   int    // where the batch's header begins in dst

	count     int32
	lastDelta int32
	baseTime  int64
	maxTime   int64
	err       error

	// Attributes and timestamp delta of the last record, as they are stored: records
	// that share a timestamp, as lines read at once do, share these bytes.
	time     int64
	timeWord uint64
	timeLen  int

	scratch []byte
	codecs  compressor
}

// recordSlack is more than a record takes beside its key, value and headers.
const recordSlack = 64

// Start begins a batch behind the bytes of dst, which may hold finished batches.
// A batch that was not finished is forgotten.
func (b *Builder) Start(dst []byte, o BatchOptions) {
	b.opts = o
	b.at = len(dst)
	b.count, b.lastDelta, b.err = 0, -1, nil
	b.baseTime, b.maxTime = -1, -1
	dst = slices.Grow(dst, HeaderSize+recordSlack)
	b.dst = dst[:b.at+HeaderSize]
	b.buf = b.dst
	if o.Codec != None {
		b.buf = b.scratch[:0]
	}
}

// Append adds a record with the next offset. ts is in ms, -1 for none; a nil key or
// value is null. The bytes are copied.
func (b *Builder) Append(ts int64, key, value []byte, headers []Header) {
	b.AppendAt(b.lastDelta+1, ts, key, value, headers)
}

// AppendAt adds a record at an offset delta of its own, larger than the one before:
// compaction leaves holes.
func (b *Builder) AppendAt(delta int32, ts int64, key, value []byte, headers []Header) {
	size := recordSize(key, value, headers)
	if size > math.MaxInt32-recordSlack || delta <= b.lastDelta {
		b.fail(size, delta)
		return
	}
	b.setTime(ts)
	off := zigzag32(delta)
	body := uint32(b.timeLen + varintSize32(off) + int(size))
	w := appendVarint64(b.room(int(size)), uint64(zigzag32(int32(body))))
	if b.timeLen <= 8 {
		w = binary.LittleEndian.AppendUint64(w, b.timeWord)[:len(w)+b.timeLen]
	} else {
		w = appendVarint64(append(w, 0), zigzag64(ts-b.baseTime))
	}
	w = appendVarint64(w, uint64(off))
	w = appendBytes(w, key)
	w = appendBytes(w, value)
	w = appendVarint64(w, uint64(zigzag32(int32(len(headers)))))
	for _, h := range headers {
		w = appendVarint64(w, uint64(zigzag32(int32(len(h.Key)))))
		w = append(w, h.Key...)
		w = appendBytes(w, h.Value)
	}
	b.buf = w
	b.count++
	b.lastDelta = delta
}

// AppendValue adds a record of a value alone, with the next offset: what Append does
// with a null key and no headers, several times faster.
func (b *Builder) AppendValue(ts int64, value []byte) {
	delta := b.lastDelta + 1
	if ts != b.time || b.count == 0 || value == nil || b.timeLen > 8 || len(value) > math.MaxInt32/2 || delta < 0 {
		b.Append(ts, nil, value, nil)
		return
	}
	off, val := uint32(delta)<<1, uint32(len(value))<<1
	offWord, offLen := spread14(off)
	valWord, valLen := spread14(val)
	if off|val >= 1<<14 {
		offWord, offLen = spread32(off)
		valWord, valLen = spread32(val)
	}
	body := b.timeLen + offLen + 1 + valLen + len(value) + 1
	lenWord, lenLen := spread14(uint32(body) << 1)
	if body >= 1<<13 {
		lenWord, lenLen = spread32(uint32(body) << 1)
	}
	if cap(b.buf)-len(b.buf) < len(value)+recordSlack {
		b.buf = b.room(len(value))
	}
	p := len(b.buf)
	buf := b.buf[:cap(b.buf)]
	// Each store writes 8 bytes, of which the next one overwrites what is not used.
	binary.LittleEndian.PutUint64(buf[p:], lenWord)
	p += lenLen
	binary.LittleEndian.PutUint64(buf[p:], b.timeWord)
	p += b.timeLen
	binary.LittleEndian.PutUint64(buf[p:], offWord|1<<(8*uint(offLen))) // and key length -1
	p += offLen + 1
	binary.LittleEndian.PutUint64(buf[p:], valWord)
	p += valLen
	p += copy(buf[p:], value)
	buf[p] = 0 // no headers
	b.buf = buf[:p+1]
	b.count++
	b.lastDelta = delta
}

// setTime prepares the stored form of a record's timestamp.
func (b *Builder) setTime(ts int64) {
	if b.count == 0 {
		b.baseTime, b.maxTime = ts, ts
		if b.opts.DeleteHorizon != 0 {
			b.baseTime = b.opts.DeleteHorizon
		}
	} else if ts == b.time {
		return
	}
	b.time = ts
	b.maxTime = max(b.maxTime, ts)
	u := zigzag64(ts - b.baseTime)
	b.timeLen = 1 + varintSize64(u)
	b.timeWord = 0
	for i := 1; i < b.timeLen && i < 8; i++ {
		c := u & 0x7f
		if u >>= 7; u != 0 {
			c |= 0x80
		}
		b.timeWord |= c << (8 * uint(i))
	}
}

// room returns buf with space for a record of size bytes.
func (b *Builder) room(size int) []byte {
	return slices.Grow(b.buf, size+recordSlack)
}

func (b *Builder) fail(size int64, delta int32) {
	if b.err != nil {
		return
	}
	switch {
	case delta > b.lastDelta:
		b.err = fmt.Errorf("%w: record of %d bytes", ErrBatchTooLarge, size)
	case b.lastDelta == math.MaxInt32:
		b.err = fmt.Errorf("%w: no offset left", ErrBatchTooLarge)
	default:
		b.err = fmt.Errorf("offset delta %d after %d", delta, b.lastDelta)
	}
}

// recordSize is what a record takes from its key length on.
func recordSize(key, value []byte, headers []Header) int64 {
	size := int64(bytesSize(key)) + int64(bytesSize(value)) + int64(varintSize32(zigzag32(int32(len(headers)))))
	for _, h := range headers {
		size += int64(varintSize64(zigzag64(int64(len(h.Key))))) + int64(len(h.Key)) + int64(bytesSize(h.Value))
	}
	return size
}

// bytesSize is what a nullable byte string takes with its length.
func bytesSize(s []byte) int {
	if s == nil {
		return 1
	}
	return varintSize64(zigzag64(int64(len(s)))) + len(s)
}

// appendBytes appends a nullable byte string with its length.
func appendBytes(dst, s []byte) []byte {
	if s == nil {
		return append(dst, 1) // -1
	}
	dst = appendVarint64(dst, uint64(zigzag32(int32(len(s)))))
	return append(dst, s...)
}

// Count is the number of records so far.
func (b *Builder) Count() int32 { return b.count }

// Size is the size in bytes that the batch has so far, its header included and
// nothing compressed yet.
func (b *Builder) Size() int {
	if b.opts.Codec != None {
		return len(b.buf) + HeaderSize
	}
	return len(b.buf) - b.at
}

// Finish ends the batch and returns the bytes given to Start with the batch behind
// them: base offset 0, leader epoch -1, its checksum set. A batch without records is
// legal and takes up the offsets of LastOffsetDelta. After an error the bytes given
// to Start come back as they were.
func (b *Builder) Finish() ([]byte, error) {
	dst, err := b.dst, b.err
	if err == nil && b.opts.Codec == None {
		dst = b.buf
	}
	if err == nil && b.opts.Codec != None {
		b.scratch = b.buf
		if b.count > 0 {
			dst, err = b.codecs.compress(dst, b.opts.Codec, b.opts.Level, b.scratch)
		}
		b.scratch = keepBuffer(b.scratch)
	}
	if err == nil && len(dst)-b.at-prefixSize > math.MaxInt32 {
		err = fmt.Errorf("%w: %d bytes", ErrBatchTooLarge, len(dst)-b.at)
	}
	at := b.at
	b.dst, b.buf = nil, nil
	if err != nil {
		return dst[:at], err
	}
	raw := dst[at:]
	putHeader(raw, b.header(len(raw)))
	setChecksum(raw)
	return dst, nil
}

// header is the header of the finished batch of size bytes.
func (b *Builder) header(size int) BatchHeader {
	h := BatchHeader{
		Length:          int32(size - prefixSize),
		LeaderEpoch:     -1,
		Magic:           2,
		LastOffsetDelta: max(b.lastDelta, b.opts.LastOffsetDelta, 0),
		BaseTimestamp:   b.baseTime,
		MaxTimestamp:    b.maxTime,
		ProducerID:      -1,
		ProducerEpoch:   -1,
		BaseSequence:    -1,
		Count:           b.count,
	}
	if b.count > 0 {
		h.Attributes = int16(b.opts.Codec)
	}
	if b.opts.HasProducer || b.opts.ProducerID != 0 {
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = b.opts.ProducerID, b.opts.ProducerEpoch, b.opts.BaseSequence
	}
	if b.opts.Transactional {
		h.Attributes |= attrTransactional
	}
	if b.opts.Control {
		h.Attributes |= attrControl
	}
	if b.opts.DeleteHorizon != 0 {
		h.Attributes |= attrDeleteHorizon
		h.BaseTimestamp = b.opts.DeleteHorizon
	}
	return h
}

// AppendEmptyBatch appends the batch that stands for h once compaction has dropped
// all its records: offsets, producer, leader epoch and largest timestamp stay, so
// that neither the end of the log nor the producer's last sequence is lost.
func AppendEmptyBatch(dst []byte, h BatchHeader) []byte {
	h.Length = minLengthV2
	h.Magic = 2
	h.Attributes &= attrLogAppendTime | attrTransactional | attrControl
	h.BaseTimestamp = -1
	h.Count = 0
	at := len(dst)
	dst = append(dst, make([]byte, HeaderSize)...)
	putHeader(dst[at:], h)
	setChecksum(dst[at:])
	return dst
}

// putHeader writes the 61 bytes of a magic 2 header but for the checksum.
func putHeader(b []byte, h BatchHeader) {
	_ = b[HeaderSize-1]
	binary.BigEndian.PutUint64(b, uint64(h.BaseOffset))
	binary.BigEndian.PutUint32(b[8:], uint32(h.Length))
	binary.BigEndian.PutUint32(b[12:], uint32(h.LeaderEpoch))
	b[magicAt] = byte(h.Magic)
	binary.BigEndian.PutUint16(b[21:], uint16(h.Attributes))
	binary.BigEndian.PutUint32(b[23:], uint32(h.LastOffsetDelta))
	binary.BigEndian.PutUint64(b[27:], uint64(h.BaseTimestamp))
	binary.BigEndian.PutUint64(b[35:], uint64(h.MaxTimestamp))
	binary.BigEndian.PutUint64(b[43:], uint64(h.ProducerID))
	binary.BigEndian.PutUint16(b[51:], uint16(h.ProducerEpoch))
	binary.BigEndian.PutUint32(b[53:], uint32(h.BaseSequence))
	binary.BigEndian.PutUint32(b[57:], uint32(h.Count))
}
