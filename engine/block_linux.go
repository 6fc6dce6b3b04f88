package engine

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/klog-project/klog/segments/vfs"
)

// Futex operations, futex(2). They are not the private ones: the word lies in a file
// that other processes map.
const (
	futexWait = 0
	futexWake = 1
)

// mapPage maps the file's first page, or reads it where it cannot be mapped.
func mapPage(f vfs.File) (mem []byte, mapped bool, err error) {
	fd := f.Fd()
	if fd == ^uintptr(0) {
		mem, err := readPage(f)
		return mem, false, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if st.Size() < blockSize {
		return nil, false, fmt.Errorf("%w: %d of %d bytes", errBlock, st.Size(), blockSize)
	}
	mem, err = unix.Mmap(int(fd), 0, blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		mem, err := readPage(f)
		return mem, false, err
	}
	return mem, true, nil
}

func unmapPage(mem []byte) { _ = unix.Munmap(mem) }

// wait sleeps until the counter is no longer seen, or for at most d.
func (b *block) wait(seen uint32, d time.Duration) {
	if !b.mapped {
		time.Sleep(time.Millisecond)
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(b.syncs)), futexWait, uintptr(seen), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

func (b *block) wake() {
	if b.mapped {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(b.syncs)), futexWake, math.MaxInt32, 0, 0, 0)
	}
}
