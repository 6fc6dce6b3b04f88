package vfs

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Mkdir makes a directory.
func (m *Mem) Mkdir(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.find(name)
	if err == nil && p.node != nil {
		err = syscall.EEXIST
	}
	if err == nil {
		_, err = m.create(p, fs.ModeDir|perm&fs.ModePerm)
	}
	return pathError("mkdir", name, err)
}

// Rename moves a file or directory, at once and over what is there.
func (m *Mem) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.rename(oldname, newname); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (m *Mem) rename(oldname, newname string) error {
	from, err := m.existing(oldname)
	if err != nil {
		return err
	}
	to, err := m.find(newname)
	switch {
	case err != nil:
		return err
	case from.node == m.root, to.node == m.root:
		return syscall.EBUSY
	case to.node == from.node:
		return nil
	case !m.mayRemove(from), !m.mayRemove(to):
		return syscall.EACCES
	case from.node.isDir() && within(to.dir, from.node):
		return syscall.EINVAL
	}
	if to.node != nil {
		switch {
		case from.node.isDir() && !to.node.isDir():
			return syscall.ENOTDIR
		case !from.node.isDir() && to.node.isDir():
			return syscall.EISDIR
		case len(to.node.entries) > 0:
			return syscall.ENOTEMPTY
		}
	}
	m.record(slot{from.dir, from.name, from.node, nil}, slot{to.dir, to.name, to.node, from.node})
	return nil
}

// within reports whether dir is top or lies below it.
func within(dir, top *node) bool {
	if dir == top {
		return true
	}
	for _, n := range top.entries {
		if n.isDir() && within(dir, n) {
			return true
		}
	}
	return false
}

// Link gives a file another name.
func (m *Mem) Link(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, err := m.existing(oldname)
	var to place
	if err == nil {
		to, err = m.find(newname)
	}
	switch {
	case err != nil:
	case to.node != nil:
		err = syscall.EEXIST
	case from.node.isDir():
		err = syscall.EPERM
	case !m.may(to.dir, mayWrite|mayExec):
		err = syscall.EACCES
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: err}
	}
	m.record(slot{to.dir, to.name, nil, from.node})
	return nil
}

// Remove removes a file's name or an empty directory.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.existing(name)
	switch {
	case err != nil:
	case p.node == m.root:
		err = syscall.EBUSY
	case len(p.node.entries) > 0:
		err = syscall.ENOTEMPTY
	case !m.mayRemove(p):
		err = syscall.EACCES
	default:
		m.record(slot{p.dir, p.name, p.node, nil})
	}
	return pathError("remove", name, err)
}

// ReadDir lists a directory, sorted by name.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.existing(name)
	switch {
	case err != nil:
	case !p.node.isDir():
		err = syscall.ENOTDIR
	case !m.may(p.node, mayRead):
		err = syscall.EACCES
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	list := make([]fs.DirEntry, 0, len(p.node.entries))
	for name, n := range p.node.entries {
		list = append(list, fs.FileInfoToDirEntry(n.info(name)))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Stat looks at a file or directory.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.existing(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return p.node.info(path.Base(name)), nil
}

// Lstat is Stat: there are no symbolic links.
func (m *Mem) Lstat(name string) (fs.FileInfo, error) { return m.Stat(name) }

// SyncDir makes what was done to the names in a directory durable.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.existing(name)
	switch {
	case err != nil:
	case !p.node.isDir():
		err = syscall.ENOTDIR
	case !m.may(p.node, mayRead):
		err = syscall.EACCES
	default:
		m.syncDir(p.node)
	}
	return pathError("syncdir", name, err)
}

// OpenLock opens the lock file name, which must exist.
func (m *Mem) OpenLock(name string) (LockFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.open(name, os.O_RDWR, 0)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &memLock{memFile: memFile{m: m, node: n, name: name, flag: os.O_RDWR}}, nil
}
