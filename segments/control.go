package segments

import (
	"encoding/binary"
	"fmt"
)

// A control batch holds one record that no consumer sees but that uses up its offset.
// The record's key is int16 version (0) and int16 type. The value of an end of a
// transaction is int16 version (0) and int32 epoch of the coordinator. Later versions
// may append fields. Compaction may leave a control batch without its record.

// ControlType is what a control record says.
type ControlType int16

// The types of control records. Those from LeaderChange on concern Kafka's metadata
// log alone. Types that are not known are to be skipped.
const (
	AbortMarker ControlType = iota
	CommitMarker
	LeaderChange
	SnapshotHeader
	SnapshotFooter
	KRaftVersion
	KRaftVoters
)

var controlNames = [...]string{"abort", "commit", "leader-change", "snapshot-header", "snapshot-footer", "kraft-version", "kraft-voters"}

// String is the type's name.
func (t ControlType) String() string {
	if t < 0 || int(t) >= len(controlNames) {
		return fmt.Sprintf("control-%d", int16(t))
	}
	return controlNames[t]
}

// EndsTransaction reports whether the record ends its producer's open transaction.
func (t ControlType) EndsTransaction() bool { return t == AbortMarker || t == CommitMarker }

// Control is the content of a control record.
type Control struct {
	Type             ControlType
	Version          int16 // of the key
	CoordinatorEpoch int32 // of the end of a transaction; else -1
}

// ParseControl reads a record of a control batch. The error is ErrCorrupt by
// errors.Is: a key that is too short, a negative version, or the end of a transaction
// without a coordinator's epoch.
func ParseControl(r Record) (Control, error) {
	if len(r.Key) < 4 {
		return Control{}, controlError(r, fmt.Sprintf("key of %d bytes", len(r.Key)))
	}
	c := Control{
		Version:          int16(binary.BigEndian.Uint16(r.Key)),
		Type:             ControlType(binary.BigEndian.Uint16(r.Key[2:])),
		CoordinatorEpoch: -1,
	}
	if c.Version < 0 {
		return Control{}, controlError(r, fmt.Sprintf("key version %d", c.Version))
	}
	if !c.Type.EndsTransaction() {
		return c, nil
	}
	if len(r.Value) < 6 {
		return Control{}, controlError(r, fmt.Sprintf("%v with a value of %d bytes", c.Type, len(r.Value)))
	}
	if version := int16(binary.BigEndian.Uint16(r.Value)); version < 0 {
		return Control{}, controlError(r, fmt.Sprintf("%v with value version %d", c.Type, version))
	}
	c.CoordinatorEpoch = int32(binary.BigEndian.Uint32(r.Value[2:]))
	return c, nil
}

func controlError(r Record, what string) error {
	return fmt.Errorf("control record %d: %s: %w", r.Offset, what, ErrCorrupt)
}

// Marker ends a transaction.
type Marker struct {
	Type             ControlType // AbortMarker or CommitMarker
	ProducerID       int64
	ProducerEpoch    int16
	CoordinatorEpoch int32
	Timestamp        int64 // ms since the epoch
}

// AppendMarker appends the control batch of m, with base offset 0 and leader epoch -1
// as Builder.Finish leaves them.
func AppendMarker(dst []byte, m Marker) []byte {
	var key [4]byte
	binary.BigEndian.PutUint16(key[2:], uint16(m.Type))
	var value [6]byte
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	var b Builder
	b.Start(dst, BatchOptions{
		HasProducer:   true,
		ProducerID:    m.ProducerID,
		ProducerEpoch: m.ProducerEpoch,
		BaseSequence:  -1,
		Transactional: true,
		Control:       true,
	})
	b.Append(m.Timestamp, key[:], value[:], nil)
	dst, _ = b.Finish() // one small record, nothing compressed: cannot fail
	return dst
}
