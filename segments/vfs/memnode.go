package vfs

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"
)

// pageSize is the unit in which Mem's files reach the disk.
const pageSize = 4096

// A node is a file or directory of a Mem, whatever names lead to it. Its fields are
// guarded by the mutex of the Mem.
type node struct {
	ino      uint64
	mode     fs.FileMode // with ModeDir for a directory
	uid, gid int
	mtime    time.Time
	links    int // names that lead here; 0 is a file that was removed

	// Of a file.
	size        int64
	durableSize int64           // as of the last sync
	sizes       []int64         // what it was since, in order
	pages       map[int64]*page // by number; a missing one is zeros
	dirty       map[int64]*page // those changed since the last sync
	holder      *memLock        // has it locked

	// Of a directory.
	entries map[string]*node
	durable map[string]*node // as of the last sync
}

// A page is pageSize bytes of a file.
type page struct {
	cur   []byte // never shared while the page is dirty
	base  []byte // what is on disk while the page is dirty; nil is zeros; never changed
	edits []edit // changes since, in order
}

type edit struct {
	at   int
	data []byte
}

// at is the page after the first n edits, in bytes of its own.
func (p *page) at(n int) []byte {
	b := make([]byte, pageSize)
	if n == len(p.edits) {
		copy(b, p.cur)
		return b
	}
	copy(b, p.base)
	for _, e := range p.edits[:n] {
		copy(b[e.at:], e.data)
	}
	return b
}

// edit changes page i from byte at on and remembers the change.
func (n *node) edit(i int64, at int, data []byte) {
	p := n.pages[i]
	if p == nil {
		p = &page{cur: make([]byte, pageSize)}
		n.pages[i] = p
	}
	if n.dirty[i] == nil {
		p.base = p.cur
		p.cur = slices.Clone(p.cur)
		n.dirty[i] = p
	}
	copy(p.cur[at:], data)
	p.edits = append(p.edits, edit{at, data})
}

func (n *node) setSize(size int64) {
	if size != n.size {
		n.size = size
		n.sizes = append(n.sizes, size)
	}
}

// write puts b at off and keeps no hold of b.
func (n *node) write(b []byte, off int64) {
	end := off + int64(len(b))
	for len(b) > 0 {
		at := int(off % pageSize)
		k := min(pageSize-at, len(b))
		n.edit(off/pageSize, at, slices.Clone(b[:k]))
		b, off = b[k:], off+int64(k)
	}
	n.setSize(max(n.size, end))
}

// read fills b from off and returns how much of it lies within the file.
func (n *node) read(b []byte, off int64) int {
	if off >= n.size {
		return 0
	}
	b = b[:min(int64(len(b)), n.size-off)]
	clear(b)
	for done := 0; done < len(b); {
		at := int(off % pageSize)
		k := min(pageSize-at, len(b)-done)
		if p := n.pages[off/pageSize]; p != nil {
			copy(b[done:done+k], p.cur[at:])
		}
		done, off = done+k, off+int64(k)
	}
	return len(b)
}

// truncate sets the size; what lies beyond a smaller one reads as zeros if the file
// grows again.
func (n *node) truncate(size int64) {
	if size < n.size {
		for _, i := range slices.Sorted(maps.Keys(n.pages)) {
			at := max(size-i*pageSize, 0)
			if at < pageSize && i*pageSize < n.size {
				n.edit(i, int(at), make([]byte, pageSize-at))
			}
		}
	}
	n.setSize(size)
}

// sync makes data and size durable.
func (n *node) sync() {
	n.durableSize, n.sizes = n.size, nil
	for i, p := range n.dirty {
		p.base, p.edits = nil, nil
		if i*pageSize >= n.size {
			delete(n.pages, i)
		}
	}
	clear(n.dirty)
}

func (n *node) isDir() bool { return n.mode.IsDir() }

func (n *node) info(name string) fs.FileInfo {
	st := &syscall.Stat_t{Dev: 1, Ino: n.ino, Uid: uint32(n.uid), Gid: uint32(n.gid), Size: n.size}
	return &memInfo{name: name, size: n.size, mode: n.mode, mtime: n.mtime, sys: st}
}

// memInfo is a node as it was when it was looked at.
type memInfo struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
	sys   *syscall.Stat_t
}

func (i *memInfo) Name() string       { return i.name }
func (i *memInfo) Size() int64        { return i.size }
func (i *memInfo) Mode() fs.FileMode  { return i.mode }
func (i *memInfo) ModTime() time.Time { return i.mtime }
func (i *memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i *memInfo) Sys() any           { return i.sys }
