package engine

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/klog-project/klog/segments"
)

// StateField is one value out of a file of klog's own, for people to look at.
type StateField struct {
	Name  string
	Value any // int64, string or bool
}

// InspectHint reads a partition's .klog/hint: the words that writers share, and the
// newest hint in it. Without a hint that is whole it returns the words alone.
func InspectHint(data []byte) ([]StateField, error) {
	if len(data) < blockSize || !(&block{mem: data}).valid() {
		return nil, fmt.Errorf("%w: %d bytes", errBlock, len(data))
	}
	word := func(at int) int64 { return int64(binary.NativeEndian.Uint64(data[at:])) }
	from, settled := word(32), false
	if from < 0 { // see block.failed
		from, settled = ^from, true
	}
	fields := []StateField{
		{"boot_id", hex.EncodeToString(data[8:24])},
		{"recovery_point", word(24)},
		{"failed_sync_from", from},
		{"failed_sync_end", word(40)},
		{"failed_sync_settled", settled},
		{"syncs", int64(binary.NativeEndian.Uint32(data[48:]))},
	}
	b := &block{mem: data}
	if t, ok := b.load(); ok {
		fields = append(fields, t.fields()...)
	}
	return fields, nil
}

// fields are what the hint says.
func (t *tail) fields() []StateField {
	fields := []StateField{
		{"hint_boot_id", hex.EncodeToString(t.boot[:])},
		{"hint_boot_time", t.bootTime},
		{"topic_id", t.topic.String()},
		{"rolling", t.flags&hintRolling != 0},
		{"unsynced", t.flags&hintUnsynced != 0},
		{"segment", t.base},
		{"segment_bytes", t.size},
		{"segment_created", t.created},
		{"segment_first_timestamp", t.firstTS},
		{"segment_max_timestamp", t.index.MaxTimestamp},
		{"segment_offset_of_max", t.index.OffsetOfMax},
		{"segment_damaged_bytes", t.damaged},
		{"next_offset", t.next},
		{"leader_epoch", int64(t.epoch)},
		{"appends", int64(t.appends)},
		{"index_entries", t.index.OffsetEntries},
		{"timeindex_entries", t.index.TimeEntries},
		{"timeindex_last", t.index.LastTimeEntry},
		{"bytes_since_index_entry", t.index.SinceEntry},
		{"last_batch_position", t.lastPos},
	}
	if h, ok := segments.PeekHeader(t.lastHdr[:]); ok && t.lastPos >= 0 {
		fields = append(fields,
			StateField{"last_batch_size", h.Size()},
			StateField{"last_batch_base_offset", h.BaseOffset},
			StateField{"last_batch_last_offset", h.LastOffset()})
	}
	return fields
}

// InspectProducers reads a partition's .klog/producers: what is known of the producers
// that wrote below the offset end.
func InspectProducers(data []byte) (end int64, producers []segments.ProducerEntry, err error) {
	table, end, _, ok := decodeProducers(data)
	if !ok {
		return 0, nil, errors.New("not a table of producers that this klog knows, or damaged")
	}
	return end, table.Entries(), nil
}

// InspectLock reads what a lock file says of the process that held the lock last. ok is
// false where it says nothing. Whether the lock is held stands in no file: see LockUsers.
func InspectLock(data []byte) (fields []StateField, ok bool) {
	h, ns, ok := parseHolderLine(data)
	if !ok {
		return nil, false
	}
	fields = []StateField{{"pid", int64(h.PID)}, {"pid_namespace", ns}, {"host", h.Host}, {"command", h.Command}}
	if !h.Since.IsZero() {
		fields = append(fields, StateField{"since", h.Since.UnixMilli()})
	}
	return fields, true
}
