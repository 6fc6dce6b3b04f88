package segments_test

import (
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments/vfs"
)

var osFS = vfs.OS

// countingFS counts what a reader asks of the file system.
type countingFS struct {
	vfs.FS
	lists, opens int
	opened       []string
}

func (c *countingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.lists++
	return c.FS.ReadDir(name)
}

func (c *countingFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	c.opens++
	c.opened = append(c.opened, filepath.Base(name))
	return c.FS.OpenFile(name, flag, perm)
}
