package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// recover makes the log whole after the machine may have lost what was not on disk: a
// reboot, a failed sync, a hint that is gone. It runs under the append lock, in the
// first writer that comes.
//
// Whatever lies below the recovery point was synced and is not touched. Beyond it each
// batch is checked. Writeback has no order, so a hole may be found with good batches
// behind it: the hole goes to quarantine, the batches stay; what follows the last good
// batch is a torn tail and is cut. The indexes of all that was checked are derived
// anew, for they are not synced either, and what is known of producers is forgotten as
// far as it may speak of records that are gone. Then the leader epoch is raised, because
// records that readers have seen may be gone and their offsets will be given out
// again, everything is synced, and the recovery point moves to the end. Killed at any
// point, it is done again by the next writer: until the hint is written, which is
// last, nothing says that it was done.
func (w *Writer) recover(ctx context.Context, bases []int64, t *tail) error {
	point := max(w.block.durable.Load(), w.p.recoveryCheckpoint())
	// The segment that ends at the recovery point has its log on disk and perhaps not
	// its indexes.
	first, found := slices.BinarySearch(bases, point-1)
	if !found && first > 0 {
		first--
	}
	first = min(first, len(bases)-1)
	next := bases[first]
	for _, base := range bases[first:] {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		last := base == bases[len(bases)-1]
		seg := w.emptyTail(base)
		seg.next = max(next, base)
		if err := w.checkSegment(&seg, point, last); err != nil {
			return err
		}
		next = seg.next
		*t = seg
	}
	if next < point {
		return w.shortLog(t, point)
	}
	if err := w.producers.forget(max(point, bases[0])); err != nil {
		return err
	}
	if next == 0 {
		// Nothing was ever appended: there is nothing that could have been lost.
		t.epoch = max(0, w.epochOr(0))
		return nil
	}
	epoch, err := w.raiseEpoch(next)
	if err != nil {
		return err
	}
	t.epoch = epoch
	return w.settle(bases[first:], next)
}

// checkSegment reads a segment, takes what is bad beyond the recovery point out of it
// and derives its indexes anew.
func (w *Writer) checkSegment(seg *tail, point int64, last bool) error {
	if err := w.active.open(w.p, seg.base); err != nil {
		return err
	}
	vfs.Advise(w.active.log, 0, 0, vfs.DontNeed)
	cfg, err := w.p.config()
	if err != nil {
		return err
	}
	size, err := w.active.size()
	if err != nil {
		return err
	}
	var offset, times []byte
	name := w.active.log.Name()
	sc := segments.NewScanner(w.active.log, name, seg.base, 0, size, seg.base)
	for {
		b, err := sc.Next()
		if err == nil {
			offset, times = seg.take(&b, int(cfg.IndexIntervalBytes), offset, times)
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, segments.ErrCorrupt) {
			return err
		}
		end, err := segments.ExamineTail(w.active.log, seg.base, seg.size, size, seg.next, !last)
		if err != nil {
			return err
		}
		if end.Torn && seg.next < point {
			// It was synced once: nothing of it is a torn tail.
			if w.cutOff(seg.size, size) {
				return w.shortLog(seg, point)
			}
			end.Offsets = max(end.Offsets, point-seg.next)
		} else if end.Torn {
			if err := w.cutTorn(seg, size); err != nil {
				return err
			}
			break
		}
		to := end.End
		if seg.next < point {
			seg.damaged += to - seg.size
			seg.next, seg.size, seg.lastPos = seg.next+end.Offsets, to, -1
		} else {
			if err := w.quarantine(seg, to, max(seg.next+end.Offsets, end.NextBase)); err != nil {
				return err
			}
			size -= to - seg.size
			seg.next += end.Offsets
		}
		sc = segments.NewScanner(w.active.log, name, seg.base, seg.size, size, seg.next)
	}
	if !last {
		times = seg.index.Seal(seg.base, times)
	}
	if err := vfs.WriteFile(w.p.fs, segmentPath(w.p.dir, seg.base, ".index"), offset); err != nil {
		return err
	}
	return vfs.WriteFile(w.p.fs, segmentPath(w.p.dir, seg.base, ".timeindex"), times)
}

// cutOff reports whether a batch begins at pos that, by what it says, goes on behind the
// end of the active segment.
func (w *Writer) cutOff(pos, size int64) bool {
	var b [segments.HeaderSize]byte
	if _, err := w.active.log.ReadAt(b[:], pos); err != nil {
		return true
	}
	h, ok := segments.PeekHeader(b[:])
	return ok && h.Size() > size-pos
}

// settle syncs what recovery read, so that the next reboot starts from here.
func (w *Writer) settle(bases []int64, end int64) error {
	for _, base := range bases {
		if err := syncPath(w.p.fs, segmentPath(w.p.dir, base, ".log")); err != nil {
			return err
		}
	}
	if err := w.p.fs.SyncDir(w.p.dir); err != nil {
		return err
	}
	w.block.settle(end)
	return nil
}

// raiseEpoch begins a new leader epoch at offset start.
func (w *Writer) raiseEpoch(start int64) (int32, error) {
	es, err := w.p.epochs()
	if err != nil {
		return 0, err
	}
	epoch := w.epochOr(-1)
	if epoch == math.MaxInt32 {
		return 0, fmt.Errorf("leader epoch %d cannot be raised", epoch)
	}
	epoch++
	// A new epoch that starts where an older one starts takes its place: nothing was
	// written under that one.
	for len(es) > 0 && es[len(es)-1].Start >= start {
		es = es[:len(es)-1]
	}
	es = append(es, segments.EpochEntry{Epoch: epoch, Start: start})
	return epoch, w.p.setEpochs(es)
}

// epochOr is the partition's leader epoch, none where its history says nothing.
func (w *Writer) epochOr(none int32) int32 {
	es, err := w.p.epochs()
	if err != nil || len(es) == 0 {
		return none
	}
	return es[len(es)-1].Epoch
}

// machine is what tells one boot from the next.
type machine struct {
	boot  bootID
	btime func() int64 // when it was booted, s since the epoch; 0: not known
}

func thisMachine() machine {
	m := machine{btime: bootTime}
	if s, err := vfs.BootID(); err == nil {
		copy(m.boot[:], parseBootID(s))
	}
	return m
}

// parseBootID packs the hex digits of a boot id, 16 bytes of them.
func parseBootID(s string) []byte {
	out := make([]byte, 0, 16)
	var hi byte
	half := false
	for i := 0; i < len(s) && len(out) < 16; i++ {
		v, ok := hexDigit(s[i])
		if !ok {
			continue
		}
		if half {
			out = append(out, hi<<4|v)
		} else {
			hi = v
		}
		half = !half
	}
	return out
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// bootTime is when the machine was booted, in seconds since the epoch, 0 where the
// system does not tell.
func bootTime() int64 {
	t, err := vfs.BootTime()
	if err != nil {
		return 0
	}
	return t.Unix()
}

// bootSlack is how far the boot time may move, with the wall clock, within one boot.
const bootSlack = 5

// lives reports whether a hint was written in this boot: the boot id is the same, or
// only the id differs (a container may show one of its own) and the boot time does not.
func (m machine) lives(boot bootID, at int64) bool {
	if boot == m.boot {
		return true
	}
	now := m.btime()
	return now != 0 && at != 0 && max(now-at, at-now) <= bootSlack
}

// copyRange copies size bytes from offset from of src to offset to of dst.
func copyRange(dst vfs.File, to int64, src vfs.File, from, size int64) error {
	buf := make([]byte, min(size, 1<<20))
	for size > 0 {
		n := min(size, int64(len(buf)))
		if got, err := src.ReadAt(buf[:n], from); int64(got) < n {
			return fmt.Errorf("read %s: %w", src.Name(), errors.Join(err, io.ErrUnexpectedEOF))
		}
		if _, err := dst.WriteAt(buf[:n], to); err != nil {
			return err
		}
		from, to, size = from+n, to+n, size-n
	}
	return nil
}

// openOld opens an existing file for reading and writing.
func openOld(fsys vfs.FS, name string) (vfs.File, error) { return fsys.OpenFile(name, os.O_RDWR, 0) }
