package segments

import (
	"errors"
	"unsafe"
)

// DefaultMaxDecompressed is the bound of one decompressed batch where a Decoder names
// none: room for every batch that max.message.bytes may sensibly allow, and small
// enough to stay inside an address space of 2 GiB.
const DefaultMaxDecompressed = 512 << 20

// ErrDecompressedTooLarge is what a *CorruptError wraps when a batch's records are
// larger than the Decoder's bound. The batch may be legal; a larger bound reads it.
var ErrDecompressedTooLarge = errors.New("decompressed records larger than the bound")

// Decoder reads the records of one batch after the other. It keeps its buffers, and
// what the codecs need, from batch to batch, but gives large ones back. The zero
// value is ready. One goroutine at a time.
//
//	for d.Open(batch); d.Next(&r); {
//		…
//	}
//	if err := d.Err(); err != nil {
//
// It is strict where Kafka's reader is lax: besides the right number of records and
// no byte too many it wants offsets that rise and stay within the batch. Records in
// front of the damage are read; Err is then a *CorruptError without a file name,
// which the caller adds.
type Decoder struct {
	// MaxBytes bounds the size of one batch's records once decompressed, in bytes.
	// 0 is DefaultMaxDecompressed. Memory follows what is really there, not what a
	// batch announces.
	MaxBytes int

	header BatchHeader
	pos    int64
	buf    []byte // the records, one after the other
	at     int    // where the next one begins
	left   int32  // records to come
	next   int64  // smallest offset the next record may have
	base   int64  // legacy: what inner offsets are relative to
	err    error

	inflated []byte // decompressed records, when buf is not the batch itself
	codecs   decompressor
}

// Open begins with the records of a batch, decompressing them when need be. Its error
// is the one that Err returns from then on.
//
// The records of an uncompressed batch are parts of b.Raw: they live as long as that
// does. Open does not check the checksum.
func (d *Decoder) Open(b Batch) error {
	d.header, d.pos, d.err = b.BatchHeader, b.Position, nil
	d.at, d.left, d.next = 0, b.Count, b.BaseOffset
	d.buf = nil
	if b.Magic < 2 {
		d.err = d.openLegacy(b.Raw)
		return d.err
	}
	// No records means no payload to look at: Kafka does not either.
	if b.Count == 0 {
		return nil
	}
	if len(b.Raw) < HeaderSize || b.Count < 0 || b.LastOffsetDelta < 0 {
		return d.fail("bad batch header", nil)
	}
	payload := b.Raw[HeaderSize:]
	if b.Codec() == None {
		d.buf = payload
		return nil
	}
	return d.inflate(payload)
}

// inflate decompresses payload into buf.
func (d *Decoder) inflate(payload []byte) error {
	limit := d.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxDecompressed
	}
	out, err := d.codecs.decompress(taken(&d.inflated)[:0], d.header, payload, limit)
	if err == errUnknownCodec {
		return d.fail("unknown "+d.header.Codec().String(), nil)
	}
	if err != nil {
		d.inflated = keepBuffer(out[:0])
		return d.fail("bad "+d.header.Codec().String()+" data", err)
	}
	d.buf = out
	d.inflated = keepBuffer(out)
	return nil
}

// Drop forgets the batch: its bytes are not held any more.
func (d *Decoder) Drop() { d.left, d.buf, d.at = 0, nil, 0 }

// Err is what stopped Next or NextValue, nil at the end of a sound batch.
func (d *Decoder) Err() error { return d.err }

// fail stops the batch: nothing more is read from it.
func (d *Decoder) fail(reason string, cause error) error {
	d.left, d.buf, d.at = 0, nil, 0
	d.err = &CorruptError{
		Position:    d.pos,
		Size:        d.header.Size(),
		FirstOffset: d.next,
		LastOffset:  max(d.next, d.header.LastOffset()),
		Reason:      reason,
		Err:         cause,
	}
	return d.err
}

// Next reads the next record into r and reports whether there was one. It uses the
// memory of r.Headers again; all other bytes of r are the batch's and live until the
// next Open.
func (d *Decoder) Next(r *Record) bool {
	if d.left <= 0 {
		return d.end()
	}
	if d.header.Magic < 2 {
		return d.nextLegacy(r)
	}
	rec, ok := d.record()
	if !ok {
		return false
	}
	ts, i := varint64(rec, 1)
	if i < 0 {
		return d.stop("bad timestamp delta")
	}
	delta, i := varint32(rec, i)
	if i < 0 || !d.inOrder(delta) {
		return d.stop("bad offset delta")
	}
	r.Offset = d.header.BaseOffset + int64(delta)
	r.Timestamp = d.header.BaseTimestamp + ts
	r.TimestampType = CreateTime
	if d.header.Attributes&attrLogAppendTime != 0 {
		r.Timestamp, r.TimestampType = d.header.MaxTimestamp, LogAppendTime
	}
	r.LeaderEpoch = d.header.LeaderEpoch
	if r.Key, i = nullable(rec, i); i < 0 {
		return d.stop("bad key length")
	}
	if r.Value, i = nullable(rec, i); i < 0 {
		return d.stop("bad value length")
	}
	r.Headers = r.Headers[:0]
	if (i != len(rec)-1 || rec[i] != 0) && !d.headers(r, rec, i) {
		return false
	}
	d.next = r.Offset + 1
	return true
}

// NextValue reads the next record's value and offset, checked as Next does, faster.
// A null value is nil. The bytes live until the next Open.
func (d *Decoder) NextValue() (value []byte, offset int64, ok bool) {
	if value, ok = d.plainValue(); ok {
		return value, d.next - 1, true
	}
	if d.left <= 0 {
		return nil, 0, d.end()
	}
	if d.header.Magic < 2 {
		return d.nextLegacyValue()
	}
	rec, ok := d.record()
	if !ok {
		return nil, 0, false
	}
	_, i := varint64(rec, 1)
	if i < 0 {
		return nil, 0, d.stop("bad timestamp delta")
	}
	delta, i := varint32(rec, i)
	if i < 0 || !d.inOrder(delta) {
		return nil, 0, d.stop("bad offset delta")
	}
	if _, i = nullable(rec, i); i < 0 {
		return nil, 0, d.stop("bad key length")
	}
	if value, i = nullable(rec, i); i < 0 {
		return nil, 0, d.stop("bad value length")
	}
	if i, reason := skipHeaders(rec, i); i < 0 {
		return nil, 0, d.stop(reason)
	}
	d.next = d.header.BaseOffset + int64(delta) + 1
	return value, d.next - 1, true
}

// record cuts the next record off buf; the bytes begin with its attributes.
func (d *Decoder) record() (rec []byte, ok bool) {
	size, i := varint32(d.buf, d.at)
	if i < 0 || size < 1 || int(size) > len(d.buf)-i {
		if i >= 0 || d.at < len(d.buf) {
			return nil, d.stop("bad record length")
		}
		return nil, d.stop("fewer records than the batch counts")
	}
	d.at = i + int(size)
	d.left--
	return d.buf[i:d.at], true
}

// inOrder reports whether a record may have this offset delta.
func (d *Decoder) inOrder(delta int32) bool {
	return d.header.BaseOffset+int64(delta) >= d.next && delta <= d.header.LastOffsetDelta
}

// end is the verdict where no record is left to read.
func (d *Decoder) end() bool {
	if d.err == nil && d.at < len(d.buf) {
		d.fail("bytes behind the last record", nil)
	}
	return false
}

func (d *Decoder) stop(reason string) bool {
	d.fail(reason, nil)
	return false
}

// nullable reads a byte string with its length from rec[i:]. Every negative length is
// null: so Kafka reads it. The result ends at next, which is negative for a length
// that leads out of the record.
func nullable(rec []byte, i int) (s []byte, next int) {
	n, i := varint32(rec, i)
	if i < 0 || n < 0 {
		return nil, i
	}
	if int(n) > len(rec)-i {
		return nil, -1
	}
	next = i + int(n)
	return rec[i:next:next], next
}

// headers reads the headers of rec, which must end with them.
func (d *Decoder) headers(r *Record, rec []byte, i int) bool {
	n, i, reason := headerCount(rec, i)
	if i < 0 {
		return d.stop(reason)
	}
	if cap(r.Headers) < n || cap(r.Headers) > keepHeaders {
		r.Headers = make([]Header, 0, n)
	}
	for ; n > 0; n-- {
		var h Header
		if h.Key, i = nullable(rec, i); i < 0 || h.Key == nil {
			return d.stop("bad header key length")
		}
		if h.Value, i = nullable(rec, i); i < 0 {
			return d.stop("bad header value length")
		}
		r.Headers = append(r.Headers, h)
	}
	if i != len(rec) {
		return d.stop("record length and fields disagree")
	}
	return true
}

// skipHeaders checks headers as Decoder.headers does, without taking them.
func skipHeaders(rec []byte, i int) (next int, reason string) {
	n, i, reason := headerCount(rec, i)
	if i < 0 {
		return i, reason
	}
	for ; n > 0; n-- {
		var key []byte
		if key, i = nullable(rec, i); i < 0 || key == nil {
			return -1, "bad header key length"
		}
		if _, i = nullable(rec, i); i < 0 {
			return -1, "bad header value length"
		}
	}
	if i != len(rec) {
		return -1, "record length and fields disagree"
	}
	return i, ""
}

// keepHeaders is how many headers a record may have whatever its size. A header takes
// 48 bytes in memory and as little as 2 in its record, so that a hostile record could
// ask for twenty times its own size; beyond keepHeaders the record's bytes must pay
// for them.
const keepHeaders = 1 << 19

// headerCount reads the number of headers from rec[i:]. next is negative, and reason
// says why, for a number that the record cannot hold.
func headerCount(rec []byte, i int) (n, next int, reason string) {
	c, next := varint32(rec, i)
	n = int(c)
	if next < 0 || n < 0 || n > (len(rec)-next)/2 {
		return 0, -1, "bad header count"
	}
	if n > keepHeaders && (n-keepHeaders)*int(unsafe.Sizeof(Header{})) > len(rec) {
		return 0, -1, "too many headers"
	}
	return n, next, ""
}
