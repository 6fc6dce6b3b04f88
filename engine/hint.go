package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klog-project/klog/segments"
)

// The hint is klog's memory of where a partition's log ends, stored in the partition's
// block at the end of every append, under the append lock. It makes finding the end
// O(1) whatever the number of segments. It is never the truth: a hint that disagrees
// with the log is dropped and the tail is scanned.
//
//	byte  size
//	   0     4  "HINT"
//	   4     2  version
//	   6     2  flags
//	   8    16  boot id under which it was written
//	  24     8  boot time, seconds since the epoch
//	  32    16  topic id
//	  48     8  base offset of the active segment
//	  56     8  bytes in the active segment
//	  64     8  position of the last batch in it, -1: none
//	  72    61  header of that batch
//	 133     4  leader epoch
//	 137     8  next offset
//	 145     8  append counter: differs after every append, so that equal bytes mean an untouched log
//	 153     8  largest timestamp of the segment's first batch, -1: none
//	 161     8  wall clock when the segment was made, ms
//	 169     8  bytes since the last offset index entry
//	 177     8  largest timestamp in the segment, -1: none
//	 185     8  offset of it
//	 193     8  timestamp of the last time index entry, -1: none
//	 201     8  entries in the offset index
//	 209     8  entries in the time index
//	 217     8  bytes of damage in the segment that appends were made behind
//	 225     4  CRC-32C of the bytes before it
const (
	hintSize  = 229
	appendsAt = 145
)

const hintVersion = 1

// Flags of a hint.
const (
	// hintRolling is set before a new segment's files are made and cleared once they
	// are complete: a hint that still has it was left by a writer that died rolling.
	hintRolling = 1 << iota
	// hintUnsynced is set when a sync of the log failed: the kernel may have dropped
	// the pages that it could not write, so the next writer reads what lies beyond the
	// recovery point from the disk before it trusts it.
	hintUnsynced
)

var errHint = errors.New("hint unusable")

// castagnoli is hash/crc32's own shared table: MakeTable returns it without building one.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

type bootID [16]byte

// tail is the end of a partition's log: everything that an append needs to know.
// It is what the hint stores.
type tail struct {
	flags    uint16
	boot     bootID
	bootTime int64
	topic    TopicID

	base    int64 // base offset of the active segment
	size    int64 // bytes in it
	lastPos int64 // position of its last batch, -1 none
	lastHdr [segments.HeaderSize]byte
	epoch   int32
	next    int64 // next offset
	appends uint64
	firstTS int64 // largest timestamp of the segment's first batch, -1 none
	created int64 // ms; when the segment was made
	index   segments.IndexState
	damaged int64 // bytes of damage in the segment that the log goes on behind
}

func (t *tail) encode(b *[hintSize]byte) {
	be := binary.BigEndian
	copy(b[0:], "HINT")
	be.PutUint16(b[4:], hintVersion)
	be.PutUint16(b[6:], t.flags)
	copy(b[8:], t.boot[:])
	be.PutUint64(b[24:], uint64(t.bootTime))
	copy(b[32:], t.topic[:])
	be.PutUint64(b[48:], uint64(t.base))
	be.PutUint64(b[56:], uint64(t.size))
	be.PutUint64(b[64:], uint64(t.lastPos))
	copy(b[72:], t.lastHdr[:])
	be.PutUint32(b[133:], uint32(t.epoch))
	be.PutUint64(b[137:], uint64(t.next))
	be.PutUint64(b[appendsAt:], t.appends)
	be.PutUint64(b[153:], uint64(t.firstTS))
	be.PutUint64(b[161:], uint64(t.created))
	be.PutUint64(b[169:], uint64(t.index.SinceEntry))
	be.PutUint64(b[177:], uint64(t.index.MaxTimestamp))
	be.PutUint64(b[185:], uint64(t.index.OffsetOfMax))
	be.PutUint64(b[193:], uint64(t.index.LastTimeEntry))
	be.PutUint64(b[201:], uint64(t.index.OffsetEntries))
	be.PutUint64(b[209:], uint64(t.index.TimeEntries))
	be.PutUint64(b[217:], uint64(t.damaged))
	be.PutUint32(b[225:], crc32.Checksum(b[:225], castagnoli()))
}

func (t *tail) decode(b []byte) error {
	be := binary.BigEndian
	if len(b) < hintSize || string(b[:4]) != "HINT" {
		return fmt.Errorf("%w: not a hint", errHint)
	}
	if v := be.Uint16(b[4:]); v != hintVersion {
		return fmt.Errorf("%w: version %d", errHint, v)
	}
	if crc32.Checksum(b[:225], castagnoli()) != be.Uint32(b[225:]) {
		return fmt.Errorf("%w: bad checksum", errHint)
	}
	t.flags = be.Uint16(b[6:])
	copy(t.boot[:], b[8:])
	t.bootTime = int64(be.Uint64(b[24:]))
	copy(t.topic[:], b[32:])
	t.base = int64(be.Uint64(b[48:]))
	t.size = int64(be.Uint64(b[56:]))
	t.lastPos = int64(be.Uint64(b[64:]))
	copy(t.lastHdr[:], b[72:])
	t.epoch = int32(be.Uint32(b[133:]))
	t.next = int64(be.Uint64(b[137:]))
	t.appends = be.Uint64(b[appendsAt:])
	t.firstTS = int64(be.Uint64(b[153:]))
	t.created = int64(be.Uint64(b[161:]))
	t.index.SinceEntry = int64(be.Uint64(b[169:]))
	t.index.MaxTimestamp = int64(be.Uint64(b[177:]))
	t.index.OffsetOfMax = int64(be.Uint64(b[185:]))
	t.index.LastTimeEntry = int64(be.Uint64(b[193:]))
	t.index.OffsetEntries = int64(be.Uint64(b[201:]))
	t.index.TimeEntries = int64(be.Uint64(b[209:]))
	t.damaged = int64(be.Uint64(b[217:]))
	if t.base < 0 || t.size < 0 || t.next < t.base || t.lastPos >= max(t.size, 1) {
		return fmt.Errorf("%w: impossible values", errHint)
	}
	return nil
}
