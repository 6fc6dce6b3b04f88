package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/segments/vfs"
	"pgregory.net/rapid"
)

// TestMemBehavesAsTheSystemDoes does random operations to both and compares.
func TestMemBehavesAsTheSystemDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "vfs")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &twins{t: t, mem: vfs.NewMem(), dir: dir}
		defer m.close()
		t.Repeat(map[string]func(*rapid.T){
			"open":     m.open,
			"write":    m.write,
			"read":     m.read,
			"truncate": m.truncate,
			"mkdir":    m.mkdir,
			"rename":   m.rename,
			"link":     m.link,
			"remove":   m.remove,
			"":         m.compare,
		})
	})
}

// twins are a Mem and a directory that are to stay equal.
type twins struct {
	t     *rapid.T
	mem   *vfs.Mem
	dir   string
	files []twinFile
}

type twinFile struct{ mem, real vfs.File }

func (w *twins) name(t *rapid.T, label string) (mem, real string) {
	name := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a"}).Draw(t, label)
	return "/" + name, filepath.Join(w.dir, name)
}

func (w *twins) same(what string, mem, real error) {
	if errno(mem) != errno(real) {
		w.t.Fatalf("%s: in memory %v, in truth %v", what, mem, real)
	}
}

func (w *twins) open(t *rapid.T) {
	mem, real := w.name(t, "name")
	flag := rapid.SampledFrom([]int{
		os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_EXCL,
		os.O_RDWR | os.O_TRUNC, os.O_RDWR | os.O_CREATE | os.O_TRUNC,
	}).Draw(t, "flag")
	a, aerr := w.mem.OpenFile(mem, flag, 0o644)
	b, berr := vfs.OS.OpenFile(real, flag, 0o644)
	w.same("open", aerr, berr)
	if aerr == nil {
		w.files = append(w.files, twinFile{a, b})
	}
}

func (w *twins) file(t *rapid.T) twinFile {
	if len(w.files) == 0 {
		t.Skip("nothing open")
	}
	return w.files[rapid.IntRange(0, len(w.files)-1).Draw(t, "file")]
}

func (w *twins) write(t *rapid.T) {
	f := w.file(t)
	off := rapid.Int64Range(0, 20_000).Draw(t, "off")
	b := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(0, 9000).Draw(t, "len"))
	n, err := f.mem.WriteAt(b, off)
	n2, err2 := f.real.WriteAt(b, off)
	w.same("write", err, err2)
	if n != n2 {
		t.Fatalf("wrote %d and %d", n, n2)
	}
}

func (w *twins) read(t *rapid.T) {
	f := w.file(t)
	off := rapid.Int64Range(0, 30_000).Draw(t, "off")
	size := rapid.IntRange(0, 9000).Draw(t, "len")
	a, b := make([]byte, size), make([]byte, size)
	n, err := f.mem.ReadAt(a, off)
	n2, err2 := f.real.ReadAt(b, off)
	w.same("read", err, err2)
	if n != n2 || !bytes.Equal(a[:n], b[:n]) {
		t.Fatalf("read %d bytes and %d, or others", n, n2)
	}
}

func (w *twins) truncate(t *rapid.T) {
	f := w.file(t)
	size := rapid.Int64Range(0, 20_000).Draw(t, "size")
	w.same("truncate", f.mem.Truncate(size), f.real.Truncate(size))
	w.same("sync", f.mem.Sync(), f.real.Sync())
}

func (w *twins) mkdir(t *rapid.T) {
	mem, real := w.name(t, "name")
	w.same("mkdir", w.mem.Mkdir(mem, 0o755), vfs.OS.Mkdir(real, 0o755))
}

func (w *twins) rename(t *rapid.T) {
	mem, real := w.name(t, "from")
	mem2, real2 := w.name(t, "to")
	a, b := w.mem.Rename(mem, mem2), vfs.OS.Rename(real, real2)
	// Of two reasons to refuse, file systems do not agree which comes first.
	if (a == nil) != (b == nil) {
		t.Fatalf("rename %s to %s: in memory %v, in truth %v", mem, mem2, a, b)
	}
}

func (w *twins) link(t *rapid.T) {
	mem, real := w.name(t, "from")
	mem2, real2 := w.name(t, "to")
	a, b := w.mem.Link(mem, mem2), vfs.OS.Link(real, real2)
	if (a == nil) != (b == nil) {
		t.Fatalf("link %s to %s: in memory %v, in truth %v", mem, mem2, a, b)
	}
}

func (w *twins) remove(t *rapid.T) {
	mem, real := w.name(t, "name")
	w.same("remove", w.mem.Remove(mem), vfs.OS.Remove(real))
}

// compare lists both and looks into every file.
func (w *twins) compare(t *rapid.T) {
	if a, b := tree(t, w.mem, "/"), tree(t, vfs.OS, w.dir); a != b {
		t.Fatalf("in memory:\n%s\nin truth:\n%s", a, b)
	}
}

func tree(t *rapid.T, fsys vfs.FS, dir string) string {
	var b strings.Builder
	var walk func(dir, prefix string)
	walk = func(dir, prefix string) {
		list, err := fsys.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			name := filepath.Join(dir, e.Name())
			if e.IsDir() {
				b.WriteString(prefix + e.Name() + "/\n")
				walk(name, prefix+" ")
				continue
			}
			fi, err := fsys.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			data := get(fsys, name)
			if int64(len(data)) != fi.Size() {
				t.Fatalf("%s: %d bytes read, size %d", name, len(data), fi.Size())
			}
			b.WriteString(prefix + e.Name() + " " + data + "\n")
		}
	}
	walk(dir, "")
	return b.String()
}

func (w *twins) close() {
	for _, f := range w.files {
		f.real.Close()
	}
}

func TestMemSparseFileCostsOnlyItsPages(t *testing.T) {
	m := vfs.NewMem()
	f, err := vfs.OpenOrCreate(m, "/big")
	must(t, err)
	must(t, f.Truncate(1<<50))
	_, err = f.WriteAt([]byte("end"), 1<<50-3)
	must(t, err)
	b := make([]byte, 6)
	n, err := f.ReadAt(b, 1<<50-6)
	if n != 6 || err != nil && err != io.EOF || string(b) != "\x00\x00\x00end" {
		t.Errorf("%d %v %q", n, err, b)
	}
	must(t, f.Sync())
}

func TestMemTimes(t *testing.T) {
	m := vfs.NewMem()
	now := time.Unix(1000, 0)
	m.SetClock(func() time.Time { return now })
	put(t, m, "/a", "x")
	fi, err := m.Stat("/a")
	must(t, err)
	if !fi.ModTime().Equal(now) {
		t.Errorf("written at %v", fi.ModTime())
	}
	must(t, m.Chtimes("/a", time.Unix(5, 0)))
	fi, err = m.Crash(1).Stat("/")
	must(t, err)
	if !fi.IsDir() {
		t.Error("the root directory is lost")
	}
}

func TestMemPermissions(t *testing.T) {
	root := vfs.NewMem()
	must(t, root.Mkdir("/d", 0o755))
	must(t, root.Chown("/d", 1, 10))
	must(t, root.Chmod("/d", 0o750))
	must(t, root.Chmod("/", 0o755))
	owner, member, other := root.As(1, 1), root.As(2, 2, 10), root.As(3)

	put(t, owner, "/d/f", "secret")
	must(t, owner.Chmod("/d/f", 0o640))
	must(t, owner.Chown("/d/f", -1, 1))
	for who, c := range map[string]struct {
		fsys vfs.FS
		want string
	}{"owner": {owner, "secret"}, "member": {member, "permission denied"}, "other": {other, "permission denied"}} {
		if got := get(c.fsys, "/d/f"); got != c.want {
			t.Errorf("%s reads %q", who, got)
		}
	}
	for what, err := range map[string]error{
		"member creates":           member.Mkdir("/d/x", 0o755),
		"member removes":           member.Remove("/d/f"),
		"member renames":           member.Rename("/d/f", "/d/g"),
		"other stats":              func() error { _, err := other.Stat("/d/f"); return err }(),
		"member chmods":            member.Chmod("/d/f", 0o666),
		"owner gives it away":      owner.Chown("/d/f", 2, -1),
		"owner takes a group":      owner.Chown("/d/f", -1, 10),
		"other syncs directory":    other.SyncDir("/d"),
		"other opens lock":         func() error { _, err := other.OpenLock("/d/f"); return err }(),
		"other lists":              func() error { _, err := other.ReadDir("/d"); return err }(),
		"member links":             member.Link("/d/f", "/d/h"),
		"member opens for writing": func() error { _, err := member.OpenFile("/d/f", os.O_RDWR, 0); return err }(),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMemStickyDirectory(t *testing.T) {
	root := vfs.NewMem()
	must(t, root.Chmod("/", 0o755))
	must(t, root.Mkdir("/tmp", 0o777))
	must(t, root.Chmod("/tmp", 0o777|fs.ModeSticky))
	alice, bob := root.As(1), root.As(2)
	put(t, alice.Umask(0), "/tmp/f", "alice")
	must(t, alice.Chmod("/tmp/f", 0o666))
	if err := bob.Remove("/tmp/f"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("remove: %v", err)
	}
	for who, fsys := range map[string]vfs.FS{"bob": bob, "root": root} {
		_, err := fsys.OpenFile("/tmp/f", os.O_RDWR|os.O_CREATE, 0o666)
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s opens with O_CREATE: %v", who, err)
		}
		f, err := vfs.OpenOrCreate(fsys, "/tmp/f")
		if err != nil {
			t.Errorf("%s: %v", who, err)
			continue
		}
		f.Close()
	}
}
