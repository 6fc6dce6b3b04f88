package segments

import (
	"errors"
)

// Indexes are the index files of one segment, as they follow from its batches.
type Indexes struct {
	Index     []byte
	TimeIndex []byte
	TxnIndex  []byte     // empty: the segment has no such file
	State     IndexState // with the entry that Seal adds already counted
	Position  int64      // end of the good run that they describe
	Next      int64      // offset that follows it
}

// BuildIndexes makes the index files of a segment anew by reading what is left of s
// from the start of its file. base is the segment's base offset, interval is
// index.interval.bytes. producers, which may be nil, is the state of the producers at
// the start of the segment, and is brought to its end; without it transactions that
// began in an earlier segment are not known, and there is no TxnIndex.
//
// The indexes reach over damage as FindEnd does; the pieces are returned as damage.
// The error is one of reading.
func BuildIndexes(s *Scanner, interval int, laterSegment bool, producers *ProducerTable) (x Indexes, damage []*CorruptError, err error) {
	x.State = NewIndexState()
	end, err := FindEnd(s, laterSegment, func(b Batch) error {
		x.Index, x.TimeIndex = x.State.Add(b.BatchHeader, s.base, b.Position, interval, x.Index, x.TimeIndex)
		if producers == nil {
			return nil
		}
		txn, aborted, err := producers.Update(b)
		if aborted {
			x.TxnIndex = AppendAbortedTxn(x.TxnIndex, txn)
		}
		return ignoreContent(err)
	})
	x.TimeIndex = x.State.Seal(s.base, x.TimeIndex)
	x.Position, x.Next = end.Position, end.Next
	return x, end.Damage, err
}

// ignoreContent passes over a control record that cannot be read: the transaction it
// would have ended stays open, which hides records and loses none.
func ignoreContent(err error) error {
	if errors.Is(err, ErrCorrupt) {
		return nil
	}
	return err
}
