package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

func TestFSType(t *testing.T) {
	for path, want := range map[string]vfs.Type{
		"/dev/shm": {Name: "tmpfs"},
		// Of these klog knows nothing; the name is that of the mount.
		"/proc": {Name: "proc", Shared: true},
		"/sys":  {Name: "sysfs", Shared: true},
	} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		got, err := vfs.FSType(path)
		if (got.Options != "") != want.Shared {
			t.Errorf("%s: options %q", path, got.Options)
		}
		got.Options = ""
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", path, got, err, want)
		}
	}
	if _, err := vfs.FSType("/proc/no/such/thing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	if got, err := vfs.FSType(t.TempDir()); err != nil || got.Name == "" {
		t.Errorf("of the directory for temporary files: %+v, %v", got, err)
	}
}

func TestFSTypeOfMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	for _, name := range []string{"tmpfs", "ramfs"} {
		if out, err := exec.Command("mount", "-t", name, "none", dir).CombinedOutput(); err != nil {
			t.Skipf("cannot mount %s: %s", name, out)
		}
		got, err := vfs.FSType(dir)
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Fatalf("umount: %s", out)
		}
		if err != nil || got != (vfs.Type{Name: name}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestSpace(t *testing.T) {
	free, total, err := vfs.Space(t.TempDir())
	if err != nil || free == 0 || total < free {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
	if _, _, err := vfs.Space("/no/such/thing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestBoot(t *testing.T) {
	id, err := vfs.BootID()
	if err != nil || id == "" || strings.ContainsAny(id, "\n ") {
		t.Errorf("boot id %q, %v", id, err)
	}
	if again, _ := vfs.BootID(); again != id {
		t.Errorf("boot id %q, then %q", id, again)
	}
	boot, err := vfs.BootTime()
	if err != nil || boot.Before(time.Unix(1e9, 0)) {
		t.Errorf("booted at %v, %v", boot, err)
	}
}

func TestAdviseIsHarmless(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := dir + "/f"
		put(t, fsys, name, "content")
		f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
		must(t, err)
		defer f.Close()
		for _, a := range []vfs.Advice{vfs.Sequential, vfs.Random, vfs.WillNeed, vfs.DontNeed} {
			vfs.Advise(f, 0, 0, a)
		}
		if got := get(fsys, name); got != "content" {
			t.Errorf("%q", got)
		}
	})
}

func TestFreshSize(t *testing.T) {
	onEach(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := dir + "/f"
		put(t, fsys, name, "content")
		f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
		must(t, err)
		put(t, fsys, name, "more content")
		if n, err := vfs.FreshSize(f); n != 12 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		must(t, f.Close())
		if _, err := vfs.FreshSize(f); err == nil {
			t.Error("the size of a closed file")
		}
	})
}
