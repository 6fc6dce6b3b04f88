package feed

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// allocate returns size bytes of zeroed memory. From a huge page's size on it is
// aligned to huge pages and asks for them.
func allocate(size int) memory {
	if size < hugePage/2 {
		return plain(size)
	}
	size = (size + hugePage - 1) &^ (hugePage - 1)
	all, err := unix.Mmap(-1, 0, size+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return plain(size)
	}
	skip := int(-uintptr(unsafe.Pointer(&all[0])) & (hugePage - 1))
	b := all[skip : skip+size : skip+size]
	unix.Madvise(b, unix.MADV_HUGEPAGE) // refused where there are none: small pages do
	return memory{b: b, free: func() { unix.Munmap(all) }}
}
