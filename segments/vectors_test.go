package segments_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// vectors is the index of the golden files, as far as these tests need it.
type vectors struct {
	dir     string
	Good    []goodVector    `json:"good"`
	Corrupt []corruptVector `json:"corrupt"`
}

type goodVector struct {
	File    string            `json:"file"`
	Base    int64             `json:"segment_base_offset"`
	Next    int64             `json:"next_offset"`
	Batches []json.RawMessage `json:"batches"`
}

type corruptVector struct {
	File   string `json:"file"`
	Base   int64  `json:"segment_base_offset"`
	Expect struct {
		Batches int    `json:"valid_batches"`
		Bytes   int64  `json:"valid_bytes"`
		Next    int64  `json:"next_offset"`
		Reason  string `json:"stop_reason"`
	} `json:"expect"`
}

// sharedDir is a folder of the vectors that lie outside of the project, or skips.
func sharedDir(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("KLOG_TEST_SHARED")
	if root == "" {
		root = "../../shared"
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no %s: set KLOG_TEST_SHARED", dir)
	}
	return dir
}

func loadVectors(t testing.TB) *vectors {
	t.Helper()
	v := &vectors{dir: sharedDir(t, "vectors")}
	b, err := os.ReadFile(filepath.Join(v.dir, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *vectors) read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(v.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func bytesReaderAt(b []byte) io.ReaderAt { return bytes.NewReader(b) }
