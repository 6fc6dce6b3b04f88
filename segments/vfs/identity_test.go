package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/segments/vfs"
)

// TestIDAndSizeAreThoseOfStat asks the short ways and the long one, on the disk and in
// memory.
func TestIDAndSizeAreThoseOfStat(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "lenient": vfs.Lenient(vfs.OS, func(error) {}), "mem": vfs.NewMem()} {
		dir := "/"
		if name != "mem" {
			dir = t.TempDir()
		}
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		f, err := fsys.OpenFile(a, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(name, err)
		}
		defer f.Close()
		if _, err := vfs.ID(fsys, b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a file that is not there: %v", name, err)
		}
		if _, err := f.WriteAt([]byte("0123456789"), 5); err != nil {
			t.Fatal(name, err)
		}
		if n, err := vfs.Size(f); n != 15 || err != nil {
			t.Errorf("%s: size %d, %v, want 15", name, n, err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(name, err)
		}
		if err := fsys.Rename(a, b); err != nil {
			t.Fatal(name, err)
		}
		if id, err := vfs.ID(fsys, b); id != vfs.IDOf(info) || id == (vfs.FileID{}) || err != nil {
			t.Errorf("%s: %v, %v, want that of the open file, %v", name, id, err, vfs.IDOf(info))
		}
		g, err := fsys.OpenFile(a, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(name, err)
		}
		defer g.Close()
		if id, err := vfs.ID(fsys, a); id == vfs.IDOf(info) || err != nil {
			t.Errorf("%s: another file has the identity %v, %v", name, id, err)
		}
	}
}
