package engine

import (
	"math"

	"github.com/klog-project/klog/segments"
)

// NextChunk is Next for the fastest way through a log: it fills c with the next visible
// batches, as many as one read brings, whose checksums the caller checks and whose
// records it decodes, perhaps in another goroutine while this one reads on. Records
// below From and from Until on are among them: Bounds tells. Errors are those of Next.
//
// Where a checksum is wrong or a batch is malformed, Back and Next say what is the
// matter.
func (r *Reader) NextChunk(c *segments.Chunk) error {
	if r.opened { // Next has left a batch half way
		r.Back(r.next)
	}
	for {
		if err := r.ready(); err != nil {
			return err
		}
		was := r.r.Offset()
		if err := r.r.NextChunk(c); err != nil {
			if err := r.pass(err); err != nil {
				return err
			}
			continue
		}
		kept := c.Batches[:0]
		for _, b := range c.Batches {
			if r.beyond(b) {
				r.r.SeekTo(max(was, lastOffset(kept)+1))
				r.done = r.stable == nil
				break
			}
			hidden, err := r.hides(b)
			if err != nil {
				return r.stop(err)
			}
			if !hidden || !b.CheckCRC() {
				kept = append(kept, b)
			}
		}
		c.Batches = kept
		r.next = max(r.next, r.r.Offset())
		if len(kept) > 0 {
			return nil
		}
	}
}

func lastOffset(bs []segments.Batch) int64 {
	if len(bs) == 0 {
		return -1
	}
	return bs[len(bs)-1].LastOffset()
}

// Bounds are the offsets that a reader's records lie in: from is included, until is
// not, MaxInt64 where there is none.
func (r *Reader) Bounds() (from, until int64) {
	if r.o.Until < 0 {
		return r.o.From, math.MaxInt64
	}
	return r.o.From, r.o.Until
}

// Back goes on at an offset that was passed already.
func (r *Reader) Back(offset int64) {
	r.r.SeekTo(offset)
	r.next, r.done, r.opened = offset, false, false
	if r.filter != nil {
		r.filter.Close()
		r.filter = r.v.log.AbortFilter()
	}
}
