package segments

import (
	"encoding/binary"
	"hash/crc32"
)

// Message sets of magic 0 and 1, which Kafka wrote before record batches and klog only
// reads. A log of them is a run of entries, each with an offset, a size and one
// message:
//
//	0   int64   offset
//	8   int32   size of what follows
//	12  uint32  CRC-32 (IEEE) of byte 16 to the end
//	16  int8    magic
//	17  int8    attributes: codec in bits 0 to 2, in magic 1 timestamp type in bit 3
//	18  int64   timestamp, in magic 1 only
//	..  int32   key length, -1: null; key
//	..  int32   value length, -1: null; value
//
// A plain entry is one record. The value of a compressed entry is a message set of
// plain entries, as one stream. Its own offset is that of the last of them; theirs are
// absolute in magic 0, and in magic 1 count up to the last one's.

// legacyEntry is one entry's message, its bytes shared with the set.
type legacyEntry struct {
	offset     int64
	timestamp  int64 // -1 in magic 0
	attributes byte
	key, value []byte
}

// parseLegacyEntry reads the entry that fills b and reports whether its fields fit.
func parseLegacyEntry(b []byte) (e legacyEntry, ok bool) {
	e.offset = int64(binary.BigEndian.Uint64(b))
	e.attributes = b[magicAt+1]
	e.timestamp = -1
	i := legacyHeaderV0
	if b[magicAt] == 1 {
		e.timestamp = int64(binary.BigEndian.Uint64(b[i:]))
		i = legacyHeaderV1
	}
	if e.key, i = legacyBytes(b, i); i < 0 {
		return e, false
	}
	e.value, i = legacyBytes(b, i)
	return e, i == len(b)
}

// legacyBytes reads a nullable byte string with its plain length from b[i:].
func legacyBytes(b []byte, i int) (s []byte, next int) {
	if len(b)-i < 4 {
		return nil, -1
	}
	n := int32(binary.BigEndian.Uint32(b[i:]))
	i += 4
	if n < 0 {
		return nil, i
	}
	if int(n) > len(b)-i {
		return nil, -1
	}
	next = i + int(n)
	return b[i:next:next], next
}

// openLegacy begins with a magic 0 or 1 entry.
func (d *Decoder) openLegacy(raw []byte) error {
	if _, err := parsePrefix(raw); err != nil || int64(len(raw)) != d.header.Size() {
		return d.fail("bad entry header", err)
	}
	outer, ok := parseLegacyEntry(raw)
	if !ok {
		return d.fail("entry size and fields disagree", nil)
	}
	if d.header.Codec() == None {
		d.buf, d.left, d.base = raw, 1, 0
		return nil
	}
	d.next = -1 // the first offset is inside
	if d.header.Codec() > LZ4 {
		return d.fail(d.header.Codec().String()+" in a message set", nil)
	}
	if outer.value == nil {
		return d.fail("compressed entry without a value", nil)
	}
	if err := d.inflate(outer.value); err != nil {
		return err
	}
	return d.checkLegacySet(outer)
}

// checkLegacySet walks over the entries of a decompressed message set before any of
// them is handed out: the last one's offset is needed to know the first one's.
func (d *Decoder) checkLegacySet(outer legacyEntry) error {
	set := d.buf
	last := int64(-1)
	d.left = 0
	for len(set) > 0 {
		h, err := parsePrefix(set)
		if err != nil || h.Size() > int64(len(set)) || h.Magic != d.header.Magic {
			return d.fail("bad inner entry", err)
		}
		entry := set[:h.Size()]
		e, ok := parseLegacyEntry(entry)
		switch {
		case !ok:
			return d.fail("inner entry size and fields disagree", nil)
		case e.attributes&attrCodec != 0:
			return d.fail("compressed entry inside a compressed entry", nil)
		case crc32.ChecksumIEEE(entry[magicAt:]) != binary.BigEndian.Uint32(entry[prefixSize:]):
			return d.fail("bad crc of an inner entry", nil)
		case e.offset <= last:
			return d.fail("inner offset not increasing", nil)
		}
		last = e.offset
		set = set[len(entry):]
		d.left++
	}
	if d.left == 0 {
		return d.fail("compressed entry without records", nil)
	}
	d.base = 0
	// Some clients left 0 in the outer offset, and the inner ones count from there.
	if d.header.Magic == 1 && outer.offset != 0 {
		d.base = outer.offset - last
	}
	if d.base < 0 || d.header.Magic == 0 && last != outer.offset {
		return d.fail("inner offsets do not end at the outer one", nil)
	}
	return nil
}

// nextLegacyEntry cuts off the next entry of buf. All but a plain outer entry were
// checked by checkLegacySet.
func (d *Decoder) nextLegacyEntry() legacyEntry {
	size := prefixSize + int(int32(binary.BigEndian.Uint32(d.buf[d.at+8:])))
	e, _ := parseLegacyEntry(d.buf[d.at : d.at+size])
	d.at += size
	d.left--
	e.offset += d.base
	d.next = e.offset + 1
	return e
}

// nextLegacy is Next for magic 0 and 1.
func (d *Decoder) nextLegacy(r *Record) bool {
	e := d.nextLegacyEntry()
	r.Offset, r.Timestamp, r.LeaderEpoch = e.offset, e.timestamp, -1
	r.TimestampType = d.header.TimestampType()
	if r.TimestampType == LogAppendTime {
		r.Timestamp = d.header.MaxTimestamp
	}
	r.Key, r.Value, r.Headers = e.key, e.value, r.Headers[:0]
	return true
}

// nextLegacyValue is NextValue for magic 0 and 1.
func (d *Decoder) nextLegacyValue() (value []byte, offset int64, ok bool) {
	e := d.nextLegacyEntry()
	return e.value, e.offset, true
}
