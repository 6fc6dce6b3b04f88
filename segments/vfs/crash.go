package vfs

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// Crash cuts the power and returns what the disk may hold afterwards, drawn by seed:
// everything that was synced, and of the rest any part. Each operation on names
// survived or did not, a rename whole, and none that moves something without what put
// it there. Each page of a file is as it was after any one of the writes since the
// last sync, or before them; the size likewise, for itself: zeros where a page was
// lost, and an old page behind a new one, are possible, as with a disk that writes
// back in any order.
//
// From then on every use of m and of what is open in it fails with ErrPowerCut; Crash
// and Crashes may be called again and start from the same moment. The new Mem has m's
// user and clock, all it holds is durable, and nothing is locked.
func (m *Mem) Crash(seed uint64) *Mem {
	m.cut()
	p := m.plan(&drawn{r: rand.New(rand.NewPCG(seed, 0x6b6c6f67))})
	return m.build(p, fmt.Sprintf("crash with seed %d", seed))
}

// Crashes cuts the power and goes through what the disk may hold afterwards: all of
// it where that is no more than limit states, else limit of them, among which are
// the one without anything unsynced and the one with everything.
func (m *Mem) Crashes(limit int) iter.Seq[*Mem] {
	m.cut()
	return func(yield func(*Mem) bool) {
		n := m.CrashStates(limit)
		if n > limit {
			m.someCrashes(limit, yield)
			return
		}
		var c counted
		for i := 1; ; i++ {
			if !yield(m.build(m.plan(&c), fmt.Sprintf("crash state %d of %d", i, n))) || !c.advance() {
				return
			}
		}
	}
}

func (m *Mem) someCrashes(limit int, yield func(*Mem) bool) {
	for i := range limit {
		var after *Mem
		switch i {
		case 0:
			after = m.build(m.plan(fixed(false)), "crash that kept nothing unsynced")
		case 1:
			after = m.build(m.plan(fixed(true)), "crash that kept everything")
		default:
			after = m.Crash(uint64(i))
		}
		if !yield(after) {
			return
		}
	}
}

// CrashStates counts the states that a power cut now could leave, up to limit+1. It
// cuts nothing.
func (m *Mem) CrashStates(limit int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var c counted
	n := 1
	for m.planLocked(&c); n <= limit && c.advance(); n++ {
		m.planLocked(&c)
	}
	return n
}

// Origin says which crash m came from, for the message of a test that fails.
func (m *Mem) Origin() string { return m.origin }

func (m *Mem) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = true
	m.unlock.Broadcast()
}

// A chooser decides what survives.
type chooser interface {
	// group says that choices about another thing follow: the names, or one file.
	group()
	// pick returns a number below n: 0 for the state on disk, n-1 for the last one.
	pick(n int) int
}

// drawn picks by chance. A group survives whole, not at all, or in parts, so that the
// states without which few bugs show are drawn often, however many choices there are.
type drawn struct {
	r    *rand.Rand
	mood int
}

func (d *drawn) group() { d.mood = d.r.IntN(4) }

func (d *drawn) pick(n int) int {
	switch d.mood {
	case 0:
		return 0
	case 1:
		return n - 1
	}
	return d.r.IntN(n)
}

// fixed picks always the last state, or always the one on disk.
type fixed bool

func (fixed) group() {}

func (last fixed) pick(n int) int {
	if last {
		return n - 1
	}
	return 0
}

// counted goes through all choices as an odometer does; later ones, and how many
// there are, may depend on earlier ones.
type counted struct {
	digits []int
	limits []int
	used   int
}

func (c *counted) group() {}

func (c *counted) pick(n int) int {
	if c.used == len(c.digits) {
		c.digits = append(c.digits, 0)
		c.limits = append(c.limits, 0)
	}
	c.limits[c.used] = n
	c.used++
	return c.digits[c.used-1]
}

// advance goes to the next combination and reports whether there is one.
func (c *counted) advance() bool {
	defer func() { c.used = 0 }()
	for i := c.used - 1; i >= 0; i-- {
		if c.digits[i]+1 < c.limits[i] {
			c.digits[i]++
			c.digits, c.limits = c.digits[:i+1], c.limits[:i+1]
			return true
		}
	}
	return false
}

// A plan is one state that a crash may leave.
type plan struct {
	names map[*node]map[string]*node // of each directory that has a name
	files map[*node]filePlan         // of each file that has one
}

type filePlan struct {
	size  int64
	pages map[int64]int // for each dirty page, how many of its edits are there
}

func (m *Mem) plan(c chooser) plan {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.planLocked(c)
}

func (s *memState) planLocked(c chooser) plan {
	p := plan{names: make(map[*node]map[string]*node), files: make(map[*node]filePlan)}
	c.group()
	for _, op := range s.ops {
		if c.pick(2) == 1 {
			p.apply(op)
		}
	}
	kept := p.names
	p.names = make(map[*node]map[string]*node)
	p.visit(s.root, kept, c)
	return p
}

// apply does an operation to what is on disk.
func (p *plan) apply(op *dirOp) {
	for _, c := range op.slots {
		if p.names[c.dir] == nil {
			p.names[c.dir] = maps.Clone(c.dir.durable)
		}
	}
	// A move of something that is not there, because what put it there did not
	// survive, cannot have survived either.
	if from := op.slots[0]; len(op.slots) == 2 && p.names[from.dir][from.name] != from.from {
		return
	}
	for _, c := range op.slots {
		c.apply(p.names[c.dir])
	}
}

// visit decides about the files in and below dir, in order of their names.
func (p *plan) visit(dir *node, kept map[*node]map[string]*node, c chooser) {
	names := kept[dir]
	if names == nil {
		names = dir.durable
	}
	p.names[dir] = names
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := names[name]
		if n.isDir() {
			p.visit(n, kept, c)
			continue
		}
		if _, done := p.files[n]; !done {
			p.files[n] = n.planFile(c)
		}
	}
}

func (n *node) planFile(c chooser) filePlan {
	f := filePlan{size: n.durableSize, pages: make(map[int64]int, len(n.dirty))}
	c.group()
	if len(n.sizes) > 0 {
		if i := c.pick(len(n.sizes) + 1); i > 0 {
			f.size = n.sizes[i-1]
		}
	}
	for _, i := range slices.Sorted(maps.Keys(n.dirty)) {
		if i*pageSize < f.size {
			f.pages[i] = c.pick(len(n.dirty[i].edits) + 1)
		}
	}
	return f
}

// build makes the Mem that p describes.
func (m *Mem) build(p plan, origin string) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &memState{now: m.now, lastIno: m.lastIno, origin: origin}
	s.unlock.L = &s.mu
	b := builder{plan: p, made: make(map[*node]*node)}
	s.root = b.node(m.root)
	s.root.links = 1
	return &Mem{memState: s, who: m.who}
}

type builder struct {
	plan plan
	made map[*node]*node // a file with two names is made once
}

func (b *builder) node(old *node) *node {
	if n := b.made[old]; n != nil {
		return n
	}
	n := &node{ino: old.ino, mode: old.mode, uid: old.uid, gid: old.gid, mtime: old.mtime}
	b.made[old] = n
	if !old.isDir() {
		b.fill(n, old)
		return n
	}
	n.entries = make(map[string]*node)
	for name, child := range b.plan.names[old] {
		c := b.node(child)
		c.links++
		n.entries[name] = c
	}
	n.durable = maps.Clone(n.entries)
	return n
}

// fill gives n the content of old that survived. Pages that are the same are shared:
// the first edit of a clean page copies it.
func (b *builder) fill(n, old *node) {
	f := b.plan.files[old]
	n.size, n.durableSize = f.size, f.size
	n.dirty = make(map[int64]*page)
	n.pages = make(map[int64]*page)
	for i, p := range old.pages {
		if i*pageSize >= f.size {
			continue
		}
		cur := p.cur
		if old.dirty[i] != nil {
			cur = p.at(f.pages[i])
		}
		if end := f.size - i*pageSize; end < pageSize {
			cur = slices.Clone(cur)
			clear(cur[end:])
		}
		n.pages[i] = &page{cur: cur}
	}
}
