//go:build fuse && linux

package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/engine/fusetest"
	"github.com/klog-project/klog/segments/vfs"
)

// cached is how a mount is used to be: attributes and pages are kept for a while.
var cached = fusetest.Options{Attributes: time.Minute, Pages: true, Locks: true}

// twoMounts are two mounts of one directory.
func twoMounts(t *testing.T, o fusetest.Options) (a, b *fusetest.Mount) {
	dir := t.TempDir()
	return fusetest.New(t, dir, o), fusetest.New(t, dir, o)
}

func TestFuseIsShared(t *testing.T) {
	m := fusetest.New(t, t.TempDir(), fusetest.Options{})
	got, err := vfs.FSType(m.Dir)
	if err != nil || got.Name != fusetest.Type || !got.Shared {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFuseCachesAreReal proves the rig: what it is to prove about klog would prove
// nothing on mounts that cache nothing.
func TestFuseCachesAreReal(t *testing.T) {
	a, b := twoMounts(t, cached)
	name := "f"
	if err := os.WriteFile(filepath.Join(a.Dir, name), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.OpenFile(filepath.Join(b.Dir, name), os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() != 3 {
		t.Fatalf("%v, %v", fi, err)
	}
	if err := os.WriteFile(filepath.Join(a.Dir, name), []byte("one and two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fi, err := f.Stat(); err != nil || fi.Size() != 3 {
		t.Errorf("the size is not cached: %d, %v", fi.Size(), err)
	}
	buf := make([]byte, 20)
	if n, _ := f.ReadAt(buf, 0); string(buf[:n]) != "one" {
		t.Errorf("reads %q", buf[:n])
	}
	if n, err := vfs.FreshSize(f); err != nil || n != 11 {
		t.Errorf("the fresh size is %d, %v", n, err)
	}
	if n, _ := f.ReadAt(buf, 0); string(buf[:n]) != "one and two" {
		t.Errorf("then it reads %q", buf[:n])
	}
}

func TestFuseDoctorOnTwoMounts(t *testing.T) {
	for name, c := range map[string]struct {
		o   fusetest.Options
		bad []string
	}{
		"attributes and pages cached": {cached, nil},
		"nothing cached":              {fusetest.Options{Locks: true}, nil},
		"locks of each mount's own": {
			fusetest.Options{Attributes: time.Minute, Pages: true},
			[]string{"locks beta"},
		},
		"names cached": {
			fusetest.Options{Attributes: time.Minute, Names: time.Minute, Pages: true, Locks: true},
			[]string{"replaced-file beta", "new-file beta"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := twoMounts(t, c.o)
			o := engine.DoctorOptions{Start: startHelper, Peer: startHelper, PeerDir: b.Dir, PeerName: "beta"}
			r, err := engine.EnableShared(t.Context(), a.Dir, o)
			if err != nil {
				t.Fatal(err)
			}
			bad := verdicts(r, engine.Bad)
			for _, want := range c.bad {
				if !strings.Contains(strings.Join(bad, "\n"), want) {
					t.Errorf("%s is not found:\n%s", want, report(t, r))
				}
			}
			if c.bad == nil && bad != nil {
				t.Errorf("found %v:\n%s", bad, report(t, r))
			}
			if r.Enabled != (c.bad == nil) {
				t.Errorf("enabled: %v", r.Enabled)
			}
			allowed, err := engine.SharedAllowed(vfs.OS, b.Dir, fusetest.Type)
			if err != nil || allowed != (c.bad == nil) {
				t.Errorf("allowed: %v, %v", allowed, err)
			}
			emptied(t, a.Dir)
		})
	}
}

func TestFuseSharedRootIsWrittenOnlyWhenEnabled(t *testing.T) {
	m := fusetest.New(t, t.TempDir(), cached)
	dir := filepath.Join(m.Dir, "root")
	_, err := engine.Create(dir, engine.Options{})
	var shared *engine.SharedFSError
	if !errors.As(err, &shared) || shared.FS != fusetest.Type {
		t.Fatalf("before: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	r, err := engine.EnableShared(t.Context(), dir, engine.DoctorOptions{Start: startHelper})
	if err != nil || !r.Enabled {
		t.Fatalf("%v:\n%s", err, report(t, r))
	}
	if notes := strings.Join(verdicts(r, engine.Note), " "); !strings.Contains(notes, "other-host") {
		t.Errorf("that no other host took part is not said: %s", notes)
	}
	if _, err := engine.Create(dir, engine.Options{}); err != nil {
		t.Errorf("after: %v", err)
	}
	// What another program wrote into the record is kept, what is known is not doubled.
	record := filepath.Join(dir, ".klog", "shared")
	b, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, append(b, "later=thing\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := engine.EnableShared(t.Context(), dir, engine.DoctorOptions{Start: startHelper}); err != nil || !r.Enabled {
		t.Fatalf("again: %v:\n%s", err, report(t, r))
	}
	b, err = os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(string(b)) {
		key, _, _ := strings.Cut(line, "=")
		keys = append(keys, key)
	}
	if diff := cmp.Diff([]string{"file.systems", "tested", "peer", "later"}, keys); diff != "" ||
		!strings.Contains(string(b), "file.systems="+fusetest.Type+"\n") {
		t.Errorf("%s\n%s", diff, b)
	}
}

func TestG016FuseDoctorFindsADiskThatCannotSync(t *testing.T) {
	m := fusetest.New(t, t.TempDir(), fusetest.Options{Locks: true})
	m.FailAlways(fusetest.Sync, syscall.EIO)
	r, err := engine.Doctor(t.Context(), m.Dir, engine.DoctorOptions{Start: startHelper})
	if err != nil {
		t.Fatal(err)
	}
	if bad := strings.Join(verdicts(r, engine.Bad), " "); !strings.Contains(bad, "fsync") || m.Calls(fusetest.Sync) == 0 {
		t.Errorf("not found:\n%s", report(t, r))
	}
}

func TestG018FuseDirectorySyncMayBeMissing(t *testing.T) {
	m := fusetest.New(t, t.TempDir(), fusetest.Options{Locks: true})
	m.FailAlways(fusetest.SyncDir, syscall.EINVAL)
	r, err := engine.Doctor(t.Context(), m.Dir, engine.DoctorOptions{Start: startHelper})
	if err != nil || !r.Fit() {
		t.Errorf("%v:\n%s", err, report(t, r))
	}
	if notes := strings.Join(verdicts(r, engine.Note), " "); !strings.Contains(notes, "fsync-directory") {
		t.Errorf("not said:\n%s", report(t, r))
	}
}
