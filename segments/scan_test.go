package segments_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// scannerOf reads a whole segment held in memory.
func scannerOf(data []byte, base int64) *segments.Scanner {
	return segments.NewScanner(bytes.NewReader(data), "f.log", base, 0, int64(len(data)), base)
}

// scanAll reads a whole segment and says where the good run ends and why.
func scanAll(s *segments.Scanner) (batches int, reason string, err error) {
	for {
		_, err := s.Next()
		var c *segments.CorruptError
		switch {
		case err == io.EOF:
			return batches, "end", nil
		case errors.As(err, &c):
			return batches, c.Reason, nil
		case err != nil:
			return batches, "", err
		}
		batches++
	}
}

func TestScannerVerdicts(t *testing.T) {
	for _, row := range segmentstest.Vectors(t).Corrupt {
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			s := scannerOf(segmentstest.File(t, row.File), row.SegmentBase)
			n, reason, err := scanAll(s)
			if err != nil {
				t.Fatal(err)
			}
			e := row.Expect
			if n != e.ValidBatches || s.Position() != e.ValidBytes || s.NextOffset() != e.NextOffset || reason != e.StopReason {
				t.Errorf("got %d batches, %d bytes, next offset %d, %q; want %d, %d, %d, %q",
					n, s.Position(), s.NextOffset(), reason, e.ValidBatches, e.ValidBytes, e.NextOffset, e.StopReason)
			}
		})
	}
}

func TestScannerGood(t *testing.T) {
	for _, row := range segmentstest.Vectors(t).Good {
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			data := segmentstest.File(t, row.File)
			for _, mode := range []segments.ScanMode{segments.ScanCRC, segments.ScanNoCRC, segments.ScanHeaders} {
				s := scannerOf(data, row.SegmentBase)
				s.SetMode(mode)
				n, reason, err := scanAll(s)
				if err != nil {
					t.Fatal(err)
				}
				if n != len(row.Batches) || s.Position() != int64(len(data)) || s.NextOffset() != row.NextOffset || reason != "end" {
					t.Errorf("mode %d: got %d batches, %d bytes, next offset %d, %q; want %d, %d, %d, end", mode, n, s.Position(), s.NextOffset(), reason, len(row.Batches), len(data), row.NextOffset)
				}
			}
		})
	}
}

// readerOf reads from memory.
func readerOf(b []byte) io.ReaderAt { return bytes.NewReader(b) }

// growing is a file that a writer changes between the calls of a reader.
type growing struct{ data []byte }

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(g.data).ReadAt(p, off)
}

func TestScannerGoesOnWhenTheFileGrew(t *testing.T) {
	a, b, c := batchOf(t, 0, text(10)), batchOf(t, 1, text(700)), batchOf(t, 2, text(3))
	g := &growing{data: append(a[:len(a):len(a)], b[:30]...)}
	s := segments.NewScanner(g, "f.log", 0, 0, int64(len(g.data)), 0)
	if n, reason, err := scanAll(s); n != 1 || reason != "truncated batch" || err != nil {
		t.Fatalf("got %d batches, %q, %v", n, reason, err)
	}
	// The torn tail was cut and something else written in its place.
	other := batchOf(t, 1, []byte("other"))
	g.data = append(append(a[:len(a):len(a)], other...), c...)
	s.SetEnd(int64(len(g.data)))
	if n, reason, err := scanAll(s); n != 2 || reason != "end" || err != nil || s.Position() != int64(len(g.data)) || s.NextOffset() != 3 {
		t.Errorf("got %d batches, %q, %v, end %d, next offset %d", n, reason, err, s.Position(), s.NextOffset())
	}
}

func TestScannerOfAFileThatShrank(t *testing.T) {
	a := batchOf(t, 0, text(10))
	for cut := range a {
		log := append(a[:len(a):len(a)], a[:cut]...)
		s := segments.NewScanner(bytes.NewReader(log), "f.log", 0, 0, 1<<30, 0)
		n, reason, err := scanAll(s)
		want := "truncated batch"
		if cut == 0 {
			want = "end"
		} else if cut <= 16 {
			want = "truncated header"
		}
		if n != 1 || reason != want || err != nil || s.End() != int64(len(log)) {
			t.Errorf("%d bytes behind the first batch: got %d batches, %q, %v, end %d", cut, n, reason, err, s.End())
		}
	}
}

func TestScannerLargeBatches(t *testing.T) {
	var log []byte
	for i, size := range []int{100, 600 << 10, 5 << 20, 100, 9 << 20, 200 << 10} {
		log = append(log, batchOf(t, int64(i), text(size))...)
	}
	for _, mode := range []segments.ScanMode{segments.ScanCRC, segments.ScanNoCRC, segments.ScanHeaders} {
		s := scannerOf(log, 0)
		s.SetMode(mode)
		if n, reason, err := scanAll(s); n != 6 || reason != "end" || err != nil {
			t.Errorf("mode %d: got %d batches, %q, %v", mode, n, reason, err)
		}
	}
	log[len(log)-300<<10] ^= 1 // in the 9 MiB batch
	if n, reason, err := scanAll(scannerOf(log, 0)); n != 4 || reason != "bad crc" || err != nil {
		t.Errorf("got %d batches, %q, %v", n, reason, err)
	}
}

func TestScannerTellsReadErrors(t *testing.T) {
	s := segments.NewScanner(failingReader{}, "f.log", 0, 0, 1000, 0)
	for range 2 {
		if _, err := s.Next(); err != io.ErrClosedPipe {
			t.Errorf("got %v", err)
		}
	}
}

func TestScannerAllocatesForWhatIsThere(t *testing.T) {
	// A batch that claims 1 GiB, in a sparse file that is large enough.
	h := batchOf(t, 0, text(10))[:61]
	binary.BigEndian.PutUint32(h[8:], 1<<30)
	f := sparse{head: h, size: 2 << 30}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, reason, err := scanAll(segments.NewScanner(f, "f.log", 0, 0, f.size, 0))
	runtime.ReadMemStats(&after)
	if n != 0 || reason != "bad crc" || err != nil {
		t.Errorf("got %d batches, %q, %v", n, reason, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
}

// sparse is a file of zeros behind its head.
type sparse struct {
	head []byte
	size int64
}

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), s.size-off))
	clear(p[:n])
	if off < int64(len(s.head)) {
		copy(p[:n], s.head[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
