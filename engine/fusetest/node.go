//go:build fuse && linux

package fusetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is a file or directory: the one below, with the answers that the test wants.
// Unlike the LoopbackNode it is opened and looked at without its name where that can be,
// so that between a lookup and an open a file may be replaced, as on any decent file
// system.
type node struct {
	*fs.LoopbackNode
	m *Mount
}

// WrapChild makes the nodes that lookups find ours.
func (n *node) WrapChild(ctx context.Context, ops fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{ops.(*fs.LoopbackNode), n.m}
}

// Lookup looks a name up and takes hold of what is there.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	for {
		child, errno := n.LoopbackNode.Lookup(ctx, name, out)
		if errno != 0 || n.m.hold(filepath.Join(n.below(), name), child.StableAttr().Ino) {
			return child, errno
		}
	}
}

// Create makes a file and takes hold of it.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	child, h, f, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	n.m.hold(filepath.Join(n.below(), name), child.StableAttr().Ino)
	return child, file{h.(*fs.LoopbackFile)}, f, 0
}

// OnForget lets go.
func (n *node) OnForget() { n.m.letGo(n.StableAttr().Ino) }

// below is the path of n in the directory that is mounted.
func (n *node) below() string {
	return filepath.Join(n.RootData.Path, n.Path(n.Root()))
}

// hold keeps a descriptor of what is at path, and reports false if that is not the file
// ino any more.
func (m *Mount) hold(path string, ino uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.held[ino]; ok {
		m.limbo = slices.DeleteFunc(m.limbo, func(i uint64) bool { return i == ino })
		return true
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino != ino {
		unix.Close(fd)
		return false
	}
	m.held[ino] = fd
	return true
}

// letGo closes the descriptor of a file, some time after the kernel has forgotten it.
func (m *Mount) letGo(ino uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limbo = append(m.limbo, ino)
	if len(m.limbo) <= limboSize {
		return
	}
	ino, m.limbo = m.limbo[0], m.limbo[1:]
	if fd, ok := m.held[ino]; ok {
		unix.Close(fd)
		delete(m.held, ino)
	}
}

// Open opens, and keeps cached pages where that is wanted.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.m.hold(n.below(), n.StableAttr().Ino)
	f, err := n.m.open(n.StableAttr().Ino, flags&^(syscall.O_APPEND|fuse.FMODE_EXEC))
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	var answer uint32
	if n.m.options.Pages {
		answer |= fuse.FOPEN_KEEP_CACHE
	}
	return file{fs.NewLoopbackFileFromOS(f)}, answer, 0
}

// file is a LoopbackFile that the kernel may not read and write behind our back.
type file struct{ *fs.LoopbackFile }

// PassthroughFd has none to offer.
func (file) PassthroughFd() (int, bool) { return -1, false }

// dir is the handle of a directory, whose fsync is the node's affair.
type dir struct {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
}

// OpendirHandle opens a directory to list or sync it.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, f, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return dir{h.(fs.FileReaddirenter), h.(fs.FileSeekdirer), h.(fs.FileReleasedirer)}, f, 0
}

// open opens a file that is held.
func (m *Mount) open(ino uint64, flags uint32) (*os.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fd, ok := m.held[ino]
	if !ok {
		return nil, syscall.ESTALE // the kernel looks the name up again
	}
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), int(flags), 0)
}

// Getattr looks at what is held, whatever has become of its name.
func (n *node) Getattr(ctx context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.m.mu.Lock()
	defer n.m.mu.Unlock()
	fd, ok := n.m.held[n.StableAttr().Ino]
	if !ok {
		return n.LoopbackNode.Getattr(ctx, h, out)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

// Read reads.
func (n *node) Read(ctx context.Context, h fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if errno := n.m.ask(Read, n); errno != 0 {
		return nil, errno
	}
	return h.(fs.FileReader).Read(ctx, dest, off)
}

// Write writes.
func (n *node) Write(ctx context.Context, h fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := n.m.ask(Write, n); errno != 0 {
		return 0, errno
	}
	return h.(fs.FileWriter).Write(ctx, data, off)
}

// Fsync syncs a file or directory.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, flags uint32) syscall.Errno {
	if f, ok := h.(fs.FileFsyncer); ok && !n.IsDir() {
		if errno := n.m.ask(Sync, n); errno != 0 {
			return errno
		}
		return f.Fsync(ctx, flags)
	}
	if errno := n.m.ask(SyncDir, n); errno != 0 {
		return errno
	}
	d, err := os.Open(n.below())
	if err != nil {
		return fs.ToErrno(err)
	}
	defer d.Close()
	return fs.ToErrno(d.Sync())
}
