//go:build !linux && !darwin && !freebsd && !dragonfly

package vfs

import (
	"errors"
	"io/fs"
	"os"
)

func space(path string) (free, total uint64, err error) {
	return 0, 0, &fs.PathError{Op: "statfs", Path: path, Err: errors.ErrUnsupported}
}

func fsType(path string) (Type, error) {
	if _, err := os.Stat(path); err != nil {
		return Type{}, err
	}
	return Type{Name: "unknown", Shared: true}, nil
}
