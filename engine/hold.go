package engine

import (
	"errors"
	"os"

	"github.com/klog-project/klog/segments/vfs"
)

// Hold takes the lock file at path without waiting, makes it where it is missing, and
// writes into it who holds it, as Locks tells it. The error is a *LockedError where
// somebody else has it.
func (r *Root) Hold(path string) (*vfs.Held, error) {
	held, err := vfs.TryLock(r.fs, path)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, &LockedError{Path: path, Holder: holderOf(path)}
	}
	if err != nil {
		return nil, err
	}
	r.nameHolderOf(path)
	return held, nil
}

// nameHolderOf is nameHolder for a lock file that is held through another descriptor.
func (r *Root) nameHolderOf(path string) {
	if f, err := r.fs.OpenFile(path, os.O_RDWR, 0); err == nil {
		nameHolder(f, r.o.Program)
		_ = f.Close()
	}
}
