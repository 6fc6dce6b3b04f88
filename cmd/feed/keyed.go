package feed

import (
	"bytes"

	"github.com/klog-project/klog/engine"
)

// keyedTable holds the records of a chunk that are a key and a value and nothing else,
// by partition: what a rowTable does in a third of the memory.
type keyedTable struct {
	refs  []keyedRef // in the order of the input, so a record's number is its place
	heads []int32    // by partition: its first record, -1 without one
	tails []int32
	used  []int32 // partitions that have records
}

type keyedRef struct {
	at   int32 // in the chunk
	key  int32 // bytes of the key
	size int32 // of the record
	next int32 // record of the same partition, -1 at the end
}

func (t *keyedTable) reset(partitions int) {
	if len(t.heads) < partitions {
		t.heads, t.tails = make([]int32, partitions), make([]int32, partitions)
		for i := range t.heads {
			t.heads[i] = -1
		}
	}
	for _, p := range t.used {
		t.heads[p] = -1
	}
	t.used, t.refs = t.used[:0], t.refs[:0]
}

func (t *keyedTable) add(to int32, ref keyedRef) {
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

// isKeyed reports whether records are a key and a value and nothing else, and keys alone
// decide where they go.
func (e *encoder) isKeyed() bool {
	f := &e.o.Fixed
	_, ok := e.parser.(keyParser)
	return ok && f.Key == nil && len(f.Headers) == 0 && !f.HasTime && len(e.frame.delim) == 1 && e.seq == nil &&
		(e.choose == nil || e.choose.ByKey([]byte{})) && e.o.Partitioner != engine.Sticky
}

// nextKeyed finds the record that data begins with: the bytes of its key and of all of
// it, and where the next one begins. The key is -1 where there is none.
func (e *encoder) nextKeyed(data []byte) (key, size, next int) {
	size = bytes.IndexByte(data, e.frame.delim[0])
	next = size + 1
	if size < 0 {
		size, next = len(data), len(data)
	}
	if d := e.o.KeyDelimiter; len(d) == 1 {
		return bytes.IndexByte(data[:size], d[0]), size, next
	} else {
		return bytes.Index(data[:size], d), size, next
	}
}

// keyed encodes records that are a key and a value: where all go to one partition, in
// one pass.
func (e *encoder) keyed(data []byte) {
	if e.choose != nil {
		e.keyedSorted(data)
		return
	}
	to, limit := max(0, e.o.Partition), e.limit-recordOverhead
	for len(data) > 0 {
		key, size, next := e.nextKeyed(data)
		e.number++
		if key < 0 {
			e.fail(ErrNoKey)
			return
		}
		e.addKeyed(to, data[:key:key], data[key+len(e.o.KeyDelimiter):size:size], size, limit)
		if e.failed.err != nil {
			return
		}
		data = data[next:]
	}
}

// addKeyed adds the record in hand to a batch.
func (e *encoder) addKeyed(to int32, key, value []byte, size, limit int) {
	if e.open && to == e.partition && e.build.Size()+size <= limit {
		e.build.AppendKeyValue(e.now, key, value)
		return
	}
	e.size = int64(size)
	e.row.Key, e.row.Value = key, value
	e.put(to, &e.row, e.now)
}

// keyedSorted encodes records whose keys decide where they go.
func (e *encoder) keyedSorted(data []byte) {
	t := &e.table
	t.reset(e.o.Target.Partitions)
	for at := 0; at < len(data); {
		key, size, next := e.nextKeyed(data[at:])
		e.number++
		if key < 0 {
			e.fail(ErrNoKey)
			break
		}
		t.add(e.choose.Partition(data[at:at+key]), keyedRef{at: int32(at), key: int32(key), size: int32(size)})
		at += next
	}
	limit, delim := e.limit-recordOverhead, int32(len(e.o.KeyDelimiter))
	e.emitSorted(t.used, func(p, last int32) {
		for i := t.heads[p]; i >= 0 && i < last && e.failed.err == nil; {
			r := &t.refs[i]
			e.number = int64(i) + 1
			record := data[r.at : r.at+r.size : r.at+r.size]
			e.addKeyed(p, record[:r.key:r.key], record[r.key+delim:], int(r.size), limit)
			i = r.next
		}
		e.finish()
	})
}
