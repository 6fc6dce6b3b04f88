package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// helperEnv makes TestDoctorHelperProcess the other process of a Doctor.
const helperEnv = "KLOG_TEST_DOCTOR_HELPER"

func TestDoctorHelperProcess(t *testing.T) {
	if os.Getenv(helperEnv) == "" {
		t.Skip("is the other process of other tests")
	}
	if err := engine.DoctorHelper(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// startHelper runs the test binary as the other process.
func startHelper(ctx context.Context) (*engine.Helper, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, "-test.run=^TestDoctorHelperProcess$")
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	return engine.StartHelper(cmd)
}

// verdicts are name and verdict of each check, those of one kind in one line.
func verdicts(r engine.Report, want engine.Verdict) []string {
	var names []string
	for _, c := range r.Checks {
		if c.Verdict == want {
			names = append(names, strings.TrimSpace(c.Name+" "+c.With))
		}
	}
	return names
}

func report(t *testing.T, r engine.Report) string {
	t.Helper()
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-16s %-5s %-5s %s\n", c.Name, c.With, c.Verdict, c.Detail)
	}
	return b.String()
}

// emptied fails the test if a Doctor left something behind.
func emptied(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".klog-doctor.") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestDoctorFindsALocalDirectoryFit(t *testing.T) {
	dir := t.TempDir()
	r, err := engine.Doctor(t.Context(), dir, engine.DoctorOptions{Start: startHelper})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Fit() {
		t.Errorf("not fit:\n%s", report(t, r))
	}
	var names []string
	for _, c := range r.Checks {
		names = append(names, c.Name)
		if c.Detail == "" || strings.Contains(c.Detail, "\n") {
			t.Errorf("%s says %q", c.Name, c.Detail)
		}
	}
	want := []string{
		"file-system", "permissions", "file-numbers", "truncate", "fsync", "fsync-directory", "open-files",
		"locks", "lock-of-killed", "append", "rename", "replaced-file", "new-file", "inotify",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	emptied(t, dir)
}

func TestDoctorWithAPeer(t *testing.T) {
	// The peer sees the directory under another name.
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r, err := engine.Doctor(t.Context(), dir, engine.DoctorOptions{
		Start: startHelper, Peer: startHelper, PeerDir: link, PeerName: "beta",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"locks beta", "lock-of-killed beta", "append beta", "rename beta", "replaced-file beta", "new-file beta"}
	var got []string
	for _, n := range verdicts(r, engine.Good) {
		if strings.HasSuffix(n, " beta") && !strings.HasPrefix(n, "inotify") {
			got = append(got, n)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, report(t, r))
	}
	emptied(t, dir)
}

// failing is the real file system with one kind of operation failing.
func failing(kind vfs.Kind, err error) vfs.FS {
	return vfs.NewFault(vfs.OS, func(c vfs.Call) error {
		if c.Kind == kind {
			return err
		}
		return nil
	})
}

func TestDoctorSaysWhatFallsShort(t *testing.T) {
	for _, c := range []struct {
		kind vfs.Kind
		err  error
		bad  []string
		note []string
	}{
		{vfs.KindSync, syscall.EINVAL, []string{"fsync", "replaced-file"}, nil},
		{vfs.KindSync, syscall.EIO, []string{"fsync", "append", "replaced-file"}, nil},
		{vfs.KindSyncDir, syscall.EINVAL, nil, []string{"fsync-directory"}},
		{vfs.KindSyncDir, syscall.EIO, []string{"fsync-directory", "replaced-file"}, nil},
		{vfs.KindChmod, syscall.EPERM, nil, []string{"permissions"}},
		{vfs.KindTruncate, syscall.EIO, []string{"truncate"}, nil},
		{vfs.KindLock, syscall.ENOLCK, []string{"locks", "lock-of-killed", "append"}, nil},
		{vfs.KindRename, syscall.EIO, []string{"rename", "replaced-file"}, nil},
	} {
		t.Run(fmt.Sprintf("%s %v", c.kind, c.err), func(t *testing.T) {
			dir := t.TempDir()
			o := engine.DoctorOptions{Start: startHelper}
			o.FS = failing(c.kind, c.err)
			r, err := engine.Doctor(t.Context(), dir, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.bad, verdicts(r, engine.Bad)); diff != "" {
				t.Errorf("bad: %s\n%s", diff, report(t, r))
			}
			if r.Fit() != (len(c.bad) == 0) {
				t.Errorf("fit: %v", r.Fit())
			}
			for _, name := range c.note {
				if got := strings.Join(verdicts(r, engine.Note), " "); !strings.Contains(got, name) {
					t.Errorf("no note of %s:\n%s", name, report(t, r))
				}
			}
			emptied(t, dir)
		})
	}
}

// liar is a file system whose locks always succeed and exclude nobody.
type liar struct{ vfs.FS }

func (l liar) OpenLock(name string) (vfs.LockFile, error) {
	f, err := l.FS.OpenFile(name, os.O_RDWR, 0)
	return liarLock{f}, err
}

type liarLock struct{ vfs.File }

func (liarLock) Lock() error            { return nil }
func (liarLock) TryLock() (bool, error) { return true, nil }
func (liarLock) Unlock() error          { return nil }

func TestDoctorFindsLocksThatExcludeNobody(t *testing.T) {
	o := engine.DoctorOptions{Start: startHelper}
	o.FS = liar{vfs.OS}
	r, err := engine.Doctor(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	if bad := verdicts(r, engine.Bad); len(bad) == 0 || bad[0] != "locks" {
		t.Errorf("not found:\n%s", report(t, r))
	}
}

func TestDoctorErrors(t *testing.T) {
	broken := errors.New("no such program")
	for name, c := range map[string]struct {
		dir   string
		start func(context.Context) (*engine.Helper, error)
		want  string
	}{
		"no directory": {"none", startHelper, "no such root"},
		"no program":   {"", func(context.Context) (*engine.Helper, error) { return nil, broken }, "no such program"},
		"another program": {"", func(ctx context.Context) (*engine.Helper, error) {
			return engine.StartHelper(exec.CommandContext(ctx, "echo", "welcome"))
		}, "the other process has ended"},
		"a silent program": {"", func(ctx context.Context) (*engine.Helper, error) {
			return engine.StartHelper(exec.CommandContext(ctx, "cat"))
		}, "did not answer within"},
	} {
		dir := t.TempDir()
		_, err := engine.Doctor(t.Context(), filepath.Join(dir, c.dir), engine.DoctorOptions{Start: c.start, Patience: 50 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		emptied(t, dir)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if _, err := engine.Doctor(ctx, t.TempDir(), engine.DoctorOptions{Start: startHelper}); !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDoctorRemovesWhatAKilledRunLeft(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, ".klog-doctor.old"), filepath.Join(dir, ".klog-doctor.young")
	for _, d := range []string{old, young} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Doctor(t.Context(), dir, engine.DoctorOptions{Start: startHelper}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the one in use is gone: %v", err)
	}
}

// TestDoctorHelperTouchesOnlyItsDirectory asks for what it must not do: the hidden
// command is there for everybody.
func TestDoctorHelperTouchesOnlyItsDirectory(t *testing.T) {
	dir := t.TempDir()
	bench := filepath.Join(dir, ".klog-doctor.x")
	if err := os.Mkdir(bench, 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(lines ...string) []string {
		var out bytes.Buffer
		if err := engine.DoctorHelper(strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
	}
	enter := fmt.Sprintf("enter %q", bench)
	for _, lines := range [][]string{
		{`put "a" "x"`},
		{fmt.Sprintf("enter %q", dir)},
		{fmt.Sprintf("enter %q", filepath.Join(dir, ".klog-doctor.none"))},
		{enter, `put "../a" "x"`},
		{enter, `put ".." "x"`},
		{enter, `put "/tmp/a" "x"`},
		{enter, `put "" "x"`},
		{enter, `appends "a" "../b" "t" "0" "1"`},
		{enter, `erase "a"`},
		{enter, `put a`},
		{enter, `storm "a" "many"`},
		{enter, ``},
	} {
		answers := ask(lines...)
		if last := answers[len(answers)-1]; !strings.HasPrefix(last, "error ") {
			t.Errorf("%q: %q", lines, last)
		}
	}
	if got := ask(enter, `put "a" "x\ny"`, `get "a"`); got[2] != `ok "x\ny"` {
		t.Errorf("%q", got)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestEnableSharedOnALocalFileSystemRecordsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	r, err := engine.EnableShared(t.Context(), dir, engine.DoctorOptions{Start: startHelper})
	if err != nil {
		t.Fatal(err)
	}
	if r.FS.Shared {
		t.Skipf("%s is a shared file system here", dir)
	}
	if !r.Fit() || r.Enabled {
		t.Errorf("fit %v, enabled %v", r.Fit(), r.Enabled)
	}
	if _, err := os.Stat(filepath.Join(dir, ".klog", "shared")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a record: %v", err)
	}
}

func TestSharedAllowedReadsTheRecord(t *testing.T) {
	for text, want := range map[string]bool{
		"file.systems=nfs\n":                             true,
		"later=thing\nfile.systems=cifs,nfs\ntested=x\n": true,
		"file.systems=cifs\n":                            false,
		"file.systems=\n":                                false,
		"":                                               false,
		"nfs":                                            false,
		"file.systems=nfs4":                              false,
		"#file.systems=nfs\nfile.systems.more=nfs\ngarbage": false,
	} {
		m := vfs.NewMem()
		if err := vfs.MkdirAll(m, "/r/.klog"); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(m, "/r/.klog/shared", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := engine.SharedAllowed(m, "/r", "nfs"); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := engine.SharedAllowed(vfs.NewMem(), "/none", "nfs"); got || err != nil {
		t.Errorf("no root: %v, %v", got, err)
	}
}
