package feed

// memory is a large buffer that a worker keeps: aligned and in huge pages where the
// system has them, since a page fault costs more than encoding the bytes of a page.
type memory struct {
	b    []byte // its length is its capacity
	free func() // gives it back; nil for memory of the runtime
}

// plain is a buffer of the Go heap.
func plain(size int) memory { return memory{b: make([]byte, size)} }

// release gives the memory back. Nothing may refer to it any more.
func (m *memory) release() {
	if m.free != nil {
		m.free()
	}
	*m = memory{}
}

// grow makes room for size bytes at least, keeping the first keep.
func (m *memory) grow(size, keep int) {
	if size <= len(m.b) {
		return
	}
	larger := allocate(max(size, 2*len(m.b)))
	copy(larger.b, m.b[:keep])
	m.release()
	*m = larger
}
