package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/klog-project/klog/segments/vfs"
)

// errSyncWord is returned for a file that is no block of this version.
var errSyncWord = errors.New("not a durability block")

// mapSyncWord maps the block of f, or reads a copy of it where it cannot be mapped:
// then every process syncs for itself and stores what it reached.
func mapSyncWord(f vfs.LockFile, boot bootID) (*syncWord, error) {
	mem, mapped, err := mapBlock(f)
	if err != nil {
		return nil, err
	}
	if string(mem[:4]) != "KDUR" || binary.NativeEndian.Uint32(mem[4:]) != durableVersion {
		return nil, errSyncWord
	}
	w := &syncWord{mem: mem}
	if !mapped {
		w.file = f
	}
	// The block begins on a page, so each field is aligned as atomics need it.
	w.durable = (*atomic.Int64)(unsafe.Pointer(&mem[24]))
	w.failedFrom = (*atomic.Int64)(unsafe.Pointer(&mem[32]))
	w.failedEnd = (*atomic.Int64)(unsafe.Pointer(&mem[40]))
	w.seq = (*atomic.Uint32)(unsafe.Pointer(&mem[48]))
	if bootID(mem[8:24]) != boot {
		// What failed under another boot was looked at when this one's first writer
		// recovered the log.
		copy(mem[8:24], boot[:])
		w.failedFrom.Store(0)
		w.failedEnd.Store(0)
		w.store()
	}
	return w, nil
}

// readBlock is mapBlock where there is no mapping.
func readBlock(f vfs.LockFile) ([]byte, error) {
	mem := make([]byte, durableSize)
	if n, err := f.ReadAt(mem, 0); n < durableSize {
		return nil, fmt.Errorf("%w: %d of %d bytes: %v", errSyncWord, n, durableSize, err)
	}
	return mem, nil
}

// store writes the block where it is not mapped. Losing it loses only how far the log
// is known to be on disk.
func (w *syncWord) store() {
	if w.file != nil {
		_, _ = w.file.WriteAt(w.mem[:durableSize], 0)
	}
}

// finish tells all who wait that a sync has ended.
func (w *syncWord) finish() {
	w.seq.Add(1)
	w.store()
	w.wake()
}
