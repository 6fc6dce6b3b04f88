package segments_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/segments"
)

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
	v := loadVectors(t)
	if len(v.Corrupt) < 50 {
		t.Fatalf("got %d corrupt vectors, want more than 50", len(v.Corrupt))
	}
	for _, row := range v.Corrupt {
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			for _, mode := range []segments.ScanMode{segments.ScanCRC} {
				data := v.read(t, row.File)
				s := segments.NewScanner(bytesReaderAt(data), row.File, row.Base, 0, int64(len(data)), row.Base)
				s.SetMode(mode)
				n, reason, err := scanAll(s)
				if err != nil {
					t.Fatal(err)
				}
				e := row.Expect
				if n != e.Batches || s.Position() != e.Bytes || s.NextOffset() != e.Next || reason != e.Reason {
					t.Errorf("got %d batches, %d bytes, next offset %d, %q; want %d, %d, %d, %q", n, s.Position(), s.NextOffset(), reason, e.Batches, e.Bytes, e.Next, e.Reason)
				}
			}
		})
	}
}

func TestScannerGood(t *testing.T) {
	v := loadVectors(t)
	for _, row := range v.Good {
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			data := v.read(t, row.File)
			for _, mode := range []segments.ScanMode{segments.ScanCRC, segments.ScanNoCRC, segments.ScanHeaders} {
				s := segments.NewScanner(bytesReaderAt(data), row.File, row.Base, 0, int64(len(data)), row.Base)
				s.SetMode(mode)
				n, reason, err := scanAll(s)
				if err != nil {
					t.Fatal(err)
				}
				if n != len(row.Batches) || s.Position() != int64(len(data)) || s.NextOffset() != row.Next || reason != "end" {
					t.Errorf("mode %d: got %d batches, %d bytes, next offset %d, %q; want %d, %d, %d, end", mode, n, s.Position(), s.NextOffset(), reason, len(row.Batches), len(data), row.Next)
				}
			}
		})
	}
}
