package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/klog-project/klog/segments/vfs"
)

// FormatVersion is the newest format of klog's own files that this program understands.
// ROOT/.klog/version says which one a program must understand in order to write; it is a
// decimal number and a newline. Reading is always tried.
const FormatVersion = 1

// checkVersion reads the version file. found is false where there is none: a root whose
// .klog was lost, or Kafka's.
func (r *Root) checkVersion() (found bool, err error) {
	path := r.statePath(versionFileName)
	b, err := vfs.ReadFile(r.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil || n < 1 {
		return true, fmt.Errorf("%s: want a number, found %q", path, b)
	}
	if n > FormatVersion {
		return true, &TooNewError{Path: path, Need: n}
	}
	return true, nil
}

// writeVersion says that writers must understand at least version n.
func (r *Root) writeVersion(n int) error {
	return vfs.WriteFile(r.fs, r.statePath(versionFileName), append(strconv.AppendInt(nil, int64(n), 10), '\n'))
}

// Upgrade makes this program's version the one that writers must understand. Writers that
// run and are older notice it with their next append.
func (r *Root) Upgrade(ctx context.Context) error { return r.raiseVersion(ctx, FormatVersion) }

// raiseVersion writes the version and then every entry anew: a writer looks at the entry
// of its topic with each append, and at the version file when the entry is another file.
func (r *Root) raiseVersion(ctx context.Context, n int) error {
	unlock, err := r.change(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.writeVersion(n); err != nil {
		return err
	}
	names, err := r.topicNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		e, err := r.readEntry(name)
		if err = r.tolerate(name, err); err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if err := r.writeEntry(name, e); err != nil {
			return err
		}
	}
	return nil
}
