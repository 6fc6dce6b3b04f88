package feed

import (
	"errors"
	"slices"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// rowTable holds the rows of a chunk by partition, so that one builder can make the
// batches of all partitions one after another.
type rowTable struct {
	refs    []rowRef
	headers [][2]span // name and value
	arena   []byte    // what the spans are of
	copied  []byte    // an arena of our own
	heads   []int32   // by partition: its first row, -1 without one
	tails   []int32
	used    []int32 // partitions that have rows
}

// span is a piece of the arena; n is -1 for null.
type span struct{ at, n int32 }

func (s span) of(arena []byte) []byte {
	if s.n < 0 {
		return nil
	}
	return arena[s.at : s.at+s.n : s.at+s.n]
}

type rowRef struct {
	key, value span
	headers    span // of headers
	ts         int64
	number     int32 // of the record in its chunk
	size       int32 // its bytes in the input
	next       int32 // row of the same partition, -1 at the end
}

func (t *rowTable) reset(partitions int, data []byte) {
	if len(t.heads) < partitions {
		t.heads, t.tails = make([]int32, partitions), make([]int32, partitions)
		for i := range t.heads {
			t.heads[i] = -1
		}
	}
	for _, p := range t.used {
		t.heads[p] = -1
	}
	t.used, t.refs, t.headers, t.copied = t.used[:0], t.refs[:0], t.headers[:0], t.copied[:0]
	t.arena = data
}

// add appends a row to its partition.
func (t *rowTable) add(to int32, ref rowRef) {
	i := int32(len(t.refs))
	ref.next = -1
	t.refs = append(t.refs, ref)
	if t.heads[to] < 0 {
		t.heads[to] = i
		t.used = append(t.used, to)
	} else {
		t.refs[t.tails[to]].next = i
	}
	t.tails[to] = i
}

// copyOf keeps bytes that live no longer than the row in hand.
func (t *rowTable) copyOf(b []byte) span {
	if b == nil {
		return span{n: -1}
	}
	s := span{int32(len(t.copied)), int32(len(b))}
	t.copied = append(t.copied, b...)
	return s
}

func (t *rowTable) copyHeaders(hs []segments.Header) span {
	s := span{int32(len(t.headers)), int32(len(hs))}
	for _, h := range hs {
		t.headers = append(t.headers, [2]span{t.copyOf(h.Key), t.copyOf(h.Value)})
	}
	return s
}

// row fills r with what ref stands for.
func (t *rowTable) row(ref *rowRef, r *format.Row) {
	r.Key, r.Value = ref.key.of(t.arena), ref.value.of(t.arena)
	r.Headers = r.Headers[:0]
	for _, h := range t.headers[ref.headers.at : ref.headers.at+ref.headers.n] {
		r.Headers = append(r.Headers, segments.Header{Key: h[0].of(t.arena), Value: h[1].of(t.arena)})
	}
}

// sorted encodes records that go to several partitions.
func (e *encoder) sorted(data []byte) {
	e.rows.reset(e.o.Target.Partitions, data)
	e.parsedRows(data)
	e.emitSorted(e.rows.used, e.emit)
}

// emitSorted lets emit encode the records that were found, for each of the partitions
// up to a number.
func (e *encoder) emitSorted(partitions []int32, emit func(partition, last int32)) {
	found, last := e.failed, e.number
	if first := e.emitAll(partitions, int32(last), emit); first.err != nil {
		// What stands behind the first record that cannot be stored is not stored
		// either, in no partition.
		e.again()
		e.emitAll(partitions, int32(first.number)-1, emit)
		found = first
	}
	e.failed, e.number = found, last
}

// emitAll encodes records up to the number last, and returns the problem that comes
// first in the input.
//
// Every other chunk goes through the partitions in falling order: it begins with those
// whose Writers are still open from the chunk before.
func (e *encoder) emitAll(partitions []int32, last int32, emit func(partition, last int32)) (first problem) {
	slices.Sort(partitions)
	if e.falling {
		slices.Reverse(partitions)
	}
	for _, p := range partitions {
		e.failed = problem{}
		emit(p, last)
		if f := e.failed; f.err != nil && (first.err == nil || f.number < first.number) {
			first = f
		}
	}
	return first
}

// again forgets the batches of the chunk.
func (e *encoder) again() {
	e.out = e.out[:0]
	e.batches, e.notes = e.batches[:0], e.notes[:0]
	e.skipped, e.already = 0, 0
	e.seq.rewind()
}

// parsedRows finds the rows of any other records. A parser's bytes live for one record
// only, so they are copied.
func (e *encoder) parsedRows(data []byte) {
	t := &e.rows
	for len(data) > 0 {
		record := data
		if end, next := e.frame.first(data); end >= 0 {
			record, data = data[:end:end], data[next:]
		} else {
			data = nil
		}
		to, ts, err := e.next(record)
		if errors.Is(err, format.ErrBlank) {
			continue
		}
		if err != nil {
			e.fail(err)
			break
		}
		t.add(to, rowRef{
			key: t.copyOf(e.row.Key), value: t.copyOf(e.row.Value), headers: t.copyHeaders(e.row.Headers),
			ts: ts, number: int32(e.number), size: int32(len(record)),
		})
	}
	t.arena = t.copied
}

// emit encodes the rows of one partition up to the number last.
func (e *encoder) emit(p, last int32) {
	t := &e.rows
	for i := t.heads[p]; i >= 0 && e.failed.err == nil && t.refs[i].number <= last; {
		ref := &t.refs[i]
		e.number, e.size = int64(ref.number), int64(ref.size)
		t.row(ref, &e.row)
		e.put(p, &e.row, ref.ts)
		i = ref.next
	}
	e.finish()
}
