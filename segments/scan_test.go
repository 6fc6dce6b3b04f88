package segments_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
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
