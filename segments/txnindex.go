package segments

import (
	"encoding/binary"
	"fmt"
	"io"
)

// AbortedTxnSize is the size in bytes of one entry of a .txnindex file:
//
//	 0  int16  version, 0
//	 2  int64  producer id
//	10  int64  first offset of the transaction
//	18  int64  last offset: that of its abort marker
//	26  int64  last stable offset once it was aborted
const (
	AbortedTxnSize   = 34
	txnIndexVersion  = 0
	txnIndexReadSize = 256 * AbortedTxnSize
)

// AbortedTxn is a transaction that was aborted. Its entry is in the .txnindex of the
// segment that holds the marker; the transaction may have begun in an earlier one.
type AbortedTxn struct {
	ProducerID       int64
	FirstOffset      int64
	LastOffset       int64 // of the abort marker
	LastStableOffset int64
}

// AppendAbortedTxn appends an entry as the file holds it.
func AppendAbortedTxn(dst []byte, a AbortedTxn) []byte {
	dst = binary.BigEndian.AppendUint16(dst, txnIndexVersion)
	dst = binary.BigEndian.AppendUint64(dst, uint64(a.ProducerID))
	dst = binary.BigEndian.AppendUint64(dst, uint64(a.FirstOffset))
	dst = binary.BigEndian.AppendUint64(dst, uint64(a.LastOffset))
	return binary.BigEndian.AppendUint64(dst, uint64(a.LastStableOffset))
}

// parseAbortedTxn reads one entry of the segment with the given base offset. last is
// the last offset of the entry before.
func parseAbortedTxn(b []byte, base, last int64) (AbortedTxn, error) {
	if v := int16(binary.BigEndian.Uint16(b)); v != txnIndexVersion {
		return AbortedTxn{}, fmt.Errorf("%w %d", ErrUnknownVersion, v)
	}
	a := AbortedTxn{
		ProducerID:       int64(binary.BigEndian.Uint64(b[2:])),
		FirstOffset:      int64(binary.BigEndian.Uint64(b[10:])),
		LastOffset:       int64(binary.BigEndian.Uint64(b[18:])),
		LastStableOffset: int64(binary.BigEndian.Uint64(b[26:])),
	}
	if a.LastOffset < base || a.LastOffset <= last || a.FirstOffset > a.LastOffset {
		return AbortedTxn{}, fmt.Errorf("%w: transaction of offsets %d to %d behind %d in the segment %d",
			ErrCorrupt, a.FirstOffset, a.LastOffset, last, base)
	}
	return a, nil
}

// ReadTxnIndex calls each with the entries of the .txnindex file f of size bytes, which
// belongs to the segment with the given base offset, until each returns false. Errors
// are ErrCorrupt, ErrUnknownVersion and those of reading f.
//
// Where the file cannot be used the same facts come from a scan: a ProducerTable
// reports each aborted transaction.
func ReadTxnIndex(f io.ReaderAt, size, base int64, each func(AbortedTxn) bool) error {
	if size%AbortedTxnSize != 0 {
		return fmt.Errorf("%w: %d bytes are no whole entries", ErrCorrupt, size)
	}
	last := base - 1
	buf := make([]byte, min(size, txnIndexReadSize))
	for at := int64(0); at < size; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-at)]
		if err := readFullAt(f, buf, at); err != nil {
			return err
		}
		for b := buf; len(b) > 0; b = b[AbortedTxnSize:] {
			a, err := parseAbortedTxn(b, base, last)
			if err != nil {
				return err
			}
			last = a.LastOffset
			if !each(a) {
				return nil
			}
		}
	}
	return nil
}

// FindAborted appends to dst the aborted transactions in one segment's .txnindex that
// reach into the offsets from up to, but not including, upTo. done is true if no later
// segment can hold another.
func FindAborted(dst []AbortedTxn, f io.ReaderAt, size, base, from, upTo int64) (found []AbortedTxn, done bool, err error) {
	err = ReadTxnIndex(f, size, base, func(a AbortedTxn) bool {
		if a.LastOffset >= from && a.FirstOffset < upTo {
			dst = append(dst, a)
		}
		done = a.LastStableOffset >= upTo
		return !done
	})
	return dst, done, err
}
