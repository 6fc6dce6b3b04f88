//go:build fuse && linux

// Package fusetest mounts a directory a second time through FUSE, for tests: two mounts
// of one directory are to the kernel as two hosts that share it, each with caches of its
// own, and what the disk answers can be made up. It exists only under the build tag fuse.
package fusetest

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Type is what vfs.FSType calls these mounts.
const Type = "fuse.klogtest"

// Options say how a mount behaves. The zero value caches nothing and leaves locks to the
// kernel of each mount, as a file system does that knows none.
type Options struct {
	// Attributes is how long the kernel believes size and times of a file it has
	// looked at, Names how long what a name leads to.
	Attributes, Names time.Duration
	// Pages keeps the content of a file in the page cache from one open to the next.
	Pages bool
	// Locks passes flock on to the directory below, so that it holds for both mounts.
	Locks bool
}

// Op is an operation that Mount.Fail may fail.
type Op string

// The operations.
const (
	Read    Op = "read"
	Write   Op = "write"
	Sync    Op = "fsync"
	SyncDir Op = "fsyncdir"
)

// Mount is a mounted directory. Its methods may be called concurrently.
type Mount struct {
	// Dir is where it is mounted.
	Dir string

	options Options
	server  *fuse.Server
	mu      sync.Mutex
	fail    func(op Op, name string) syscall.Errno
	calls   map[Op]int
	held    map[uint64]int // descriptors (O_PATH) by inode number, of what the kernel knows
	limbo   []uint64       // of those, what it forgot last, oldest first
}

// limboSize is how many files are still held that the kernel has forgotten: a lookup of
// one may be under way.
const limboSize = 64

// New mounts dir through FUSE until the test ends, and skips the test where that is not
// possible: it takes root and /dev/fuse.
func New(t testing.TB, dir string, o Options) *Mount {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("needs /dev/fuse")
	}
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	m := &Mount{Dir: t.TempDir(), options: o, calls: make(map[Op]int), held: make(map[uint64]int)}
	root := &fs.LoopbackRoot{Path: dir, Dev: uint64(st.Dev)}
	server, err := fs.Mount(m.Dir, &node{&fs.LoopbackNode{RootData: root}, m}, &fs.Options{
		MountOptions: fuse.MountOptions{
			FsName: "klogtest", Name: "klogtest", DirectMountStrict: true, AllowOther: true, EnableLocks: o.Locks,
		},
		AttrTimeout: &o.Attributes, EntryTimeout: &o.Names, NegativeTimeout: &o.Names,
		NullPermissions: true,
	})
	if err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	m.server = server
	t.Cleanup(func() { m.unmount(t) })
	return m
}

// unmount takes the mount away even where something is still open in it.
func (m *Mount) unmount(t testing.TB) {
	if err := m.server.Unmount(); err != nil {
		// By force: it ends calls that wait for an answer.
		if err := unix.Unmount(m.Dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", m.Dir, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for ino, fd := range m.held {
		unix.Close(fd)
		delete(m.held, ino)
	}
}

// Fail makes f be asked before each operation on the file name, which is relative to the
// mount: what it returns, unless 0, the operation fails with. nil fails nothing.
func (m *Mount) Fail(f func(op Op, name string) syscall.Errno) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = f
}

// FailAlways is Fail for one operation, on whatever file.
func (m *Mount) FailAlways(op Op, errno syscall.Errno) {
	m.Fail(func(o Op, name string) syscall.Errno {
		if o == op {
			return errno
		}
		return 0
	})
}

// Calls is how often the kernel has asked for an operation.
func (m *Mount) Calls(op Op) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[op]
}

func (m *Mount) ask(op Op, n *node) syscall.Errno {
	m.mu.Lock()
	m.calls[op]++
	f := m.fail
	m.mu.Unlock()
	if f == nil {
		return 0
	}
	return f(op, n.Path(n.Root()))
}
