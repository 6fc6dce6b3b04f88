package engine

import (
	"context"

	"github.com/klog-project/klog/segments/vfs"
)

// FS is the file system that a root is on.
func FS(r *Root) vfs.FS { return r.fs }

// SetShared makes writers of the root take the careful path, as on a file system that
// other hosts may have mounted too.
func SetShared(r *Root) { r.shared = true }

// SetBoot makes the writer believe that it runs in another boot of the machine.
func SetBoot(w *Writer, boot byte) {
	w.machine.boot = bootID{boot}
	w.booted = int64(boot) * 1000
	w.machine.btime = func() int64 { return w.booted }
}

// RaiseVersion is Upgrade to a version that this program may not know.
func RaiseVersion(ctx context.Context, r *Root, n int) error { return r.raiseVersion(ctx, n) }

// CreateOn is Create as if the root were on a shared file system of that name.
func CreateOn(dir, fsName string) (*Root, error) {
	return create(newRootOn(dir, Options{}, func(string) (vfs.Type, error) {
		return vfs.Type{Name: fsName, Shared: true}, nil
	}))
}
