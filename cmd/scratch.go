package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/klog-project/klog/cmd/gauge"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// scratchPattern makes the names of directories for measurements. They do not end in a
// number, which would make them partitions.
const scratchPattern = ".klog-bench-*.tmp"

// inScratch runs a measurement on a topic in a root of its own, which is removed after
// it. A directory that an earlier run left behind, killed, is removed first: its lock
// is free.
func (e *Env) inScratch(ctx context.Context, o benchOptions, measure func(*engine.Topic) error) (err error) {
	parent, err := e.scratchParent(o.dir)
	if err != nil {
		return err
	}
	removeLeftScratch(parent)
	dir, err := os.MkdirTemp(parent, scratchPattern)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lock, err := vfs.TryLock(vfs.OS, scratchLock(dir))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	root, err := engine.Create(filepath.Join(dir, "root"), e.engineOptions())
	if err != nil {
		return err
	}
	t, err := gauge.CreateTopic(ctx, root, o.load)
	if err != nil {
		return err
	}
	return measure(t)
}

func scratchLock(dir string) string { return filepath.Join(dir, "lock") }

// scratchParent is where the root lies or would lie: it need not exist.
func (e *Env) scratchParent(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	dir, err := e.Root()
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", &os.PathError{Op: "open", Path: dir, Err: os.ErrNotExist}
		}
		dir = above
	}
}

// removeLeftScratch removes what killed runs left in parent. Whatever stands in its way
// is left for the next one.
func removeLeftScratch(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if ours, _ := filepath.Match(scratchPattern, entry.Name()); !ours {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		if _, err := os.Stat(scratchLock(dir)); err != nil {
			continue // it is just being made
		}
		if lock, err := vfs.TryLock(vfs.OS, scratchLock(dir)); err == nil {
			_ = os.RemoveAll(dir)
			lock.Unlock()
		}
	}
}
