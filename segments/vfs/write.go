package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// tempSuffix marks what WriteFile has not finished. A fixed name, so that what a
// killed writer left is used up by the next one instead of piling up.
const tempSuffix = ".tmp"

// leastRead is how much of a file ReadFile reads at least.
const leastRead = 512

// WriteFile puts data at name, whole or not at all: it is written to name.tmp beside
// it, synced, renamed into place, and the directory synced. A file that is replaced
// keeps its owner and mode, a new one inherits as with OpenOrCreate. Before the
// rename every error leaves name as it was and removes the temporary file. An error
// that wraps ErrNoDirSync says that name was written and only its directory could
// not be synced.
//
// Two processes must not write one name at the same time: a lock of the caller's
// keeps them apart. Readers need none, they see the old content or the new.
func WriteFile(fsys FS, name string, data []byte) error {
	temp := name + tempSuffix
	if err := writeTemp(fsys, temp, name, data); err != nil {
		return err
	}
	if err := fsys.Rename(temp, name); err != nil {
		fsys.Remove(temp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// writeTemp writes and syncs temp, which is to take the place of name.
func writeTemp(fsys FS, temp, name string, data []byte) error {
	f, err := createTemp(fsys, temp)
	if err != nil {
		return err
	}
	err = fillTemp(fsys, f, name, data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		fsys.Remove(temp)
	}
	return err
}

func fillTemp(fsys FS, f File, name string, data []byte) error {
	if err := adoptReplaced(fsys, f, name); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}

// createTemp makes temp anew, in place of what a killed writer may have left.
func createTemp(fsys FS, temp string) (File, error) {
	for range createAttempts {
		f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: temp, Err: fs.ErrExist}
}

// adoptReplaced gives f owner and mode of the file name, or what a new file there
// inherits.
func adoptReplaced(fsys FS, f File, name string) error {
	old, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Inherit(fsys, f, filepath.Dir(name))
	}
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	uid, gid, ok := Owner(old)
	if !ok {
		uid, gid = -1, -1
	}
	return adopt(f, fi, uid, gid, old.Mode())
}

// ReadFile reads the whole file name.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// One byte more than it is long shows the end in the same read. Files of /proc say
	// that they are empty, and must be read at once.
	buf := make([]byte, max(fi.Size()+1, leastRead))
	n := 0
	for {
		m, err := f.ReadAt(buf[n:], int64(n))
		n += m
		if errors.Is(err, io.EOF) {
			return buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
		buf = append(buf, make([]byte, len(buf))...)
	}
}
