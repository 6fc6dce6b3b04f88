// Package segmentstest gives tests the golden files that other implementations of the
// format wrote: segments of seven encoders with what is in them, damaged segments
// with verdicts, odd compression framings, whole partition directories of Kafka's
// storage classes and the log directories of a real broker. See testdata/README.md.
//
// Begin with Vectors for the files and their contents, Dir for directories.
package segmentstest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/vectors.tar.gz
var vectorsArchive []byte

//go:embed testdata/broker-4.3.1.tar.gz
var brokerArchive []byte

// The archives are unpacked once a test binary and then only read.
var (
	vectorFiles = sync.OnceValues(func() (map[string][]byte, error) { return unpack(vectorsArchive) })
	brokerFiles = sync.OnceValues(func() (map[string][]byte, error) { return unpack(brokerArchive) })
)

// unpack reads a gzipped tar into memory; directories end with a slash.
func unpack(archive []byte) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			return nil, err
		}
	}
}

// files are those of the archive that name lies in.
func files(t testing.TB, name string) map[string][]byte {
	t.Helper()
	load := vectorFiles
	if name == "broker-4.3.1" || strings.HasPrefix(name, "broker-4.3.1/") {
		load = brokerFiles
	}
	m, err := load()
	if err != nil {
		t.Fatalf("unpack the golden files: %v", err)
	}
	return m
}

// File returns a golden file: "good/single.franz.log", "corrupt/zeros-5.log",
// "dirs.json", "broker-4.3.1/expect/clean/odd-0.jsonl.gz". The bytes are the test's.
func File(t testing.TB, name string) []byte {
	t.Helper()
	data, ok := files(t, name)[name]
	if !ok {
		t.Fatalf("no golden file %s", name)
	}
	return bytes.Clone(data)
}

// Files names the golden files below a directory, in order: "dirs/orders-0".
func Files(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	for name := range files(t, dir) {
		if strings.HasPrefix(name, dir+"/") && !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Dir unpacks a golden directory below t.TempDir and returns its path, which ends
// with the directory's own name: "dirs/orders-0", "broker-4.3.1/clean",
// "broker-4.3.1/killed/txn-0", "good". The test may change it.
func Dir(t testing.TB, name string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), path.Base(name))
	found := false
	for file, data := range files(t, name) {
		rest, ok := strings.CutPrefix(file, name+"/")
		if !ok {
			continue
		}
		found = true
		target := filepath.Join(root, filepath.FromSlash(rest))
		if rest == "" || strings.HasSuffix(rest, "/") {
			mkdir(t, target)
			continue
		}
		mkdir(t, filepath.Dir(target))
		if err := os.WriteFile(target, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Fatalf("no golden directory %s", name)
	}
	return root
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
}

// JSON decodes a golden JSON file, "varint.json", into v.
func JSON(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(File(t, name), v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Shared returns the path of a file or directory of the larger collection that the
// golden files were taken from, "vectors/broker-4.3.1/clean/logs-0". It skips the test
// where the collection is not at hand: KLOG_TEST_SHARED, else ../shared beside the
// project.
func Shared(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("KLOG_TEST_SHARED")
	if dir == "" {
		dir = filepath.Join(projectRoot(t), "..", "shared")
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		t.Skipf("skipped: needs %s (KLOG_TEST_SHARED)", p)
	}
	return p
}

// projectRoot is the directory of go.mod above the test's working directory.
func projectRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}
