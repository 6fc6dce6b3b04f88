package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// createAttempts bounds the turns between "does not exist" and "exists": each
	// turn is another process creating or removing the name at that very moment.
	createAttempts = 100
	// youngAttempts and youngPause bound the wait for another process that has made
	// the file and is about to give it its mode.
	youngAttempts = 20
	youngPause    = time.Millisecond
)

// OpenOrCreate opens name for reading and writing and makes it where it does not
// exist. An existing file is opened without O_CREAT, because a sticky directory with
// fs.protected_regular refuses that flag for another user's file, even to root. A new
// one inherits from its directory as Inherit does. Its name is durable after SyncDir
// of the directory, which is the caller's to do.
func OpenOrCreate(fsys FS, name string) (File, error) {
	var f File
	var err error
	for range createAttempts {
		f, err = openExisting(fsys, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = Create(fsys, name)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// Create makes the file name, which must not exist, opens it for reading and writing
// and lets it inherit from its directory. Where the file was made and inheriting
// failed, the file stays: another process may have it open.
func Create(fsys FS, name string) (File, error) {
	dir, err := fsys.Stat(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode(dir))
	if err != nil {
		return nil, err
	}
	if err := inherit(fsys, f, dir); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openExisting opens without O_CREAT. A refusal is looked at again for a moment where
// the file seems to be one that another user is creating just now: between its open
// and its fchmod it has only what that user's umask leaves.
func openExisting(fsys FS, name string) (File, error) {
	for i := 0; ; i++ {
		f, err := fsys.OpenFile(name, os.O_RDWR, 0)
		if err == nil || !errors.Is(err, syscall.EACCES) || i == youngAttempts || !unfinished(fsys, name) {
			return f, err
		}
		time.Sleep(youngPause)
	}
}

// unfinished reports whether name is empty and lacks bits that it is to inherit.
func unfinished(fsys FS, name string) bool {
	fi, err := fsys.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() != 0 {
		return false
	}
	dir, err := fsys.Stat(filepath.Dir(name))
	if err != nil {
		return false
	}
	want := fileMode(dir)
	return fi.Mode()&want != want
}

// Mkdir makes the directory name and lets it inherit from the one it lies in: group,
// permission bits and setgid, whatever the umask; made by root, the owner too.
func Mkdir(fsys FS, name string) error {
	parent, err := fsys.Stat(filepath.Dir(name))
	if err != nil {
		return err
	}
	if err := fsys.Mkdir(name, dirMode(parent)&fs.ModePerm); err != nil {
		return err
	}
	// Through a descriptor that follows no link: whoever may write in parent could
	// have put one in the new directory's place.
	d, err := fsys.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return inherit(fsys, d, parent)
}

// MkdirAll makes the directory name and those above it that are missing, each as
// Mkdir does. It is no error if name is a directory already.
func MkdirAll(fsys FS, name string) error {
	fi, err := fsys.Stat(name)
	if err == nil {
		if !fi.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(name); parent != name {
		if err := MkdirAll(fsys, parent); err != nil {
			return err
		}
	}
	err = Mkdir(fsys, name)
	if errors.Is(err, fs.ErrExist) {
		// Made by another process meanwhile, or something that is no directory.
		if fi, serr := fsys.Stat(name); serr == nil && fi.IsDir() {
			return nil
		}
	}
	return err
}
