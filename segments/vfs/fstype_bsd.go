//go:build darwin || freebsd || dragonfly

package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func statfs(path string) (unix.Statfs_t, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return st, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return st, nil
}

func space(path string) (free, total uint64, err error) {
	st, err := statfs(path)
	if err != nil {
		return 0, 0, err
	}
	return uint64(max(int64(st.Bavail), 0)) * uint64(st.Bsize), uint64(st.Blocks) * uint64(st.Bsize), nil
}

func fsType(path string) (Type, error) {
	st, err := statfs(path)
	if err != nil {
		return Type{}, err
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	switch name {
	case "apfs", "hfs", "ufs", "zfs", "tmpfs", "msdos", "msdosfs", "exfat", "ext2fs", "nullfs", "hammer", "hammer2":
		return Type{Name: name}, nil
	case "":
		name = "unknown"
	}
	return Type{Name: name, Shared: true}, nil
}
