package engine

import (
	"io"

	"github.com/klog-project/klog/segments"
)

// openAtOnce is how many partitions are kept open when more are read side by side;
// the others are opened for each read. A process stays below 32 open files.
const openAtOnce = 8

// ReadAheadFor is a sensible ViewOptions.ReadAhead for reading n partitions side by
// side: what they read ahead stays within some 8 MiB as long as batches are small. More
// than the processor's cache holds makes nothing faster.
func ReadAheadFor(n int) int {
	const total, least, most = 8 << 20, 16 << 10, 256 << 10
	return min(most, max(least, total/max(n, 1)))
}

// Merge reads several partitions as one: next is the record with the smallest
// timestamp among the next ones of each partition; of equal ones that of the reader
// named first. It holds one record's batch of each in memory.
type Merge struct {
	readers []*Reader
	heap    []head // by timestamp, then reader
	fill    int    // readers from here on have not been asked yet
	current int    // the reader whose record was returned last, -1 none
}

// head is a reader's next record.
type head struct {
	rec    *segments.Record
	reader int
}

func (a head) before(b head) bool {
	if a.rec.Timestamp != b.rec.Timestamp {
		return a.rec.Timestamp < b.rec.Timestamp
	}
	return a.reader < b.reader
}

// NewMerge merges what the readers have. They are bounded, or the merge ends where
// each of them says io.EOF for the first time. They stay the caller's to close.
func NewMerge(readers []*Reader) *Merge {
	return &Merge{readers: readers, current: -1}
}

// Next returns the next record and the number of its reader. The record lives until
// the next call. The error is io.EOF when all readers are at their ends, else the
// error of the reader with that number, which it will return again.
func (m *Merge) Next() (int, *segments.Record, error) {
	for m.fill < len(m.readers) {
		h, err := m.next(m.fill)
		if err != nil && err != io.EOF {
			return m.fill, nil, err
		}
		m.fill++
		if err == nil {
			m.heap = append(m.heap, h)
			m.up(len(m.heap) - 1)
		}
	}
	if m.current >= 0 {
		h, err := m.next(m.current)
		switch {
		case err == nil:
			m.heap[0] = h
		case err == io.EOF:
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		default:
			return m.current, nil, err
		}
		m.current = -1
		m.down()
	}
	if len(m.heap) == 0 {
		return 0, nil, io.EOF
	}
	m.current = m.heap[0].reader
	return m.current, m.heap[0].rec, nil
}

func (m *Merge) next(i int) (head, error) {
	r := m.readers[i]
	rec, err := r.Next()
	if len(m.readers) > openAtOnce {
		r.Park()
	}
	return head{rec, i}, err
}

func (m *Merge) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !m.heap[i].before(m.heap[parent]) {
			return
		}
		m.heap[i], m.heap[parent] = m.heap[parent], m.heap[i]
		i = parent
	}
}

func (m *Merge) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if right := child + 1; right < len(m.heap) && m.heap[right].before(m.heap[child]) {
			child = right
		}
		if !m.heap[child].before(m.heap[i]) {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}
