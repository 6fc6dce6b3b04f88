package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/klog-project/klog/segments/vfs"
)

// checkShared refuses to write to a shared file system unless that was enabled, which
// ROOT/.klog/shared says.
func (r *Root) checkShared() error {
	t, err := r.onType()
	if err != nil || !t.Shared {
		return err
	}
	r.shared = true
	allowed, err := SharedAllowed(r.fs, r.dir, t.Name)
	if err == nil && !allowed {
		err = &SharedFSError{Dir: r.dir, FS: t.Name}
	}
	return err
}

// onType is the type of the file system that the root lies on, or would lie on.
func (r *Root) onType() (vfs.Type, error) {
	for dir := r.dir; ; dir = filepath.Dir(dir) {
		t, err := r.fsType(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			continue
		}
		return t, err
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
