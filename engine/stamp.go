package engine

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// stamp tells one state of a file that is only replaced by rename from another. The zero
// stamp is that of a file that is not there.
type stamp struct {
	inode uint64
	size  int64
	mtime time.Time
}

func stampOf(fsys vfs.FS, path string) (stamp, error) {
	fi, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	return stampOfInfo(fi), nil
}

func stampOfInfo(fi fs.FileInfo) stamp {
	s := stamp{size: fi.Size(), mtime: fi.ModTime()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.inode = uint64(st.Ino)
	}
	return s
}

func (s stamp) equal(o stamp) bool {
	return s.inode == o.inode && s.size == o.size && s.mtime.Equal(o.mtime)
}
