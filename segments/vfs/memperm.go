package vfs

import (
	"io/fs"
	"slices"
	"syscall"
)

// What a user may want of a node, as the bits of one class of its mode.
const (
	mayExec  fs.FileMode = 1
	mayWrite fs.FileMode = 2
	mayRead  fs.FileMode = 4
)

// may reports whether the user may do all of want with n.
func (m *Mem) may(n *node, want fs.FileMode) bool {
	var have fs.FileMode
	switch {
	case m.who.uid == 0:
		return true
	case m.who.uid == n.uid:
		have = n.mode >> 6
	case slices.Contains(m.who.gids, n.gid):
		have = n.mode >> 3
	default:
		have = n.mode
	}
	return have&want == want
}

// mayRemove reports whether the user may take the name away, or give it to something
// else: in a sticky directory only the owner of the file or the directory may.
func (m *Mem) mayRemove(p place) bool {
	if !m.may(p.dir, mayWrite|mayExec) {
		return false
	}
	sticky := p.node != nil && p.dir.mode&fs.ModeSticky != 0
	return !sticky || m.who.uid == 0 || m.who.uid == p.node.uid || m.who.uid == p.dir.uid
}

// protected is fs.protected_regular=2: in a sticky directory that others may write
// in, nobody, root included, opens with O_CREAT a file that belongs neither to him
// nor to the owner of the directory.
func (m *Mem) protected(p place) bool {
	return p.node.mode.IsRegular() && p.dir.mode&fs.ModeSticky != 0 && p.dir.mode&0o022 != 0 &&
		p.node.uid != m.who.uid && p.node.uid != p.dir.uid
}

// change does f to an existing node.
func (m *Mem) change(op, name string, f func(*node) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.existing(name)
	if err == nil {
		err = f(p.node)
	}
	return pathError(op, name, err)
}

// Chmod sets the permission bits, setuid, setgid and sticky.
func (m *Mem) Chmod(name string, mode fs.FileMode) error {
	return m.change("chmod", name, func(n *node) error { return m.chmod(n, mode) })
}

// Chown sets user and group; -1 leaves one as it is.
func (m *Mem) Chown(name string, uid, gid int) error {
	return m.change("lchown", name, func(n *node) error { return m.chown(n, uid, gid) })
}

func (m *Mem) chmod(n *node, mode fs.FileMode) error {
	if m.who.uid != 0 && m.who.uid != n.uid {
		return syscall.EPERM
	}
	if m.who.uid != 0 && !slices.Contains(m.who.gids, n.gid) {
		mode &^= fs.ModeSetgid
	}
	n.mode = n.mode&^modeBits | mode&modeBits
	return nil
}

func (m *Mem) chown(n *node, uid, gid int) error {
	if m.who.uid != 0 {
		foreign := uid != -1 && uid != n.uid || gid != -1 && gid != n.gid && !slices.Contains(m.who.gids, gid)
		if m.who.uid != n.uid || foreign {
			return syscall.EPERM
		}
	}
	if uid != -1 {
		n.uid = uid
	}
	if gid != -1 {
		n.gid = gid
	}
	if !n.isDir() {
		n.mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	return nil
}
