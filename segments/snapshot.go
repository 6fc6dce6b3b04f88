package segments

import (
	"encoding/binary"
	"fmt"
)

// A .snapshot file holds the state of all producers for the offsets below the one that
// it is named by:
//
//	0  int16   version, 1
//	2  uint32  CRC-32C of bytes 6 to the end
//	6  int32   number of entries
//
// and for each producer, in any order:
//
//	 0  int64   producer id
//	 8  int16   epoch
//	10  int32   last sequence; -1: none
//	14  int64   last offset with data; -1: none
//	22  int32   offset delta of the last batch: its size less one
//	26  int64   timestamp of the last batch, in ms
//	34  int32   coordinator epoch; -1: none
//	38  int64   first offset of the open transaction; -1: none
const (
	snapshotVersion    = 1
	snapshotHeaderSize = 10
	snapshotEntrySize  = 46
	snapshotCRCFrom    = 6
)

// ParseSnapshot reads a .snapshot file. Of the batches that a producer wrote it knows
// the last one only. Errors are ErrCorrupt and ErrUnknownVersion: an older snapshot and
// the log behind it then say the same.
func ParseSnapshot(data []byte) ([]ProducerEntry, error) {
	if len(data) < snapshotHeaderSize {
		return nil, fmt.Errorf("%w: snapshot of %d bytes", ErrCorrupt, len(data))
	}
	if v := int16(binary.BigEndian.Uint16(data)); v != snapshotVersion {
		return nil, fmt.Errorf("%w %d", ErrUnknownVersion, v)
	}
	if checksum(data[snapshotCRCFrom:]) != binary.BigEndian.Uint32(data[2:]) {
		return nil, fmt.Errorf("%w: bad crc", ErrCorrupt)
	}
	count := int64(int32(binary.BigEndian.Uint32(data[6:])))
	data = data[snapshotHeaderSize:]
	if int64(len(data)) != count*snapshotEntrySize {
		return nil, fmt.Errorf("%w: %d bytes for %d entries", ErrCorrupt, len(data), count)
	}
	entries := make([]ProducerEntry, 0, count)
	for ; len(data) > 0; data = data[snapshotEntrySize:] {
		entries = append(entries, parseProducerEntry(data))
	}
	return entries, nil
}

func parseProducerEntry(b []byte) ProducerEntry {
	e := ProducerEntry{
		ProducerID:       int64(binary.BigEndian.Uint64(b)),
		Epoch:            int16(binary.BigEndian.Uint16(b[8:])),
		LastTimestamp:    int64(binary.BigEndian.Uint64(b[26:])),
		CoordinatorEpoch: int32(binary.BigEndian.Uint32(b[34:])),
		TxnFirstOffset:   int64(binary.BigEndian.Uint64(b[38:])),
	}
	last := SequencedBatch{
		LastSequence: int32(binary.BigEndian.Uint32(b[10:])),
		LastOffset:   int64(binary.BigEndian.Uint64(b[14:])),
		OffsetDelta:  int32(binary.BigEndian.Uint32(b[22:])),
		Timestamp:    e.LastTimestamp,
	}
	if last.LastOffset >= 0 {
		e.push(last)
	}
	return e
}

// EncodeSnapshot is the file that ParseSnapshot reads.
func EncodeSnapshot(entries []ProducerEntry) []byte {
	b := make([]byte, 0, snapshotHeaderSize+len(entries)*snapshotEntrySize)
	b = binary.BigEndian.AppendUint16(b, snapshotVersion)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = appendProducerEntry(b, e)
	}
	binary.BigEndian.PutUint32(b[2:], checksum(b[snapshotCRCFrom:]))
	return b
}

func appendProducerEntry(b []byte, e ProducerEntry) []byte {
	last, ok := e.Last()
	if !ok {
		last = SequencedBatch{LastSequence: -1, LastOffset: -1}
	}
	b = binary.BigEndian.AppendUint64(b, uint64(e.ProducerID))
	b = binary.BigEndian.AppendUint16(b, uint16(e.Epoch))
	b = binary.BigEndian.AppendUint32(b, uint32(last.LastSequence))
	b = binary.BigEndian.AppendUint64(b, uint64(last.LastOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(last.OffsetDelta))
	b = binary.BigEndian.AppendUint64(b, uint64(e.LastTimestamp))
	b = binary.BigEndian.AppendUint32(b, uint32(e.CoordinatorEpoch))
	return binary.BigEndian.AppendUint64(b, uint64(e.TxnFirstOffset))
}
