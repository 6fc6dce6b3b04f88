package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Several users share a root: a new file belongs to the group of its directory and
// that group may do with it what it may do in the directory, whatever the umask of
// whoever made it.

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Inherit gives the newly made f, a file or a directory, group and read/write bits of
// the directory dir; a directory takes the search bits and setgid too; made by root, f
// also takes the owner. Where the system refuses the change (f belongs to somebody
// else, the file system has no owners), f stays as it is; where only the group is
// refused, f's group gets no more than what dir grants to others.
func Inherit(fsys FS, f File, dir string) error {
	from, err := fsys.Stat(dir)
	if err != nil {
		return err
	}
	return inherit(fsys, f, from)
}

func inherit(fsys FS, f File, dir fs.FileInfo) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	mode := fileMode(dir)
	if fi.IsDir() {
		mode = dirMode(dir)
	}
	uid, gid, ok := Owner(dir)
	if !ok || euid(fsys) != 0 {
		uid = -1
	}
	return adopt(f, fi, uid, gid, mode)
}

// adopt gives f, which is as fi says, owner, group (-1 keeps) and mode, as far as the
// system lets it.
func adopt(f File, fi fs.FileInfo, uid, gid int, mode fs.FileMode) error {
	haveUID, haveGID, _ := Owner(fi)
	if uid == haveUID {
		uid = -1
	}
	if gid == haveGID {
		gid = -1
	}
	changed := false
	if uid != -1 || gid != -1 {
		err := f.Chown(uid, gid)
		if refused(err) && uid != -1 && gid != -1 {
			err = f.Chown(-1, gid)
		}
		switch {
		case err == nil:
			changed = true
		case !refused(err):
			return err
		case gid != -1:
			mode = withoutGroup(mode)
		}
	}
	// chown drops setgid, so the mode comes last and is set again after it.
	if fi.Mode()&modeBits == mode&modeBits && !changed {
		return nil
	}
	if err := f.Chmod(mode & modeBits); err != nil && !refused(err) {
		return err
	}
	return nil
}

// fileMode is the mode of a new file in dir. Its owner may always read and write it.
func fileMode(dir fs.FileInfo) fs.FileMode { return dir.Mode()&0o666 | 0o600 }

// dirMode is the mode of a new directory in dir.
func dirMode(dir fs.FileInfo) fs.FileMode {
	return dir.Mode()&(0o777|fs.ModeSetgid) | 0o700
}

// withoutGroup is mode for a file whose group is not the intended one: the group may
// do what everybody may.
func withoutGroup(mode fs.FileMode) fs.FileMode {
	return mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
}

// refused reports whether err is the system's refusal to change owner or mode, which
// leaves a file that can be used all the same.
func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || CannotSync(err)
}

// Owner is the user and group that own the file, or ok false where the file system
// does not say.
func Owner(fi fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, -1, false
	}
	return int(st.Uid), int(st.Gid), true
}

// SameFile reports whether a and b, from any FS, are one file: device and inode.
func SameFile(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Dev == y.Dev && x.Ino == y.Ino
}

// euid is the user that fsys acts for.
func euid(fsys FS) int {
	for {
		switch v := fsys.(type) {
		case interface{ euid() int }:
			return v.euid()
		case interface{ under() FS }:
			fsys = v.under()
		default:
			return os.Geteuid()
		}
	}
}
