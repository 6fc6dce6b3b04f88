package cmd

import (
	"fmt"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// spread makes columns of names, all of them shown everywhere. A name that ends with
// "timestamp" is a time.
func spread(names ...string) []dumpColumn {
	columns := make([]dumpColumn, len(names))
	for i, n := range names {
		columns[i].name = n
		if n == "timestamp" || n == "max_timestamp" {
			columns[i].kind = timeColumn
		}
	}
	return columns
}

// valid is for an index entry whether it may follow the one before.
func (d *dumper) index(src dumpSource) error {
	if err := d.begin(spread("offset", "position", "valid")); err != nil {
		return err
	}
	last := segments.OffsetEntry{Offset: src.base - 1}
	spare, err := segments.ReadOffsetIndex(src, src.size, src.base, func(x segments.OffsetEntry) error {
		valid := x.Offset > last.Offset && x.Position > last.Position
		last = x
		return d.row(x.Offset, x.Position, valid)
	})
	return d.endIndex(src, spare, segments.OffsetEntrySize, err)
}

func (d *dumper) timeIndex(src dumpSource) error {
	if err := d.begin(spread("timestamp", "offset", "valid")); err != nil {
		return err
	}
	last := segments.TimeEntry{Timestamp: -1, Offset: src.base}
	spare, err := segments.ReadTimeIndex(src, src.size, src.base, func(x segments.TimeEntry) error {
		valid := x.Timestamp > last.Timestamp && x.Offset >= last.Offset
		last = x
		return d.row(x.Timestamp, x.Offset, valid)
	})
	return d.endIndex(src, spare, segments.TimeEntrySize, err)
}

// endIndex says what is in an index file beside entries.
func (d *dumper) endIndex(src dumpSource, spare, entry int64, err error) error {
	if err != nil {
		return err
	}
	if rest := src.size % entry; rest > 0 {
		d.e.Notice(fmt.Sprintf("%s: the last %d bytes are no whole entry", d.name, rest))
	}
	if spare > 0 {
		d.e.Verbose(fmt.Sprintf("%s: %d bytes behind the entries are preallocated", d.name, spare))
	}
	return nil
}

func (d *dumper) txnIndex(src dumpSource) error {
	if err := d.begin(spread("producer_id", "first_offset", "last_offset", "last_stable_offset")); err != nil {
		return err
	}
	var failed error
	err := segments.ReadTxnIndex(src, src.size, src.base, func(a segments.AbortedTxn) bool {
		failed = d.row(a.ProducerID, a.FirstOffset, a.LastOffset, a.LastStableOffset)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// producerColumns are those of a .snapshot and of klog's own table, of which end_offset
// is the offset below which it is true.
func producerColumns() []dumpColumn {
	return spread("producer_id", "producer_epoch", "last_sequence", "last_offset", "offset_delta",
		"timestamp", "coordinator_epoch", "txn_first_offset", "end_offset")
}

func (d *dumper) snapshot(data []byte) error {
	if err := d.begin(producerColumns()); err != nil {
		return err
	}
	entries, err := segments.ParseSnapshot(data)
	if err != nil {
		return err
	}
	return d.producerRows(entries, nil)
}

func (d *dumper) producers(data []byte) error {
	if err := d.begin(producerColumns()); err != nil {
		return err
	}
	end, entries, err := engine.InspectProducers(data)
	if err != nil {
		return err
	}
	return d.producerRows(entries, end)
}

// producerRows prints a row for each producer, and one for each older batch of it that
// is still remembered.
func (d *dumper) producerRows(entries []segments.ProducerEntry, end any) error {
	for _, p := range entries {
		batches := p.Batches[:p.Count]
		if len(batches) == 0 {
			batches = []segments.SequencedBatch{{LastSequence: -1, LastOffset: -1, Timestamp: p.LastTimestamp}}
		}
		for _, b := range batches {
			err := d.row(p.ProducerID, p.Epoch, b.LastSequence, b.LastOffset, b.OffsetDelta,
				b.Timestamp, p.CoordinatorEpoch, orNull(p.TxnFirstOffset), end)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// orNull is null for a negative number.
func orNull(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}

// list dumps klog's list of segments.
func (d *dumper) list(src dumpSource) error {
	if err := d.begin(spread("base_offset", "max_timestamp", "known")); err != nil {
		return err
	}
	l, err := segments.OpenList(src)
	if err != nil {
		return err
	}
	for i := range l.Len() {
		s, err := l.At(i)
		if err != nil {
			return err
		}
		var ts any
		known := s.MaxTimestamp != segments.UnknownTimestamp
		if known {
			ts = s.MaxTimestamp
		}
		if err := d.row(s.Base, ts, known); err != nil {
			return err
		}
	}
	return nil
}
