package engine

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/klog-project/klog/segments/vfs"
)

// Futex operations, futex(2). They are not private: the word lies in a file that
// other processes map.
const (
	futexWait = 0
	futexWake = 1
)

func mapBlock(f vfs.LockFile) (mem []byte, mapped bool, err error) {
	fd := f.Fd()
	if fd == ^uintptr(0) {
		mem, err := readBlock(f)
		return mem, false, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if st.Size() < durableSize {
		// A page behind the end of the file would kill the process that touches it.
		return nil, false, fmt.Errorf("%w: %d of %d bytes", errSyncWord, st.Size(), durableSize)
	}
	mem, err = unix.Mmap(int(fd), 0, durableSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		mem, err := readBlock(f)
		return mem, false, err
	}
	return mem, true, nil
}

func (w *syncWord) unmap() {
	if w.file == nil {
		_ = unix.Munmap(w.mem)
	}
}

// wait sleeps until the counter is no longer seen, or for at most d.
func (w *syncWord) wait(seen uint32, d time.Duration) {
	if w.file != nil {
		time.Sleep(time.Millisecond)
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(w.seq)), futexWait, uintptr(seen), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

func (w *syncWord) wake() {
	if w.file == nil {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(w.seq)), futexWake, math.MaxInt32, 0, 0, 0)
	}
}
