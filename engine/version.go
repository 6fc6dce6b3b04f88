package engine

import (
	"bytes"
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
