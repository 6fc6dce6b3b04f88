package segments

// seekWorth is the size of a segment from which on its index is asked: less is read at
// once anyway.
const seekWorth = 64 << 10

// seekInSegment finds the place of the wanted offset in the segment just opened. An
// index is derived data: it may be missing, empty, preallocated with zeros, damaged, or
// from another time. Each of its answers is only a place to look at, good if a whole
// batch begins there that ends where the entry says it does, at the most. After a few
// that are not, the segment is read from its first byte.
func (r *LogReader) seekInSegment() {
	if r.want <= r.seg.base || r.scan.End() <= seekWorth {
		return
	}
	f, err := openRegular(r.l.fs, r.l.path(r.seg.base, IndexSuffix))
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	const tries = 3
	target := r.want
	for range tries {
		e, ok, err := LookupOffset(f, info.Size(), r.seg.base, target)
		if err != nil || !ok {
			break
		}
		if r.beginsAt(e) {
			r.seg.viaIndex = true
			return
		}
		target = e.Offset - 1
	}
	r.scan.Resume(0, r.seg.base)
}

// beginsAt reports whether the scan may begin at e, and makes it begin there.
func (r *LogReader) beginsAt(e OffsetEntry) bool {
	if e.Position >= r.scan.End() {
		return false
	}
	mode := r.scan.mode
	r.scan.SetMode(ScanCRC)
	r.scan.Resume(e.Position, r.seg.base)
	b, err := r.scan.Next()
	r.scan.SetMode(mode)
	if err != nil || b.LastOffset() > e.Offset {
		return false
	}
	r.scan.Resume(e.Position, b.BaseOffset)
	return true
}
