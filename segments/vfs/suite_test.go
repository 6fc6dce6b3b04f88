package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/klog-project/klog/segments/vfs"
)

// onEach runs a test on every file system, in a directory that exists.
func onEach(t *testing.T, test func(t *testing.T, fsys vfs.FS, dir string)) {
	mem := func(t *testing.T) *vfs.Mem {
		m := vfs.NewMem()
		must(t, m.Mkdir("/d", 0o755))
		return m
	}
	t.Run("os", func(t *testing.T) { test(t, vfs.OS, t.TempDir()) })
	t.Run("mem", func(t *testing.T) { test(t, mem(t), "/d") })
	t.Run("fault", func(t *testing.T) { test(t, vfs.NewFault(mem(t), nil), "/d") })
	t.Run("lenient", func(t *testing.T) {
		test(t, vfs.Lenient(vfs.OS, func(err error) { t.Error(err) }), t.TempDir())
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes a file as a program does that does not care for durability.
func put(t *testing.T, fsys vfs.FS, name, data string) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	must(t, err)
	_, err = f.WriteAt([]byte(data), 0)
	must(t, err)
	must(t, f.Close())
}

// get reads a file, or says why not.
func get(fsys vfs.FS, name string) string {
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return errno(err)
	}
	return string(b)
}

// errno is the innermost word of an error.
func errno(err error) string {
	if e := syscall.Errno(0); errors.As(err, &e) {
		return e.Error()
	}
	for _, known := range []error{fs.ErrClosed, io.EOF, vfs.ErrPowerCut, vfs.ErrKilled, vfs.ErrLocked} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return "unknown error: " + err.Error()
	}
	return ""
}

func TestEveryErrorIsTheSame(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		at := func(name string) string { return filepath.Join(dir, name) }
		put(t, fsys, at("file"), "x")
		must(t, fsys.Mkdir(at("sub"), 0o755))
		put(t, fsys, at("sub/inner"), "y")
		must(t, fsys.Mkdir(at("empty"), 0o755))
		open := func(name string, flag int) error {
			f, err := fsys.OpenFile(at(name), flag, 0o600)
			if err == nil {
				f.Close()
			}
			return err
		}
		_, readDir := fsys.ReadDir(at("file"))
		_, stat := fsys.Stat(at("file/below"))
		_, lock := fsys.OpenLock(at("sub"))
		for what, c := range map[string]struct {
			got  error
			want error
		}{
			"open missing":          {open("none", os.O_RDWR), syscall.ENOENT},
			"create in missing":     {open("none/x", os.O_RDWR|os.O_CREATE), syscall.ENOENT},
			"create exclusively":    {open("file", os.O_RDWR|os.O_CREATE|os.O_EXCL), syscall.EEXIST},
			"open directory to rw":  {open("sub", os.O_RDWR), syscall.EISDIR},
			"open directory":        {open("sub", os.O_RDONLY), nil},
			"open file as one":      {open("file", os.O_RDONLY|syscall.O_DIRECTORY), syscall.ENOTDIR},
			"open below file":       {open("file/x", os.O_RDONLY), syscall.ENOTDIR},
			"mkdir existing":        {fsys.Mkdir(at("sub"), 0o755), syscall.EEXIST},
			"mkdir in missing":      {fsys.Mkdir(at("none/x"), 0o755), syscall.ENOENT},
			"remove missing":        {fsys.Remove(at("none")), syscall.ENOENT},
			"remove full":           {fsys.Remove(at("sub")), syscall.ENOTEMPTY},
			"rename missing":        {fsys.Rename(at("none"), at("x")), syscall.ENOENT},
			"rename file onto dir":  {fsys.Rename(at("file"), at("sub")), syscall.EISDIR},
			"rename dir onto file":  {fsys.Rename(at("sub"), at("file")), syscall.ENOTDIR},
			"rename dir onto full":  {fsys.Rename(at("empty"), at("sub")), syscall.ENOTEMPTY},
			"rename dir into self":  {fsys.Rename(at("sub"), at("sub/x")), syscall.EINVAL},
			"rename onto itself":    {fsys.Rename(at("file"), at("file")), nil},
			"link onto existing":    {fsys.Link(at("file"), at("sub/inner")), syscall.EEXIST},
			"link missing":          {fsys.Link(at("none"), at("x")), syscall.ENOENT},
			"link directory":        {fsys.Link(at("sub"), at("x")), syscall.EPERM},
			"list file":             {readDir, syscall.ENOTDIR},
			"stat below file":       {stat, syscall.ENOTDIR},
			"chmod missing":         {fsys.Chmod(at("none"), 0o600), syscall.ENOENT},
			"chown missing":         {fsys.Chown(at("none"), 0, 0), syscall.ENOENT},
			"sync file as dir":      {fsys.SyncDir(at("file")), syscall.ENOTDIR},
			"sync missing dir":      {fsys.SyncDir(at("none")), syscall.ENOENT},
			"lock a directory":      {lock, syscall.EISDIR},
			"open with empty name":  {func() error { _, err := fsys.OpenFile("", 0, 0); return err }(), syscall.ENOENT},
			"mkdir all over a file": {vfs.MkdirAll(fsys, at("file/x/y")), syscall.ENOTDIR},
			"mkdir all of a file":   {vfs.MkdirAll(fsys, at("file")), syscall.ENOTDIR},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: got %v, want %v", what, c.got, c.want)
			}
		}
	})
}

func TestEveryFileErrorIsTheSame(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "file")
		put(t, fsys, name, "content")
		r, err := fsys.OpenFile(name, os.O_RDONLY, 0)
		must(t, err)
		w, err := fsys.OpenFile(name, os.O_WRONLY, 0)
		must(t, err)
		d, err := fsys.OpenFile(dir, os.O_RDONLY, 0)
		must(t, err)
		defer d.Close()
		b := make([]byte, 4)
		check := func(what string, got, want error) {
			t.Helper()
			if !errors.Is(got, want) {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
		_, err = w.ReadAt(b, 0)
		check("read of one for writing", err, syscall.EBADF)
		_, err = r.WriteAt(b, 0)
		check("write of one for reading", err, syscall.EBADF)
		check("truncate of one for reading", r.Truncate(0), syscall.EINVAL)
		check("truncate below zero", w.Truncate(-1), syscall.EINVAL)
		_, err = d.ReadAt(b, 0)
		check("read of a directory", err, syscall.EISDIR)
		_, err = r.ReadAt(b, 5)
		check("read over the end", err, io.EOF)
		_, err = r.ReadAt(b, 500)
		check("read beyond the end", err, io.EOF)
		check("sync of one for reading", r.Sync(), nil)
		check("close", r.Close(), nil)
		check("close again", r.Close(), fs.ErrClosed)
		check("close", w.Close(), nil)
		_, err = r.ReadAt(b, 0)
		check("read when closed", err, fs.ErrClosed)
		check("sync when closed", w.Sync(), fs.ErrClosed)
		_, err = w.Stat()
		check("stat when closed", err, fs.ErrClosed)
	})
}

func TestRemovedFileLivesOnWhileOpen(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "file")
		f, err := vfs.OpenOrCreate(fsys, name)
		must(t, err)
		defer f.Close()
		must(t, fsys.Remove(name))
		put(t, fsys, name, "another")
		_, err = f.WriteAt([]byte("mine"), 0)
		must(t, err)
		if got := get(fsys, name); got != "another" {
			t.Errorf("the new file: %q", got)
		}
		there, err := fsys.Stat(name)
		must(t, err)
		mine, err := f.Stat()
		must(t, err)
		if vfs.SameFile(there, mine) || !vfs.SameFile(mine, mine) {
			t.Error("SameFile does not tell them apart")
		}
	})
}

func TestCreateAndMkdirAll(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		deep := filepath.Join(dir, "a/b/c")
		must(t, vfs.MkdirAll(fsys, deep))
		must(t, vfs.MkdirAll(fsys, deep))
		f, err := vfs.Create(fsys, filepath.Join(deep, "f"))
		must(t, err)
		must(t, f.Close())
		if _, err := vfs.Create(fsys, filepath.Join(deep, "f")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create of what exists: %v", err)
		}
		if _, err := vfs.OpenOrCreate(fsys, filepath.Join(dir, "no/f")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("OpenOrCreate in a directory that does not exist: %v", err)
		}
		if err := vfs.Mkdir(fsys, deep); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Mkdir of what exists: %v", err)
		}
	})
}
