//go:build !linux

package vfs

// FreshSize is the size of f, as fresh as the system has it.
func FreshSize(f File) (int64, error) { return statSize(f) }
