package segments_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// sequenced is the header of a producer's batch of n records.
func sequenced(id int64, epoch int16, seq int32, base int64, n int32) segments.BatchHeader {
	return segments.BatchHeader{
		Magic: 2, ProducerID: id, ProducerEpoch: epoch, BaseSequence: seq,
		BaseOffset: base, LastOffsetDelta: n - 1, Count: n, MaxTimestamp: 1000 + base,
	}
}

func update(t *testing.T, p *segments.ProducerTable, headers ...segments.BatchHeader) {
	t.Helper()
	for _, h := range headers {
		if _, aborted, err := p.Update(segments.Batch{BatchHeader: h}); aborted || err != nil {
			t.Fatalf("%+v: %v %v", h, aborted, err)
		}
	}
}

func TestProducerTableCheck(t *testing.T) {
	p := segments.NewProducerTable()
	base := int64(100)
	for i := range int32(7) { // sequences 0-2, 3-5, … at offsets 100-102, …
		update(t, p, sequenced(9, 1, 3*i, base+int64(3*i), 3))
	}
	for _, tt := range []struct {
		name string
		h    segments.BatchHeader
		old  int64 // first offset of the batch that it repeats, -1: none
		want error
	}{
		{"next", sequenced(9, 1, 21, 0, 5), -1, nil},
		{"last again", sequenced(9, 1, 18, 0, 3), 118, nil},
		{"fifth last again", sequenced(9, 1, 6, 0, 3), 106, nil},
		{"sixth last again", sequenced(9, 1, 3, 0, 3), -1, segments.ErrOutOfOrderSequence},
		{"same start, other end", sequenced(9, 1, 18, 0, 2), -1, segments.ErrOutOfOrderSequence},
		{"gap", sequenced(9, 1, 22, 0, 1), -1, segments.ErrOutOfOrderSequence},
		{"old epoch", sequenced(9, 0, 21, 0, 1), -1, segments.ErrProducerFenced},
		{"new epoch", sequenced(9, 2, 0, 0, 1), -1, nil},
		{"new epoch, not from 0 on", sequenced(9, 2, 21, 0, 1), -1, segments.ErrOutOfOrderSequence},
		{"another producer", sequenced(10, 0, 77, 0, 1), -1, nil},
		{"no producer", sequenced(-1, -1, -1, 0, 1), -1, nil},
		{"no producer, 0 sequence", sequenced(-1, -1, 0, 0, 1), -1, nil},
	} {
		old, duplicate, err := p.Check(tt.h)
		if !errors.Is(err, tt.want) || duplicate != (tt.old >= 0) || duplicate && (old.FirstOffset() != tt.old || old.LastOffset != tt.old+2) {
			t.Errorf("%s: got %+v %v %v, want old offset %d, %v", tt.name, old, duplicate, err, tt.old, tt.want)
		}
	}
}

func TestProducerSequenceWraps(t *testing.T) {
	p := segments.NewProducerTable()
	update(t, p, sequenced(9, 0, math.MaxInt32-1, 0, 4)) // …646, …647, 0, 1
	if _, _, err := p.Check(sequenced(9, 0, 2, 4, 1)); err != nil {
		t.Error(err)
	}
	if old, duplicate, err := p.Check(sequenced(9, 0, math.MaxInt32-1, 4, 4)); !duplicate || err != nil || old.LastOffset != 3 {
		t.Errorf("got %+v %v %v", old, duplicate, err)
	}
	e, _ := p.Get(9)
	if last, _ := e.Last(); last.LastSequence != 1 || last.FirstSequence() != math.MaxInt32-1 {
		t.Errorf("got %+v", last)
	}
	p = segments.NewProducerTable()
	update(t, p, sequenced(9, 0, math.MaxInt32, 0, 1))
	if _, _, err := p.Check(sequenced(9, 0, 0, 1, 1)); err != nil {
		t.Error(err)
	}
}

func TestProducerTableUndo(t *testing.T) {
	p := segments.NewProducerTable()
	update(t, p, sequenced(9, 1, 0, 0, 1))
	before, _ := p.Get(9)
	update(t, p, sequenced(9, 1, 1, 1, 1), sequenced(9, 2, 0, 2, 1), sequenced(10, 0, 0, 3, 1))
	p.Put(before)
	p.Delete(10)
	if _, _, err := p.Check(sequenced(9, 1, 1, 1, 1)); err != nil {
		t.Error(err)
	}
	if _, known := p.Get(10); known || p.Len() != 1 {
		t.Errorf("producer 10 is still known")
	}
}

func TestProducerTableExpire(t *testing.T) {
	p := segments.NewProducerTable()
	h := sequenced(11, 0, 0, 1, 1)
	h.Attributes = 0x10 // transactional
	update(t, p, sequenced(9, 0, 0, 0, 1), h, sequenced(10, 0, 0, 500, 1))
	p.Expire(1400)
	var left []int64
	for _, e := range p.Entries() {
		left = append(left, e.ProducerID)
	}
	if d := cmp.Diff([]int64{10, 11}, left); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTransactionsVector(t *testing.T) {
	p := segments.NewProducerTable()
	s := scannerOf(segmentstest.File(t, "good/transactions.log"), 0)
	var aborted []segments.AbortedTxn
	if _, err := segments.FindEnd(s, false, func(b segments.Batch) error {
		txn, ok, err := p.Update(b)
		if ok {
			aborted = append(aborted, txn)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []segments.AbortedTxn{
		{ProducerID: 2000, FirstOffset: 2, LastOffset: 7, LastStableOffset: 0},
		{ProducerID: 1000, FirstOffset: 11, LastOffset: 13, LastStableOffset: 14},
	}
	if d := cmp.Diff(want, aborted); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if first, ok := p.FirstOpen(); !ok || first != 14 {
		t.Errorf("first open transaction: got %d %v, want 14", first, ok)
	}

	data := segmentstest.File(t, "dirs/txns-0/00000000000000000000.txnindex")
	for _, tt := range []struct{ from, upTo int64 }{{0, 16}, {0, 8}, {8, 16}, {0, 2}, {14, 16}} {
		got, _, err := segments.FindAborted(nil, readerOf(data), int64(len(data)), 0, tt.from, tt.upTo)
		if err != nil {
			t.Fatal(err)
		}
		var overlap []segments.AbortedTxn
		for _, a := range aborted {
			if a.LastOffset >= tt.from && a.FirstOffset < tt.upTo {
				overlap = append(overlap, a)
			}
		}
		if d := cmp.Diff(overlap, got); d != "" {
			t.Errorf("from %d up to %d (-want +got):\n%s", tt.from, tt.upTo, d)
		}
	}
}

func TestTxnIndexTolerance(t *testing.T) {
	good := segments.AppendAbortedTxn(nil, segments.AbortedTxn{ProducerID: 1, FirstOffset: 12, LastOffset: 15, LastStableOffset: 16})
	read := func(b []byte) error {
		return segments.ReadTxnIndex(readerOf(b), int64(len(b)), 10, func(segments.AbortedTxn) bool { return true })
	}
	if err := read(nil); err != nil {
		t.Error(err)
	}
	if err := read(good); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"half an entry":  {good[:20], segments.ErrCorrupt},
		"twice the same": {append(append([]byte(nil), good...), good...), segments.ErrCorrupt},
		"version 1":      {append([]byte{0, 1}, good[2:]...), segments.ErrUnknownVersion},
		"zeros":          {make([]byte, 34), segments.ErrCorrupt},
	} {
		if err := read(tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func TestSnapshotTolerance(t *testing.T) {
	good := segments.EncodeSnapshot([]segments.ProducerEntry{{ProducerID: 5, TxnFirstOffset: -1, CoordinatorEpoch: -1}})
	for at := range good {
		bad := append([]byte(nil), good...)
		bad[at]++
		_, err := segments.ParseSnapshot(bad)
		if want := segments.ErrUnknownVersion; at < 2 && !errors.Is(err, want) {
			t.Errorf("byte %d changed: got %v, want %v", at, err, want)
		}
		if want := segments.ErrCorrupt; at >= 2 && !errors.Is(err, want) {
			t.Errorf("byte %d changed: got %v, want %v", at, err, want)
		}
	}
	for n := range good {
		if _, err := segments.ParseSnapshot(good[:n]); err == nil {
			t.Errorf("cut to %d bytes: no error", n)
		}
	}
}
