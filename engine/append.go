package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/klog-project/klog/segments"
)

// placed is a batch in the caller's buffer, at byte at of it.
type placed struct {
	segments.BatchHeader
	at  int64
	raw []byte
}

// Appended says which offsets an append was given: First up to, not including, Next.
// When an append fails half way, they are the offsets of what stays in the log.
type Appended struct {
	First, Next int64
	// Duplicate is set when every batch was already in the log (a producer's retry):
	// First and Next are then the offsets it has there.
	Duplicate bool
	// Batches counts the batches of the call that are in the log.
	Batches int
}

// RecordTooLargeError is returned for a batch over the topic's max.message.bytes.
type RecordTooLargeError struct {
	Topic     string
	Partition int32
	Size      int64 // of the batch as it would be stored
	Limit     int64 // max.message.bytes
}

// Error names the size and the limit.
func (e *RecordTooLargeError) Error() string {
	return fmt.Sprintf("%s-%d: a batch of %d bytes is over max.message.bytes=%d", e.Topic, e.Partition, e.Size, e.Limit)
}

// parse splits batches and checks each as a broker would check what a producer sends.
func (w *Writer) parse(batches []byte, cfg *Config) error {
	w.heads, w.input, w.sequenced = w.heads[:0], batches, false
	for pos := int64(0); len(batches) > 0; {
		b, err := segments.ParseBatch(batches, pos)
		if err != nil {
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: %w", pos, err))
		}
		size := b.Size()
		switch {
		case b.Magic != 2:
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: magic %d: only magic 2 is written", pos, b.Magic))
		case b.Count <= 0 || b.LastOffsetDelta != b.Count-1:
			return w.p.wrap("append", fmt.Errorf("batch at byte %d of the input: %d records, last offset delta %d", pos, b.Count, b.LastOffsetDelta))
		case size > cfg.MaxMessageBytes:
			return &RecordTooLargeError{Topic: w.p.topic, Partition: w.p.number, Size: size, Limit: cfg.MaxMessageBytes}
		}
		w.sequenced = w.sequenced || b.ProducerID >= 0
		w.heads = append(w.heads, placed{b.BatchHeader, pos, batches[:size:size]})
		batches = batches[size:]
		pos += size
	}
	return nil
}

func (w *Writer) appendLocked(ctx context.Context, cfg *Config) (Appended, error) {
	done := Appended{First: w.tail.next, Next: w.tail.next}
	todo := w.heads
	if w.sequenced {
		dup, rest, err := w.dropDuplicates(todo)
		if err != nil {
			return done, err
		}
		if len(rest) == 0 {
			return dup, nil
		}
		done.Batches = len(todo) - len(rest)
		todo = rest
	}
	for len(todo) > 0 {
		if w.rollDue(cfg, &todo[0]) {
			if err := w.roll(ctx, cfg); err != nil {
				return done, w.p.wrap("roll", err)
			}
		}
		n := w.place(cfg, todo)
		if err := w.write(todo[:n]); err != nil {
			return done, w.p.wrap("append", err)
		}
		done.Next = w.tail.next
		done.Batches += n
		todo = todo[n:]
	}
	return done, nil
}

// place gives the batches that fit into the active segment their offsets and index
// entries, and returns how many these are: at least one.
func (w *Writer) place(cfg *Config, todo []placed) int {
	w.offsetIdx, w.timeIdx = w.offsetIdx[:0], w.timeIdx[:0]
	t := w.tail
	now := w.p.o.now().UnixMilli()
	n := 0
	for i := range todo {
		b := &todo[i]
		if n > 0 && rollDue(cfg, &t, b, now) {
			break
		}
		b.BaseOffset, b.LeaderEpoch = t.next, t.epoch
		segments.SetBaseOffset(b.raw, t.next)
		segments.SetLeaderEpoch(b.raw, t.epoch)
		if cfg.LogAppendTime() {
			segments.SetLogAppendTime(b.raw, now)
			b.MaxTimestamp = now
			b.Attributes |= logAppendTimeBit
		}
		if t.size == 0 {
			t.firstTS = b.MaxTimestamp
		}
		w.offsetIdx, w.timeIdx = t.index.Add(b.BatchHeader, t.base, t.size, int(cfg.IndexIntervalBytes), w.offsetIdx, w.timeIdx)
		t.lastPos = t.size
		t.size += b.Size()
		t.next = b.LastOffset() + 1
		n++
	}
	copy(t.lastHdr[:], todo[n-1].raw)
	w.active.next = t
	return n
}

// logAppendTimeBit is the attribute bit that SetLogAppendTime sets.
const logAppendTimeBit = 0x08

// write puts the placed batches at the end of the log, their index entries behind the
// indexes, and the new end into the hint. What it cannot write whole it takes back.
func (w *Writer) write(bs []placed) error {
	from := w.tail.size
	last := &bs[len(bs)-1]
	if _, err := w.active.log.WriteAt(w.input[bs[0].at:last.at+last.Size()], from); err != nil {
		return w.takeBack(from, err)
	}
	if err := w.active.writeIndexes(w.p, w.tail.index, w.offsetIdx, w.timeIdx); err != nil {
		return w.takeBack(from, err)
	}
	if w.shared {
		if err := w.settleShared(); err != nil {
			return w.takeBack(from, err)
		}
	}
	w.tail = w.active.next
	w.dur.end = w.tail.next
	w.writeHint()
	if w.sequenced {
		w.producers.append(w, bs)
	}
	return nil
}

// takeBack cuts what a failed append left, before the lock is given up, so that the
// next append does not land behind it. The hint still describes the log as it was.
func (w *Writer) takeBack(size int64, cause error) error {
	w.known = false
	if err := w.active.log.Truncate(size); err != nil {
		return errors.Join(cause, fmt.Errorf("cut the failed append: %w", err))
	}
	if err := w.active.cutIndexes(w.tail.index); err != nil {
		return errors.Join(cause, fmt.Errorf("cut the failed append: %w", err))
	}
	return cause
}
