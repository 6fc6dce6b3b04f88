// Package vfs is the seam between klog and the file system.
//
// All files of a klog root are reached through an FS. OS is the real one. Two others
// take the disk away in tests: Mem forgets at its Crash what was not synced, Fault
// fails, or kills the program, at the n-th operation. Lenient wraps one on a file
// system that cannot sync directories.
//
// The contract, the same for all of them:
//
//   - An FS and a File may be used by any number of goroutines at once; a LockFile is
//     locked and unlocked by one at a time.
//   - Errors are those of package os (*fs.PathError, *os.LinkError) with the system's
//     errno inside, so errors.Is with fs.ErrNotExist, fs.ErrPermission or
//     syscall.ENOSPC works. ErrNoDirSync, ErrNoLocks and ErrLocked name what the
//     system has no one word for. DescribePermission says what stands in the way of a
//     refused operation.
//   - Calls that a signal interrupts are made again, except close. Reads and writes go
//     on until all is done or an error comes.
//   - File.Sync makes data and size durable but not the name; SyncDir the names in one
//     directory but not the data behind them.
//   - No descriptor is inherited by a child.
//
// Several users share a root, so files and directories are made by OpenOrCreate,
// Create, Mkdir, MkdirAll and WriteFile, which give them group and permissions of the
// directory they lie in whatever the umask. Locks taken many times a second are
// LockFiles that stay open; those taken rarely and held long are Lock and TryLock.
// FSType, BootID and BootTime ask the system about the ground it all stands on.
package vfs

import (
	"io"
	"io/fs"
)

// FS is a file system as klog uses it. All methods may be called concurrently.
// Names are paths as for package os.
type FS interface {
	// OpenFile opens with the flags of package os. Every descriptor is close-on-exec.
	// EINTR is retried.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Remove(name string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Chmod(name string, mode fs.FileMode) error
	// Chown changes the owner; -1 leaves uid or gid as it is. It does not follow links.
	Chown(name string, uid, gid int) error
	// SyncDir makes the names in a directory durable: creations, renames, removals.
	// Where the file system has no such thing the error wraps ErrNoDirSync.
	SyncDir(name string) error
	// OpenLock opens the lock file name for reading and writing; it must exist.
	OpenLock(name string) (LockFile, error)
}

// File is an open file. ReadAt and WriteAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	// Sync makes the file's data and size durable (fdatasync). A failed Sync must not
	// be tried again as if it could succeed: the kernel may have dropped the pages.
	Sync() error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// Fd is the descriptor, or ^uintptr(0) where there is none.
	Fd() uintptr
}

// LockFile is a file that exists to be locked, exclusively, with flock(2). The lock
// belongs to the open file: it ends with Unlock, Close or the process. One goroutine
// at a time may lock or unlock; Close may be called beside it and ends the lock, and
// with it, as soon as the kernel lets go, a wait. Where the file system has no locks
// the error wraps ErrNoLocks.
type LockFile interface {
	File
	// Lock blocks until the lock is held. EINTR is retried.
	Lock() error
	// TryLock reports whether it got the lock, without waiting.
	TryLock() (bool, error)
	// Unlock gives the lock up and keeps the file open.
	Unlock() error
}
