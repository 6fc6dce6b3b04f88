package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/klog-project/klog/segments/vfs"
)

// The block is a partition's page of shared state, .klog/hint, which every writer maps:
//
//	byte  size
//	   0     4  "KHNT"
//	   4     4  version
//	   8    16  boot id for which the three words behind it are meant
//	  24     8  recovery point: every offset below it is on disk, in every segment
//	  32     8  first offset of a sync that failed; its complement, which is negative,
//	            once the log was read again from the disk
//	  40     8  end of it: what lies between is never acknowledged as durable
//	  48     4  counter of finished syncs, a futex
//	  52     4  who syncs for all: a pid, 0: nobody
//	 512   229  hint, slot 0
//	1024   229  hint, slot 1
//
// Integers below byte 64 have the machine's byte order: they are used as atomics.
//
// The hint is stored into the slot that does not hold the newest one, under the append
// lock, so that a writer killed while it stores leaves the one before: the next writer
// scans what was appended since. The page is written whole when it is made: no later
// store needs a disk block. Losing the file loses nothing but time.
//
// A file that is cut under a mapping kills the process that touches it; writers run
// with faults turned into errors (see guard).
const (
	blockSize    = 4096
	blockMagic   = "KHNT"
	blockVersion = 1
	slotAt       = 512
	slotStep     = 512
)

// errBlock is returned for a file that is no block of this version.
var errBlock = errors.New("not a hint that this klog knows")

type block struct {
	f      vfs.File
	mem    []byte
	mapped bool
	slot   int // the newest hint's, -1: none

	durable    *atomic.Int64
	failedFrom *atomic.Int64
	failedEnd  *atomic.Int64
	syncs      *atomic.Uint32
	leader     *atomic.Uint32
}

// openBlock opens the block of the partition, and makes it where it is missing or is
// none. It is called under the append lock. seed is the recovery point of a new one.
func openBlock(p *Partition, boot bootID, seed func() int64) (*block, error) {
	path := filepath.Join(p.dir, stateDir, "hint")
	b, err := mapBlock(p.fs, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBlock) {
		if err = writeBlock(p.fs, path, boot, seed()); err == nil {
			b, err = mapBlock(p.fs, path)
		}
	}
	if err != nil {
		return nil, err
	}
	if bootID(b.mem[8:24]) != boot {
		// What failed to sync in another boot was looked at when the first writer of
		// this one recovered the log.
		copy(b.mem[8:24], boot[:])
		b.failedFrom.Store(0)
		b.failedEnd.Store(0)
		b.storeWords()
	}
	return b, nil
}

func writeBlock(fsys vfs.FS, path string, boot bootID, durable int64) error {
	f, err := vfs.OpenOrCreate(fsys, path)
	if err != nil {
		return err
	}
	defer f.Close()
	mem := make([]byte, blockSize)
	copy(mem, blockMagic)
	binary.NativeEndian.PutUint32(mem[4:], blockVersion)
	copy(mem[8:], boot[:])
	binary.NativeEndian.PutUint64(mem[24:], uint64(durable))
	_, err = f.WriteAt(mem, 0)
	return err
}

func mapBlock(fsys vfs.FS, path string) (*block, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b := &block{f: f, slot: -1}
	if b.mem, b.mapped, err = mapPage(f); err == nil && !b.valid() {
		err = errBlock
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// A page begins on a page, so each word is aligned as atomics need it; memory of
	// its own is aligned to 8 bytes at least.
	b.durable = (*atomic.Int64)(unsafe.Pointer(&b.mem[24]))
	b.failedFrom = (*atomic.Int64)(unsafe.Pointer(&b.mem[32]))
	b.failedEnd = (*atomic.Int64)(unsafe.Pointer(&b.mem[40]))
	b.syncs = (*atomic.Uint32)(unsafe.Pointer(&b.mem[48]))
	b.leader = (*atomic.Uint32)(unsafe.Pointer(&b.mem[52]))
	return b, nil
}

func (b *block) valid() bool {
	return string(b.mem[:4]) == blockMagic && binary.NativeEndian.Uint32(b.mem[4:]) == blockVersion
}

// readPage is mapPage where there is no mapping: the page is read and written whole.
func readPage(f vfs.File) ([]byte, error) {
	mem := make([]byte, blockSize)
	if n, err := f.ReadAt(mem, 0); n < blockSize {
		return nil, fmt.Errorf("%w: %d of %d bytes: %v", errBlock, n, blockSize, err)
	}
	return mem, nil
}

func (b *block) close() {
	if b.mapped {
		unmapPage(b.mem)
	}
	_ = b.f.Close()
	b.mem, b.mapped = nil, false
}

// refresh reads the page again where it is not mapped.
func (b *block) refresh() error {
	if b.mapped {
		return nil
	}
	mem, err := readPage(b.f)
	if err != nil {
		return err
	}
	copy(b.mem, mem)
	return nil
}

func (b *block) at(slot int) []byte {
	return b.mem[slotAt+slot*slotStep:][:hintSize]
}

// load reads the newest hint that is whole.
func (b *block) load() (t tail, ok bool) {
	var other tail
	first, second := t.decode(b.at(0)) == nil, other.decode(b.at(1)) == nil
	switch {
	case first && (!second || t.appends >= other.appends):
		b.slot = 0
		return t, true
	case second:
		b.slot = 1
		return other, true
	}
	b.slot = -1
	return tail{}, false
}

// holds reports whether the newest hint is still raw, which this process stored or read.
func (b *block) holds(raw *[hintSize]byte) bool {
	if b.slot < 0 || !bytes.Equal(b.at(b.slot), raw[:]) {
		return false
	}
	return binary.BigEndian.Uint64(b.at(1 - b.slot)[appendsAt:]) <= binary.BigEndian.Uint64(raw[appendsAt:])
}

// store writes the encoded hint into the slot that does not hold the newest one.
func (b *block) store(raw *[hintSize]byte) error {
	slot := 0
	if b.slot == 0 {
		slot = 1
	}
	copy(b.at(slot), raw[:])
	b.slot = slot
	if b.mapped {
		return nil
	}
	_, err := b.f.WriteAt(raw[:], int64(slotAt+slot*slotStep))
	return err
}

// storeWords writes the words where the page is not mapped. Losing them loses only how
// far the log is known to be on disk.
func (b *block) storeWords() {
	if !b.mapped {
		_, _ = b.f.WriteAt(b.mem[:64], 0)
	}
}

// failed is the range of offsets that a sync failed to bring to disk, end 0 where none
// has. settled is set if the log was read again from the disk since.
func (b *block) failed() (from, end int64, settled bool) {
	from, end = b.failedFrom.Load(), b.failedEnd.Load()
	if from < 0 {
		return ^from, end, true
	}
	return from, end, end == 0
}

// settle moves the recovery point to the end of a log that was read from the disk and
// synced. Whoever waited for a sync that failed is told so all the same.
func (b *block) settle(end int64) {
	if from, _, settled := b.failed(); !settled {
		b.failedFrom.Store(^from)
	}
	b.durable.Store(end)
	b.storeWords()
}

// finish tells all who wait that a sync has ended.
func (b *block) finish() {
	b.leader.Store(0)
	b.syncs.Add(1)
	b.storeWords()
	b.wake()
}

// raiseDurable moves the recovery point forward, never back.
func (b *block) raiseDurable(end int64) {
	for {
		at := b.durable.Load()
		if at >= end || b.durable.CompareAndSwap(at, end) {
			return
		}
	}
}

// peek reads the hint without the append lock. One that is being stored may come torn:
// then the one before is taken, which is as true and not as far.
func (b *block) peek() (tail, bool) {
	other := block{mem: b.mem}
	t, ok := other.load()
	return t, ok && t.flags&hintRolling == 0
}
