package segments

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// keptBatches is how many of a producer's last batches are recognised when they come
// again.
const keptBatches = 5

var (
	// ErrOutOfOrderSequence is returned when a producer's batch does not follow the one
	// before: something in between is missing, or came too late to be recognised.
	ErrOutOfOrderSequence = errors.New("sequence number out of order")
	// ErrProducerFenced is returned when a producer with the same id and a later epoch
	// has written already.
	ErrProducerFenced = errors.New("producer epoch is older than the latest")
)

// SequencedBatch is what is remembered of a batch to recognise it when it comes again.
type SequencedBatch struct {
	LastSequence int32
	LastOffset   int64
	OffsetDelta  int32 // last offset - first offset; of the sequences too
	Timestamp    int64 // ms since the epoch
}

// FirstOffset is the batch's base offset.
func (b SequencedBatch) FirstOffset() int64 { return b.LastOffset - int64(b.OffsetDelta) }

// FirstSequence is the batch's base sequence.
func (b SequencedBatch) FirstSequence() int32 { return addSequence(b.LastSequence, -b.OffsetDelta) }

// addSequence adds n to a sequence number. After 2^31-1 comes 0.
func addSequence(seq, n int32) int32 {
	return int32((int64(seq) + int64(n)) & math.MaxInt32)
}

// ProducerEntry is the state of one producer in a partition: a plain value.
type ProducerEntry struct {
	ProducerID       int64
	Epoch            int16
	CoordinatorEpoch int32 // of the last transaction marker; -1: none
	LastTimestamp    int64 // of the last batch or marker, in ms
	TxnFirstOffset   int64 // where the open transaction begins; -1: none is open

	// The last batches of the current epoch, oldest first: Batches[:Count].
	Batches [keptBatches]SequencedBatch
	Count   int
}

// Last is the newest batch of the current epoch; ok is false if there is none.
func (e *ProducerEntry) Last() (b SequencedBatch, ok bool) {
	if e.Count == 0 {
		return SequencedBatch{}, false
	}
	return e.Batches[e.Count-1], true
}

func (e *ProducerEntry) push(b SequencedBatch) {
	if e.Count == keptBatches {
		copy(e.Batches[:], e.Batches[1:])
		e.Count--
	}
	e.Batches[e.Count] = b
	e.Count++
}

// setEpoch begins a new epoch, in which nothing of the old one counts.
func (e *ProducerEntry) setEpoch(epoch int16) {
	if e.Epoch != epoch {
		e.Epoch, e.Count = epoch, 0
	}
}

// find returns the remembered batch that h repeats.
func (e *ProducerEntry) find(h BatchHeader) (SequencedBatch, bool) {
	if e.Epoch != h.ProducerEpoch {
		return SequencedBatch{}, false
	}
	last := addSequence(h.BaseSequence, h.LastOffsetDelta)
	for _, b := range e.Batches[:e.Count] {
		if b.FirstSequence() == h.BaseSequence && b.LastSequence == last {
			return b, true
		}
	}
	return SequencedBatch{}, false
}

// ProducerTable holds the state of a partition's producers up to some offset: what is
// needed to recognise batches that are sent again, and to know which transactions are
// open or were aborted. It must not be used from several goroutines at once.
type ProducerTable struct {
	producers map[int64]*ProducerEntry
	open      map[int64]int64 // producer id to first offset, of open transactions
}

// NewProducerTable returns an empty table, which is true for the offset 0.
func NewProducerTable() *ProducerTable {
	return &ProducerTable{producers: map[int64]*ProducerEntry{}, open: map[int64]int64{}}
}

// Len is the number of producers.
func (t *ProducerTable) Len() int { return len(t.producers) }

// Get returns a producer's state.
func (t *ProducerTable) Get(producerID int64) (ProducerEntry, bool) {
	e, ok := t.producers[producerID]
	if !ok {
		return ProducerEntry{}, false
	}
	return *e, true
}

// Put sets a producer's state: one read from a snapshot, or one taken with Get before
// an append that failed.
func (t *ProducerTable) Put(e ProducerEntry) {
	t.producers[e.ProducerID] = &e
	t.noteOpen(&e)
}

// Delete forgets a producer.
func (t *ProducerTable) Delete(producerID int64) {
	delete(t.producers, producerID)
	delete(t.open, producerID)
}

func (t *ProducerTable) noteOpen(e *ProducerEntry) {
	if e.TxnFirstOffset >= 0 {
		t.open[e.ProducerID] = e.TxnFirstOffset
		return
	}
	delete(t.open, e.ProducerID)
}

// Entries returns all producers, by id.
func (t *ProducerTable) Entries() []ProducerEntry {
	all := make([]ProducerEntry, 0, len(t.producers))
	for _, e := range t.producers {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b ProducerEntry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return all
}

// Expire forgets the producers that wrote nothing since before, in ms, and have no
// transaction open.
func (t *ProducerTable) Expire(before int64) {
	for id, e := range t.producers {
		if e.TxnFirstOffset < 0 && e.LastTimestamp <= before {
			delete(t.producers, id)
		}
	}
}

// FirstOpen is the first offset of the oldest open transaction. Without one ok is
// false, and all of the log is decided.
func (t *ProducerTable) FirstOpen() (offset int64, ok bool) {
	for _, first := range t.open {
		if !ok || first < offset {
			offset, ok = first, true
		}
	}
	return offset, ok
}

// Check says whether a batch that a producer sent may be appended. If it is one of the
// producer's last five, sent again, duplicate is true and old is that batch as it lies
// in the log: it is not appended, and answered with the old offsets. Otherwise the
// error is nil or one that wraps ErrOutOfOrderSequence or ErrProducerFenced. Batches
// without a producer id and transaction markers pass.
func (t *ProducerTable) Check(h BatchHeader) (old SequencedBatch, duplicate bool, err error) {
	e, known := t.producers[h.ProducerID]
	if h.ProducerID < 0 || h.Control() || !known {
		return SequencedBatch{}, false, nil
	}
	if old, ok := e.find(h); ok {
		return old, true, nil
	}
	return SequencedBatch{}, false, e.follows(h)
}

// follows checks that h is the batch that the producer must send next.
func (e *ProducerEntry) follows(h BatchHeader) error {
	want := int32(0)
	switch last, ok := e.Last(); {
	case h.ProducerEpoch < e.Epoch:
		return fmt.Errorf("producer %d: epoch %d behind %d: %w", h.ProducerID, h.ProducerEpoch, e.Epoch, ErrProducerFenced)
	case h.ProducerEpoch == e.Epoch && ok:
		want = addSequence(last.LastSequence, 1)
	}
	if h.BaseSequence != want {
		return fmt.Errorf("producer %d: sequence %d, want %d: %w", h.ProducerID, h.BaseSequence, want, ErrOutOfOrderSequence)
	}
	return nil
}

// Update takes note of a batch of the log: all of them, in order. If it is the marker
// with which a transaction is aborted, aborted is true and txn is the entry for
// .txnindex. The error is that of reading a control record.
func (t *ProducerTable) Update(b Batch) (txn AbortedTxn, aborted bool, err error) {
	if b.ProducerID < 0 {
		return AbortedTxn{}, false, nil
	}
	if b.Control() {
		return t.endTransaction(b)
	}
	e := t.entry(b.ProducerID, b.ProducerEpoch)
	e.setEpoch(b.ProducerEpoch)
	e.push(SequencedBatch{
		LastSequence: addSequence(b.BaseSequence, b.LastOffsetDelta),
		LastOffset:   b.LastOffset(),
		OffsetDelta:  b.LastOffsetDelta,
		Timestamp:    b.MaxTimestamp,
	})
	e.LastTimestamp = b.MaxTimestamp
	if b.Transactional() && e.TxnFirstOffset < 0 {
		e.TxnFirstOffset = b.BaseOffset
		t.noteOpen(e)
	}
	return AbortedTxn{}, false, nil
}

func (t *ProducerTable) entry(id int64, epoch int16) *ProducerEntry {
	e, ok := t.producers[id]
	if !ok {
		e = &ProducerEntry{ProducerID: id, Epoch: epoch, CoordinatorEpoch: -1, LastTimestamp: -1, TxnFirstOffset: -1}
		t.producers[id] = e
	}
	return e
}

// endTransaction takes note of a transaction marker.
func (t *ProducerTable) endTransaction(b Batch) (AbortedTxn, bool, error) {
	m, ok, err := readMarker(b)
	if err != nil || !ok {
		return AbortedTxn{}, false, err
	}
	e := t.entry(b.ProducerID, b.ProducerEpoch)
	e.setEpoch(b.ProducerEpoch)
	txn := AbortedTxn{ProducerID: b.ProducerID, FirstOffset: e.TxnFirstOffset, LastOffset: b.BaseOffset}
	e.CoordinatorEpoch = m.CoordinatorEpoch
	e.LastTimestamp = m.Timestamp
	e.TxnFirstOffset = -1
	t.noteOpen(e)
	if m.Type == CommitMarker || txn.FirstOffset < 0 {
		return AbortedTxn{}, false, nil
	}
	first, open := t.FirstOpen()
	if !open {
		first = txn.LastOffset + 1
	}
	txn.LastStableOffset = first
	return txn, true, nil
}

// readMarker reads the transaction marker in a control batch. ok is false if there is
// none: compaction may have emptied the batch, and other control records than the two
// markers concern no producer.
func readMarker(b Batch) (m Marker, ok bool, err error) {
	var d Decoder
	var r Record
	if err := d.Open(b); err != nil {
		return Marker{}, false, err
	}
	if !d.Next(&r) {
		return Marker{}, false, d.Err()
	}
	c, err := ParseControl(r)
	if err != nil || !c.Type.EndsTransaction() {
		return Marker{}, false, err
	}
	return Marker{Type: c.Type, CoordinatorEpoch: c.CoordinatorEpoch, Timestamp: r.Timestamp}, true, nil
}
