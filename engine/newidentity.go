package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// NewIdentity gives the root a directory id and a cluster id of its own: it was copied
// from another root, and would be taken for it. Topics keep their ids: what is kept by
// topic id, in this root, goes on. Unknown lines of meta.properties stay.
func (r *Root) NewIdentity(ctx context.Context) (Meta, error) {
	unlock, err := r.change(ctx)
	if err != nil {
		return Meta{}, err
	}
	defer unlock()
	path := r.path(metaFileName)
	b, err := vfs.ReadFile(r.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.makeMeta()
		if err == nil {
			b, err = vfs.ReadFile(r.fs, path)
		}
	}
	if err != nil {
		return Meta{}, fmt.Errorf("new identity: %w", err)
	}
	props := segments.ParseProperties(b)
	props.Set("cluster.id", newID().String())
	props.Set("directory.id", newID().String())
	if err := vfs.WriteFile(r.fs, path, props.Encode()); err != nil {
		return Meta{}, fmt.Errorf("new identity: %w", err)
	}
	return r.Meta()
}
