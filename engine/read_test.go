package engine_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
	"github.com/klog-project/klog/segments/vfs"
)

// row is a record as the broker's clients saw it.
type row struct {
	Offset  int64       `json:"offset"`
	TS      int64       `json:"ts"`
	TSType  int8        `json:"tstype"`
	Epoch   int32       `json:"epoch"`
	Key     *[]byte     `json:"key"`
	Value   *[]byte     `json:"value"`
	Headers []rowHeader `json:"headers"`
}

type rowHeader struct {
	Key   string  `json:"key"`
	Value *[]byte `json:"value"`
}

func rowOf(r *segments.Record) row {
	x := row{Offset: r.Offset, TS: r.Timestamp, TSType: int8(r.TimestampType), Epoch: r.LeaderEpoch, Key: nullable(r.Key), Value: nullable(r.Value)}
	for _, h := range r.Headers {
		x.Headers = append(x.Headers, rowHeader{string(h.Key), nullable(h.Value)})
	}
	return x
}

func nullable(b []byte) *[]byte {
	if b == nil {
		return nil
	}
	c := bytes.Clone(b)
	return &c
}

// expected reads rows of golden expectations.
func expected(t *testing.T, file string) []row {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(segmentstest.File(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for d := json.NewDecoder(zr); ; {
		var r row
		switch err := d.Decode(&r); {
		case err == io.EOF:
			return rows
		case err != nil:
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

// readAll returns what a bounded reader of the view gives.
func readAll(t testing.TB, v *engine.View) []row {
	t.Helper()
	r, err := v.Reader(engine.ReaderOptions{From: v.Start(), Until: v.End()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []row
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowOf(rec))
	}
}

// Every partition of a real broker, stopped in order or killed, reads as the broker's
// own clients read it, from a copy that may not be written to and is not changed.
func TestBrokerDirectories(t *testing.T) {
	for _, state := range []string{"clean", "killed"} {
		dir := segmentstest.Dir(t, "broker-4.3.1/"+state)
		before := readOnly(t, dir)
		o := engine.Options{FS: unwritable{vfs.OS, t}}
		root, err := engine.Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range segmentstest.Files(t, "broker-4.3.1/expect/"+state) {
			name, _ := strings.CutSuffix(filepath.Base(file), ".jsonl.gz")
			name, committed := strings.CutSuffix(name, ".committed")
			t.Run(state+"/"+filepath.Base(file), func(t *testing.T) {
				want := expected(t, file)
				topic, number, _ := segments.ParsePartitionDir(name)
				opened, err := root.Topic(topic)
				if err != nil {
					t.Fatal(err)
				}
				p, err := opened.Partition(number)
				if err != nil {
					t.Fatal(err)
				}
				bare, err := engine.OpenPartitionDir(filepath.Join(dir, name), o)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []*engine.Partition{p, bare} {
					v, err := p.View(engine.ViewOptions{Committed: committed})
					if err != nil {
						t.Fatal(err)
					}
					sameRows(t, want, readAll(t, v))
				}
			})
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Errorf("%s was changed (-before +after):\n%s", state, diff)
		}
	}
}

// sameRows reports the first record that differs.
func sameRows(t testing.TB, want, got []row) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("record %d (-want +got):\n%.2000s", i, cmp.Diff(want[i], got[i]))
			return
		}
	}
}

// unwritable is a file system that a reader must not try to change.
type unwritable struct {
	vfs.FS
	t testing.TB
}

func (u unwritable) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		u.t.Errorf("%s opened for writing", name)
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.OpenFile(name, flag, perm)
}

func (u unwritable) refuse(op, name string) error {
	u.t.Errorf("%s of %s", op, name)
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
}

func (u unwritable) Mkdir(name string, _ fs.FileMode) error     { return u.refuse("mkdir", name) }
func (u unwritable) Rename(name, _ string) error                { return u.refuse("rename", name) }
func (u unwritable) Link(name, _ string) error                  { return u.refuse("link", name) }
func (u unwritable) Remove(name string) error                   { return u.refuse("remove", name) }
func (u unwritable) Chmod(name string, _ fs.FileMode) error     { return u.refuse("chmod", name) }
func (u unwritable) Chown(name string, _, _ int) error          { return u.refuse("chown", name) }
func (u unwritable) SyncDir(name string) error                  { return u.refuse("sync", name) }
func (u unwritable) OpenLock(name string) (vfs.LockFile, error) { return nil, u.refuse("lock", name) }

// readOnly takes away all permission to write below dir and returns its contents.
func readOnly(t *testing.T, dir string) map[string]string {
	t.Helper()
	before := snapshot(t, dir)
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			dirs = append(dirs, path)
			return nil
		}
		return os.Chmod(path, 0o444)
	})
	for _, d := range dirs {
		err = errors.Join(err, os.Chmod(d, 0o555))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, d := range dirs {
			os.Chmod(d, 0o755)
		}
	})
	return before
}

// snapshot is every file below dir with its bytes.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
