package feed

import (
	"maps"

	"github.com/klog-project/klog/segments"
)

// sequences number the records of an idempotent producer, in each partition for
// itself. One worker uses them.
type sequences struct {
	id    int64
	epoch int16
	home  int32           // where records go that no key binds
	next  map[int32]int32 // the number of the next record, 0 to 2^31-1 and round
	skip  map[int32]int64 // records to come that are in the log already

	was sequencesState // at the beginning of the chunk
}

type sequencesState struct {
	next map[int32]int32
	skip map[int32]int64
}

// mark remembers where the sequences stand, for rewind. Nil does nothing, here as there.
func (s *sequences) mark() {
	if s != nil {
		s.was = sequencesState{maps.Clone(s.next), maps.Clone(s.skip)}
	}
}

// rewind goes back to the mark.
func (s *sequences) rewind() {
	if s != nil {
		s.next, s.skip = maps.Clone(s.was.next), maps.Clone(s.was.skip)
	}
}

// stamp gives a batch for the partition its place in the sequence.
func (s *sequences) stamp(o *segments.BatchOptions, partition int32) {
	o.HasProducer, o.ProducerID, o.ProducerEpoch = true, s.id, s.epoch
	o.BaseSequence = s.next[partition]
}

// advance counts n records that were given to the partition.
func (s *sequences) advance(partition, n int32) {
	s.next[partition] = int32((int64(s.next[partition]) + int64(n)) & (1<<31 - 1))
}

// skips reports whether the next record for the partition is in the log already, and
// counts it.
func (s *sequences) skips(partition int32) bool {
	if s.skip[partition] == 0 {
		return false
	}
	s.skip[partition]--
	return true
}
