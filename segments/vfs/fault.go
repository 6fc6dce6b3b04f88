package vfs

import (
	"io/fs"
	"os"
	"sync"
)

// Kind is a kind of operation on a file system.
type Kind string

// The kinds of operations. Create is an open with O_CREATE.
const (
	KindOpen     Kind = "open"
	KindCreate   Kind = "create"
	KindMkdir    Kind = "mkdir"
	KindRename   Kind = "rename"
	KindLink     Kind = "link"
	KindRemove   Kind = "remove"
	KindReadDir  Kind = "readdir"
	KindStat     Kind = "stat"
	KindChmod    Kind = "chmod"
	KindChown    Kind = "chown"
	KindSyncDir  Kind = "syncdir"
	KindRead     Kind = "read"
	KindWrite    Kind = "write"
	KindTruncate Kind = "truncate"
	KindSync     Kind = "sync"
	KindClose    Kind = "close"
	KindLock     Kind = "lock"
	KindUnlock   Kind = "unlock"
)

// Changes reports whether an operation of this kind changes what is in the file
// system.
func (k Kind) Changes() bool {
	switch k {
	case KindCreate, KindMkdir, KindRename, KindLink, KindRemove, KindChmod, KindChown, KindWrite, KindTruncate:
		return true
	}
	return false
}

// Call is one operation, about to be done.
type Call struct {
	N      int    // 1 for the first on this Fault
	Kind   Kind   //
	Name   string // the file, of Rename and Link the old name
	Target string // of Rename and Link: the new name
	Offset int64  // of Read and Write; of Truncate: the new size
	Size   int    // of Read and Write: the number of bytes
}

// ShortWrite is the error by which a hook makes a write put only its first Done bytes
// into the file and then fail with Err, as a full disk does.
type ShortWrite struct {
	Done int
	Err  error
}

// Error is that of Err.
func (s *ShortWrite) Error() string { return s.Err.Error() }

// Unwrap gives Err.
func (s *ShortWrite) Unwrap() error { return s.Err }

// Fault is an FS that counts the operations on another one and makes some fail.
// Methods may be called concurrently; so may the hook.
type Fault struct {
	base FS
	hook func(Call) error

	mu     sync.Mutex
	n      int
	fired  *Call
	open   map[File]struct{}
	killed bool
}

// NewFault is fsys with hook, nil for none, asked before every operation. What the
// hook returns, unless nil, the operation returns as a *fs.PathError (*os.LinkError)
// without being done; only a *ShortWrite is done in part, and Close is done all the
// same, because a descriptor never stays open.
func NewFault(fsys FS, hook func(Call) error) *Fault {
	return &Fault{base: fsys, hook: hook, open: make(map[File]struct{})}
}

// Calls is the number of operations so far.
func (f *Fault) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// Fired is the first operation that was made to fail, nil if none was.
func (f *Fault) Fired() *Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Base is the file system below.
func (f *Fault) Base() FS { return f.base }

func (f *Fault) under() FS { return f.base }

// kill makes every later operation fail and closes what is open.
func (f *Fault) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
	for file := range f.open {
		file.Close()
	}
	clear(f.open)
}

// ask counts an operation and asks the hook about it.
func (f *Fault) ask(c Call) error {
	f.mu.Lock()
	f.n++
	c.N = f.n
	killed := f.killed
	f.mu.Unlock()
	if killed {
		return ErrKilled
	}
	if f.hook == nil {
		return nil
	}
	err := f.hook(c)
	if err != nil {
		f.mu.Lock()
		if f.fired == nil {
			f.fired = &c
		}
		f.mu.Unlock()
	}
	return err
}

// path asks about an operation on one name and gives the error the name.
func (f *Fault) path(kind Kind, name string) error {
	return pathError(string(kind), name, f.ask(Call{Kind: kind, Name: name}))
}

// link asks about an operation on two names.
func (f *Fault) link(kind Kind, oldname, newname string) error {
	if err := f.ask(Call{Kind: kind, Name: oldname, Target: newname}); err != nil {
		return &os.LinkError{Op: string(kind), Old: oldname, New: newname, Err: err}
	}
	return nil
}

// opened remembers an open file, unless the process has been killed meanwhile.
func (f *Fault) opened(file File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		file.Close()
		return
	}
	f.open[file] = struct{}{}
}

// OpenFile opens.
func (f *Fault) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	kind := KindOpen
	if flag&os.O_CREATE != 0 {
		kind = KindCreate
	}
	if err := f.path(kind, name); err != nil {
		return nil, err
	}
	file, err := f.base.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	f.opened(file)
	return &faultFile{File: file, fault: f}, nil
}

// OpenLock opens a lock file.
func (f *Fault) OpenLock(name string) (LockFile, error) {
	if err := f.path(KindOpen, name); err != nil {
		return nil, err
	}
	file, err := f.base.OpenLock(name)
	if err != nil {
		return nil, err
	}
	f.opened(file)
	return &faultLock{faultFile: faultFile{File: file, fault: f}, lock: file}, nil
}

// Mkdir makes a directory.
func (f *Fault) Mkdir(name string, perm fs.FileMode) error {
	if err := f.path(KindMkdir, name); err != nil {
		return err
	}
	return f.base.Mkdir(name, perm)
}

// Rename renames.
func (f *Fault) Rename(oldname, newname string) error {
	if err := f.link(KindRename, oldname, newname); err != nil {
		return err
	}
	return f.base.Rename(oldname, newname)
}

// Link links.
func (f *Fault) Link(oldname, newname string) error {
	if err := f.link(KindLink, oldname, newname); err != nil {
		return err
	}
	return f.base.Link(oldname, newname)
}

// Remove removes.
func (f *Fault) Remove(name string) error {
	if err := f.path(KindRemove, name); err != nil {
		return err
	}
	return f.base.Remove(name)
}

// ReadDir lists.
func (f *Fault) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.path(KindReadDir, name); err != nil {
		return nil, err
	}
	return f.base.ReadDir(name)
}

// Stat looks, following links.
func (f *Fault) Stat(name string) (fs.FileInfo, error) {
	if err := f.path(KindStat, name); err != nil {
		return nil, err
	}
	return f.base.Stat(name)
}

// Lstat looks.
func (f *Fault) Lstat(name string) (fs.FileInfo, error) {
	if err := f.path(KindStat, name); err != nil {
		return nil, err
	}
	return f.base.Lstat(name)
}

// Chmod sets the mode.
func (f *Fault) Chmod(name string, mode fs.FileMode) error {
	if err := f.path(KindChmod, name); err != nil {
		return err
	}
	return f.base.Chmod(name, mode)
}

// Chown sets the owner.
func (f *Fault) Chown(name string, uid, gid int) error {
	if err := f.path(KindChown, name); err != nil {
		return err
	}
	return f.base.Chown(name, uid, gid)
}

// SyncDir syncs a directory.
func (f *Fault) SyncDir(name string) error {
	if err := f.ask(Call{Kind: KindSyncDir, Name: name}); err != nil {
		return dirSyncError(name, err)
	}
	return f.base.SyncDir(name)
}
