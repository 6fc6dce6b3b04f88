package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

// FileID is what tells a file from all others as long as somebody has it open: device
// and inode.
type FileID struct{ Dev, Ino uint64 }

// IDOf is the identity of the file that info, from any FS, describes.
func IDOf(info fs.FileInfo) FileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{uint64(st.Dev), uint64(st.Ino)}
}

// ID is the identity of the file that name leads to now: Stat for those who ask many
// times a second, and have no use for more than that.
func ID(fsys FS, name string) (FileID, error) {
	if IsOS(fsys) {
		return statID(name)
	}
	info, err := fsys.Stat(name)
	if err != nil {
		return FileID{}, err
	}
	return IDOf(info), nil
}

func statID(name string) (FileID, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(name, &st)
		if err == nil {
			return FileID{uint64(st.Dev), uint64(st.Ino)}, nil
		}
		if err != syscall.EINTR {
			return FileID{}, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
}

// Size is the size of f as the kernel has it: Stat for those who ask many times a second.
func Size(f File) (int64, error) {
	if v, ok := f.(*osFile); ok {
		// Nothing here reads or writes from where a file stands.
		return v.Seek(0, io.SeekEnd)
	}
	return statSize(f)
}
