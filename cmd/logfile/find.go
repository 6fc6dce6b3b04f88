package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LostError says that a file cannot be found any more: it was removed, or truncated,
// before all of it was read.
type LostError struct {
	Path  string // of the file that was followed
	Place Place  // that was looked for
	Bytes int64  // that were known to lie behind it and are lost; -1: not known
}

// Error says how much is lost.
func (e *LostError) Error() string {
	switch {
	case e.Bytes < 0:
		return fmt.Sprintf("%s: the file that was read up to byte %d is gone; what came behind is lost", e.Path, e.Place.Position)
	case e.Bytes == 0:
		return fmt.Sprintf("%s: the file that was read up to byte %d is gone; nothing is known to have come behind", e.Path, e.Place.Position)
	}
	return fmt.Sprintf("%s: the file that was read up to byte %d is gone, with %d bytes that were not read", e.Path, e.Place.Position, e.Bytes)
}

// Find opens the file of a place at that place: the one at path, or one of another name
// in the same directory. The error is a *LostError, without Bytes, where there is none.
func Find(path string, p Place) (*Reader, error) {
	r := &Reader{path: path}
	ok, err := r.try(path, p)
	if ok || err != nil {
		return r, err
	}
	dir := filepath.Dir(path)
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		info, err := name.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		ok, err := r.try(filepath.Join(dir, name.Name()), p)
		if ok || err != nil {
			return r, err
		}
	}
	return nil, &LostError{Path: path, Place: p, Bytes: -1}
}

// try opens the file name at the place if it is the place's.
func (r *Reader) try(name string, p Place) (bool, error) {
	there, _, err := at(name)
	if err != nil || !there.SameFile(p) {
		return false, nil // what cannot be looked at is not it
	}
	f, err := openRegular(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	c, ok, err := p.holds(f)
	if !ok || err != nil {
		f.Close()
		return false, err
	}
	r.begin(f, Place{Device: p.Device, Inode: p.Inode}, p.Position, c)
	return true, nil
}
