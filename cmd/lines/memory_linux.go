package lines

import "golang.org/x/sys/unix"

// large is the size from which memory is asked of the system and not of the runtime:
// it grows there without a second copy beside it, and goes back at once.
const large = 32 << 20

// enlarge returns memory of the given size that begins with what mem holds, and takes
// mem in return. On an error mem stays as it is.
func enlarge(mem []byte, size int) ([]byte, error) {
	if len(mem) >= large {
		return unix.Mremap(mem, size, unix.MREMAP_MAYMOVE)
	}
	if size < large {
		bigger := make([]byte, size)
		copy(bigger, mem)
		return bigger, nil
	}
	bigger, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	copy(bigger, mem)
	return bigger, err
}

// release takes memory back. Whoever asks for it holds no part of it any more.
func release(mem []byte) {
	if len(mem) >= large {
		_ = unix.Munmap(mem) // fails only for what is no mapping
	}
}
