package engine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// copyProgress counts the bytes of a copy.
type copyProgress struct {
	tell        func(done, total int64)
	done, total int64
}

func (c *copyProgress) add(n int) {
	c.done += int64(n)
	if c.tell != nil {
		c.tell(c.done, c.total)
	}
}

// copyPartition copies a partition's segments and epochs, and gives it the id; all is on
// disk when it returns. What is not the log's is left. The log files come last, so that
// no index of a partition in use tells of more than was copied.
func (r *Root) copyPartition(ctx context.Context, from, to string, id TopicID, progress *copyProgress) error {
	files, err := r.fs.ReadDir(from)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool { return !f.Type().IsRegular() || !isLogFile(f) })
	if !slices.ContainsFunc(files, isLog) {
		return r.makePartition(to, id) // a directory that nothing was ever written to
	}
	slices.SortStableFunc(files, func(a, b fs.DirEntry) int {
		switch {
		case isLog(a) == isLog(b):
			return 0
		case isLog(b):
			return -1
		}
		return 1
	})
	if err := vfs.MkdirAll(r.fs, filepath.Join(to, stateDir)); err != nil {
		return err
	}
	if err := makeFile(r.fs, filepath.Join(to, stateDir, lockFileName), nil); err != nil {
		return err
	}
	if err := makeFile(r.fs, filepath.Join(to, segments.PartitionMetaName), segments.EncodePartitionMeta(id)); err != nil {
		return err
	}
	for _, f := range files {
		if err := r.copyFile(ctx, filepath.Join(from, f.Name()), filepath.Join(to, f.Name()), progress); err != nil {
			return err
		}
	}
	if err := r.fs.SyncDir(filepath.Join(to, stateDir)); err != nil {
		return err
	}
	return r.fs.SyncDir(to)
}

// isLog reports whether a file holds records.
func isLog(f fs.DirEntry) bool {
	_, suffix, ok := segments.ParseSegmentName(f.Name())
	return ok && suffix == segments.LogSuffix
}

// isLogFile reports whether a file belongs to the log: records or what tells of them.
func isLogFile(f fs.DirEntry) bool {
	_, _, ok := segments.ParseSegmentName(f.Name())
	return ok || f.Name() == segments.EpochsName
}

// copyFile copies as much of a file as there is.
func (r *Root) copyFile(ctx context.Context, from, to string, progress *copyProgress) (err error) {
	src, err := r.fs.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := vfs.Create(r.fs, to)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := dst.Close(); err == nil {
			err = cerr
		}
	}()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, rerr := src.ReadAt(buf, at)
		if n > 0 {
			if _, err := dst.WriteAt(buf[:n], at); err != nil {
				return err
			}
			at += int64(n)
			progress.add(n)
		}
		if errors.Is(rerr, io.EOF) {
			return dst.Sync()
		}
		if rerr != nil {
			return rerr
		}
	}
}
