package vfs

import "slices"

// A dirOp is one operation on names, done and not yet durable. It is durable whole or
// not at all, whatever number of directories it touches.
type dirOp struct{ slots []slot }

// A slot is the change of one name in one directory.
type slot struct {
	dir  *node
	name string
	from *node // what was there, nil for nothing
	to   *node
}

// record does an operation and remembers that it is not durable.
func (s *memState) record(slots ...slot) {
	for _, c := range slots {
		if c.from != nil {
			c.from.links--
		}
		if c.to != nil {
			c.to.links++
			c.dir.entries[c.name] = c.to
		} else {
			delete(c.dir.entries, c.name)
		}
		c.dir.mtime = s.now()
	}
	s.ops = append(s.ops, &dirOp{slots})
}

// syncDir makes every operation that touches dir durable.
func (s *memState) syncDir(dir *node) {
	var left []*dirOp
	for _, op := range s.ops {
		if !op.touches(dir) {
			left = append(left, op)
			continue
		}
		for _, c := range op.slots {
			c.apply(c.dir.durable)
			// What was done to the name before, and was waiting for the other
			// directory, is overtaken.
			for _, earlier := range left {
				earlier.forget(c.dir, c.name)
			}
		}
	}
	s.ops = slices.DeleteFunc(left, func(op *dirOp) bool { return len(op.slots) == 0 })
}

func (op *dirOp) touches(dir *node) bool {
	return slices.ContainsFunc(op.slots, func(c slot) bool { return c.dir == dir })
}

func (op *dirOp) forget(dir *node, name string) {
	op.slots = slices.DeleteFunc(op.slots, func(c slot) bool { return c.dir == dir && c.name == name })
}

// apply changes names, those of the slot's directory, as the slot says.
func (c slot) apply(names map[string]*node) {
	switch {
	case c.to != nil:
		names[c.name] = c.to
	case names[c.name] == c.from:
		delete(names, c.name)
	}
}
