//go:build !linux

package vfs

import (
	"io/fs"
	"syscall"
)

// SyncFS makes everything durable that lies on the file system of f: one call in place
// of very many. Where there is no such call the error wraps the errno.
func SyncFS(f File) error {
	return &fs.PathError{Op: "syncfs", Path: f.Name(), Err: syscall.ENOTSUP}
}
