package segments

import (
	"errors"
	"io"

	"github.com/klog-project/klog/segments/vfs"
)

// AbortFilter tells which batches a reader of committed records does not see: control
// batches and those of aborted transactions. Whether a transaction was aborted stands
// in its marker, which lies behind its records, so the filter reads ahead as far as it
// has to: not at all in a log without transactions. It trusts no index.
//
// The batches that it is asked about rise. A nil filter hides control batches only,
// which is how uncommitted records are read.
type AbortFilter struct {
	l     *Log
	ahead *LogReader
	// marks are the markers that were met ahead and not yet passed, by producer, rising.
	marks map[int64][]txnMark
}

type txnMark struct {
	offset  int64
	aborted bool
}

// AbortFilter returns a filter for batches below the last stable offset: of each of
// their transactions the marker is in the log, perhaps behind that offset. A transaction
// without marker counts as aborted.
func (l *Log) AbortFilter() *AbortFilter {
	return &AbortFilter{l: l, marks: make(map[int64][]txnMark)}
}

// Close closes the file that the filter reads ahead in.
func (f *AbortFilter) Close() {
	if f != nil && f.ahead != nil {
		f.ahead.Close()
	}
}

// Park closes the file until it is needed again.
func (f *AbortFilter) Park() {
	if f != nil && f.ahead != nil {
		f.ahead.Park()
	}
}

// Hides reports whether the batch's records are not to be seen. Errors are those of
// reading ahead; damage met there is passed over.
func (f *AbortFilter) Hides(b Batch) (bool, error) {
	switch {
	case f == nil:
		return b.Control(), nil
	case b.Control():
		f.forget(b.ProducerID, b.LastOffset())
		return true, nil
	case !b.Transactional():
		return false, nil
	}
	if f.ahead == nil {
		f.ahead = f.l.headerReader(b.LastOffset() + 1)
	}
	for {
		// The reading ahead may still be in front of the batch, where the markers of the
		// producer's earlier transactions are.
		f.forget(b.ProducerID, b.LastOffset())
		if m := f.marks[b.ProducerID]; len(m) > 0 {
			return m[0].aborted, nil
		}
		more, err := f.readAhead()
		if err != nil || !more {
			return true, err
		}
	}
}

// forget drops the producer's markers up to offset.
func (f *AbortFilter) forget(producer, offset int64) {
	m, ok := f.marks[producer]
	for len(m) > 0 && m[0].offset <= offset {
		m = m[1:]
	}
	switch {
	case !ok:
	case len(m) == 0:
		delete(f.marks, producer)
	default:
		f.marks[producer] = m
	}
}

// readAhead takes one more batch into account; more is false at the end of the log.
func (f *AbortFilter) readAhead() (more bool, err error) {
	b, err := f.ahead.Next()
	switch {
	case err == io.EOF:
		return false, nil
	case err != nil:
		return true, f.ahead.skip(err)
	case !b.Control():
		return true, nil
	}
	if m, ok, err := f.ahead.marker(b); err != nil {
		return false, err
	} else if ok {
		f.marks[b.ProducerID] = append(f.marks[b.ProducerID], txnMark{b.BaseOffset, m.Type == AbortMarker})
	}
	return true, nil
}

// StableEnd finds the last stable offset of a log as it grows: the first offset of the
// oldest transaction that has no marker yet, or the end of the log. Readers of
// committed records stop there.
type StableEnd struct {
	l    *Log
	r    *LogReader
	open map[int64]int64 // first offset of each open transaction, by producer
}

// StableEnd begins at the newest producer snapshot at or below end that is whole, else
// at the start of the log.
func (l *Log) StableEnd(end int64) (*StableEnd, error) {
	s := &StableEnd{l: l, open: make(map[int64]int64)}
	from, err := s.load(end)
	if err != nil {
		return nil, err
	}
	s.r = l.headerReader(from)
	return s, nil
}

// Close closes the file that it reads.
func (s *StableEnd) Close() { s.r.Close() }

// Park closes the file until it is needed again.
func (s *StableEnd) Park() { s.r.Park() }

// At is the last stable offset of the log that ends at end, MaxInt64 for its present
// end; end does not fall from call to call. Damage is passed over.
func (s *StableEnd) At(end int64) (int64, error) {
	for s.r.Offset() < end {
		b, err := s.r.Next()
		switch {
		case err == io.EOF:
			return s.oldest(min(end, s.r.Offset())), nil
		case err != nil:
			if err := s.r.skip(err); err != nil {
				return 0, err
			}
			continue
		}
		if err := s.take(b); err != nil {
			return 0, err
		}
	}
	return s.oldest(end), nil
}

// take takes note of a batch whose header alone was read.
func (s *StableEnd) take(b Batch) error {
	if b.ProducerID < 0 || !b.Transactional() {
		return nil
	}
	if b.Control() {
		_, ok, err := s.r.marker(b)
		if ok {
			delete(s.open, b.ProducerID)
		}
		return err
	}
	if _, ok := s.open[b.ProducerID]; ok {
		return nil
	}
	ok, err := checkCRCAt(openFile{s.r}, b.Position, b.BatchHeader, make([]byte, min(scanBuffer, b.Size())))
	if ok {
		s.open[b.ProducerID] = b.BaseOffset
	}
	return orNothing(err)
}

func (s *StableEnd) oldest(end int64) int64 {
	for _, first := range s.open {
		end = min(end, first)
	}
	return end
}

// load takes the open transactions from the newest usable snapshot and returns the
// offset that it speaks for. Each roll leaves one named by the new segment, and an
// orderly stop one named by the end.
func (s *StableEnd) load(end int64) (int64, error) {
	for at := end; at > 0; {
		ok, err := s.loadSnapshot(at)
		if ok || err != nil {
			return at, err
		}
		seg, ok, err := s.l.segmentAt(at - 1)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		at = seg.Base
	}
	return s.l.Start(), nil
}

// loadSnapshot takes the open transactions from the snapshot named by offset. One that
// is missing, damaged or of an unknown version is as good as none: an older one and
// the log behind it say the same.
func (s *StableEnd) loadSnapshot(offset int64) (bool, error) {
	name := s.l.path(offset, SnapshotSuffix)
	info, err := s.l.fs.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, passOver(err)
	}
	data, err := vfs.ReadFile(s.l.fs, name)
	if err != nil {
		return false, passOver(err)
	}
	producers, err := ParseSnapshot(data)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownVersion) {
		return false, nil
	}
	for _, p := range producers {
		if p.TxnFirstOffset >= 0 {
			s.open[p.ProducerID] = p.TxnFirstOffset
		}
	}
	return err == nil, err
}

// headerReader is a reader of headers: Next checks no checksum, and of a large batch
// reads no more than that.
func (l *Log) headerReader(from int64) *LogReader {
	r := l.Reader(from)
	r.scan.SetMode(ScanHeaders)
	return r
}

// marker reads the marker in a control batch of which a headerReader has read the
// header. ok is false if there is none, or none that can be read: damage is named when
// the batch itself is.
func (r *LogReader) marker(b Batch) (m Marker, ok bool, err error) {
	const largest = 4 << 10 // a marker has some 80 bytes
	if b.Size() > largest {
		return Marker{}, false, nil
	}
	raw := make([]byte, b.Size())
	if err := readFullAt(openFile{r}, raw, b.Position); err != nil {
		return Marker{}, false, orNothing(err)
	}
	whole, err := ParseBatch(raw, b.Position)
	if err != nil || !whole.CheckCRC() {
		return Marker{}, false, nil
	}
	m, ok, _ = readMarker(whole)
	return m, ok, nil
}

// orNothing makes no error of a file that ended or was replaced meanwhile: what it held
// is met again, or is gone.
func orNothing(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == errReplaced {
		return nil
	}
	return err
}
