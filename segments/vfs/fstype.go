package vfs

// Type is the type of a file system, as far as it matters for appending.
type Type struct {
	// Name is what the system calls it ("ext4", "nfs", "fuse.sshfs"), or "unknown
	// (0x1234)" with the number the system gives for it.
	Name string
	// Shared says that other hosts may have it mounted too, or that its locks and
	// caches are not the kernel's own: a lock on one file says nothing about the
	// cached bytes of another. True for every type that is not known to be local.
	Shared bool
	// Options are the mount options of a shared one, as in /proc/self/mountinfo,
	// those of the mount and those of the file system in one list; "" where they are
	// not known.
	Options string
}

// FSType finds out on what file system the existing path lies.
func FSType(path string) (Type, error) { return fsType(path) }

// Space is how many bytes a user may still write to the file system of path, and
// how many it has in all.
func Space(path string) (free, total uint64, err error) { return space(path) }
