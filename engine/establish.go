package engine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments/vfs"
)

// rootMode is the mode of a root that klog makes: for its owner and group.
const rootMode = 0o770

// establish makes what a root needs to be written to and is not there yet: the directory,
// meta.properties, and .klog with the version file last, which says that all of it is
// there. The same cures a root whose .klog was lost. Several processes may be at it.
func (r *Root) establish() error {
	if err := r.makeDir(); err != nil {
		return err
	}
	state := r.statePath()
	if err := vfs.MkdirAll(r.fs, state); err != nil {
		return err
	}
	unlock, err := r.lockRoot(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	if found, err := r.checkVersion(); found || err != nil {
		return err
	}
	for _, name := range [...]string{topicsDirName, intentsDirName, trashDirName} {
		if err := vfs.MkdirAll(r.fs, r.statePath(name)); err != nil {
			return err
		}
	}
	if err := r.makeMeta(); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	return r.writeVersion(FormatVersion)
}

// makeDir makes the root's directory, and those above it as any program would.
func (r *Root) makeDir() error {
	fi, err := r.fs.Stat(r.dir)
	if err == nil {
		if !fi.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: r.dir, Err: errors.New("not a directory")}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.makeAbove(filepath.Dir(r.dir)); err != nil {
		return err
	}
	if err := r.fs.Mkdir(r.dir, rootMode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	// Whatever the umask; a setgid bit from the directory above stays.
	if fi, err = r.fs.Stat(r.dir); err != nil {
		return err
	}
	if err := r.fs.Chmod(r.dir, fi.Mode()&fs.ModeSetgid|rootMode); err != nil {
		return err
	}
	return r.fs.SyncDir(filepath.Dir(r.dir))
}

func (r *Root) makeAbove(dir string) error {
	if _, err := r.fs.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if up := filepath.Dir(dir); up != dir {
		if err := r.makeAbove(up); err != nil {
			return err
		}
	}
	if err := r.fs.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return r.fs.SyncDir(filepath.Dir(dir))
}

// makeMeta writes meta.properties where there is none: this directory's ids, as Kafka
// keeps them.
func (r *Root) makeMeta() error {
	path := r.path(metaFileName)
	if _, err := r.fs.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := "version=1\nnode.id=1\ncluster.id=" + newID().String() + "\ndirectory.id=" + newID().String() + "\n"
	return vfs.WriteFile(r.fs, path, []byte(text))
}
