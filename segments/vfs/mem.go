package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrPowerCut is what every operation on a Mem, and on the files open in it, returns
// after its Crash.
var ErrPowerCut = errors.New("power was cut")

// Mem is a file system in memory, for tests, that knows what would survive a power
// cut: of a file what Sync made durable, of a directory what SyncDir did. Neither
// implies the other: a synced file whose directory was not synced may have no name.
// Crash then gives what may be left.
//
// It behaves as Linux does: errors, permissions, flock, files that live on when they
// are removed. There are hard links and no symbolic ones; relative names begin at the
// root directory; changes of owner, mode and time are durable at once. Methods may be
// called concurrently.
type Mem struct {
	*memState
	who user
}

// user is whose permissions count, and where what it creates belongs.
type user struct {
	uid   int
	gids  []int // the first is that of new files
	umask fs.FileMode
}

// memState is what the views of one Mem share.
type memState struct {
	mu      sync.Mutex
	unlock  sync.Cond // a lock was given up, or power was cut
	root    *node
	lastIno uint64
	ops     []*dirOp // not yet durable, in order
	down    bool
	now     func() time.Time
	origin  string
}

// NewMem is an empty file system, used as root with umask 022. Its root directory
// belongs to root, has mode 0770 and is durable.
func NewMem() *Mem {
	s := &memState{now: time.Now, origin: "never crashed"}
	s.unlock.L = &s.mu
	s.root = s.newNode(fs.ModeDir|0o770, 0, 0)
	s.root.links = 1
	return &Mem{memState: s, who: user{gids: []int{0}, umask: 0o022}}
}

// As is the same file system as another user sees it, whose groups are gids; the
// first is that of files it makes. User 0 may do everything.
func (m *Mem) As(uid int, gids ...int) *Mem {
	if len(gids) == 0 {
		gids = []int{uid}
	}
	return &Mem{memState: m.memState, who: user{uid: uid, gids: gids, umask: m.who.umask}}
}

// Umask is the same file system as its user sees it with another umask.
func (m *Mem) Umask(mask fs.FileMode) *Mem {
	who := m.who
	who.umask = mask & fs.ModePerm
	return &Mem{memState: m.memState, who: who}
}

// SetClock makes modification times come from now.
func (m *Mem) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// Chtimes sets the modification time of name.
func (m *Mem) Chtimes(name string, mtime time.Time) error {
	return m.change("chtimes", name, func(n *node) error {
		n.mtime = mtime
		return nil
	})
}

func (m *Mem) euid() int { return m.who.uid }

func (s *memState) newNode(mode fs.FileMode, uid, gid int) *node {
	s.lastIno++
	n := &node{ino: s.lastIno, mode: mode, uid: uid, gid: gid, mtime: s.now()}
	if mode.IsDir() {
		n.entries = make(map[string]*node)
		n.durable = make(map[string]*node)
	} else {
		n.pages = make(map[int64]*page)
		n.dirty = make(map[int64]*page)
	}
	return n
}

// place is where a name leads: the directory, the name in it, and what is there.
type place struct {
	dir  *node // of the root directory, itself
	name string
	node *node // nil where there is nothing
}

// find follows name. The error is a bare errno.
func (m *Mem) find(name string) (place, error) {
	if m.down {
		return place{}, ErrPowerCut
	}
	if name == "" {
		return place{}, syscall.ENOENT
	}
	clean := path.Clean("/" + name)
	p := place{dir: m.root, name: "/", node: m.root}
	if clean == "/" {
		return p, nil
	}
	for part := range strings.SplitSeq(clean[1:], "/") {
		switch {
		case p.node == nil:
			return place{}, syscall.ENOENT
		case !p.node.isDir():
			return place{}, syscall.ENOTDIR
		case !m.may(p.node, mayExec):
			return place{}, syscall.EACCES
		}
		p = place{dir: p.node, name: part, node: p.node.entries[part]}
	}
	return p, nil
}

// existing is find for a name that must exist.
func (m *Mem) existing(name string) (place, error) {
	p, err := m.find(name)
	if err == nil && p.node == nil {
		err = syscall.ENOENT
	}
	return p, err
}

// OpenFile opens name; a directory for reading only.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.open(name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &memFile{m: m, node: n, name: name, flag: flag}, nil
}

func (m *Mem) open(name string, flag int, perm fs.FileMode) (*node, error) {
	p, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if p.node == nil {
		if flag&os.O_CREATE == 0 {
			return nil, syscall.ENOENT
		}
		return m.create(p, perm&fs.ModePerm)
	}
	n := p.node
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case n.isDir() && (writes(flag) || flag&os.O_CREATE != 0):
		return nil, syscall.EISDIR
	case !n.isDir() && flag&syscall.O_DIRECTORY != 0:
		return nil, syscall.ENOTDIR
	case flag&os.O_CREATE != 0 && m.protected(p):
		return nil, syscall.EACCES
	case reads(flag) && !m.may(n, mayRead), writes(flag) && !m.may(n, mayWrite):
		return nil, syscall.EACCES
	}
	if flag&os.O_TRUNC != 0 {
		n.truncate(0)
		n.mtime = m.now()
	}
	return n, nil
}

func reads(flag int) bool  { return flag&(os.O_WRONLY|os.O_RDWR) != os.O_WRONLY }
func writes(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// create makes a file or directory at p, where there is nothing.
func (m *Mem) create(p place, mode fs.FileMode) (*node, error) {
	if !m.may(p.dir, mayWrite|mayExec) {
		return nil, syscall.EACCES
	}
	gid := m.who.gids[0]
	mode &^= m.who.umask
	if p.dir.mode&fs.ModeSetgid != 0 {
		gid = p.dir.gid
		if mode.IsDir() {
			mode |= fs.ModeSetgid
		}
	}
	n := m.newNode(mode, m.who.uid, gid)
	m.record(slot{p.dir, p.name, nil, n})
	return n, nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
