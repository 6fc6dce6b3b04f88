//go:build !linux

package feed

// allocate returns size bytes of zeroed memory.
func allocate(size int) memory { return plain(size) }
