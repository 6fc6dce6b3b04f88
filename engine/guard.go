package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments/vfs"
)

// checkShared refuses to write to a shared file system unless that was enabled, which
// ROOT/.klog/shared says. Only the real file system can be a shared one.
func (r *Root) checkShared() error {
	shared, name, err := r.onShared()
	if err != nil || !shared {
		return err
	}
	r.shared = true
	_, err = r.fs.Stat(r.statePath(sharedFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return &SharedFSError{Dir: r.dir, FS: name}
	}
	return err
}

// onShared reports whether the root lies, or would lie, on a file system that other
// hosts may have mounted too.
func (r *Root) onShared() (shared bool, name string, err error) {
	if r.o.FS != nil && r.o.FS != vfs.OS {
		return false, "", nil
	}
	for dir := r.dir; ; dir = filepath.Dir(dir) {
		t, err := vfs.FSType(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			continue
		}
		return t.Shared, t.Name, err
	}
}

// checkKafka refuses to write beside a Kafka process: it holds a lock on ROOT/.lock, one
// of fcntl, which flock does not see.
func (r *Root) checkKafka() error {
	path := r.path(kafkaLockName)
	f, err := r.fs.OpenFile(path, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	pid, err := fcntlHolder(f.Fd())
	if err != nil {
		return &fs.PathError{Op: "look for a lock on", Path: path, Err: err}
	}
	if pid == 0 {
		return nil
	}
	return &LockedError{Path: path, Holder: Holder{PID: pid, Command: "a Kafka broker, which must be stopped first"}}
}
