//go:build !linux

package vfs

import "os"

// syncData is fsync; where plain fsync leaves data in the drive's cache, package os
// knows a better call.
func syncData(f *os.File) error { return f.Sync() }

// Advise does nothing here.
func Advise(f File, offset, length int64, a Advice) {}
