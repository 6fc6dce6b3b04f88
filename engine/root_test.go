package engine_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

func newRoot(t *testing.T) *engine.Root {
	t.Helper()
	r, err := engine.Create(filepath.Join(t.TempDir(), "root"), engine.Options{LockTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reopen opens the root as another process would.
func reopen(t *testing.T, r *engine.Root) *engine.Root {
	t.Helper()
	again, err := engine.Create(r.Dir(), engine.Options{LockTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func mustTopic(t *testing.T, r *engine.Root, name string) *engine.Topic {
	t.Helper()
	topic, err := r.Topic(name)
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func mustTopics(t *testing.T, r *engine.Root) []string {
	t.Helper()
	names, err := r.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOpenCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := engine.Open(dir, engine.Options{})
	if !errors.Is(err, engine.ErrNoRoot) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
}

func TestCreateMakesRootForTheGroup(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	dir := filepath.Join(t.TempDir(), "above", "root")
	r, err := engine.Create(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, r, "t", engine.TopicSpec{})
	for name, want := range map[string]fs.FileMode{
		"": 0o770 | fs.ModeDir, ".klog": 0o770 | fs.ModeDir, ".klog/lock": 0o660, ".klog/topics": 0o770 | fs.ModeDir, ".klog/topics/t.t": 0o660,
		"meta.properties": 0o660, "t-0": 0o770 | fs.ModeDir, "t-0/00000000000000000000.log": 0o660, "t-0/.klog/lock": 0o660,
	} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, fi.Mode(), want)
		}
	}
	m, err := r.Meta()
	if err != nil {
		t.Fatal(err)
	}
	if m.NodeID != 1 || len(m.ClusterID) != 22 || len(m.DirectoryID) != 22 || m.ClusterID == m.DirectoryID {
		t.Errorf("meta.properties says %+v", m)
	}
}

func TestCreateSurvivesKillAndPowerCut(t *testing.T) {
	fresh := func() *vfs.Mem {
		m := vfs.NewMem()
		if err := vfs.Mkdir(m, "/srv"); err != nil {
			t.Fatal(err)
		}
		if err := m.SyncDir("/"); err != nil {
			t.Fatal(err)
		}
		return m
	}
	var m *vfs.Mem
	for f := range vfs.EachKill(func() vfs.FS { m = fresh(); return m }, durably) {
		_, err := engine.Create(sweepRoot, engine.Options{FS: f})
		if (err == nil) != (f.Fired() == nil) {
			t.Fatalf("killed at %+v: %v", f.Fired(), err)
		}
		for disk := range m.Crashes(6) {
			if err == nil {
				if b, err := vfs.ReadFile(disk, sweepRoot+"/.klog/version"); err != nil || string(b) != "1\n" {
					t.Fatalf("%s: %q, %v", disk.Origin(), b, err)
				}
			}
			r := openSweep(t, disk)
			mustCreate(t, r, "t", engine.TopicSpec{})
			if m, err := r.Meta(); err != nil || m.NodeID != 1 || len(m.ClusterID) != 22 {
				t.Fatalf("killed at %+v, %s: meta %+v, %v", f.Fired(), disk.Origin(), m, err)
			}
		}
	}
}

func TestNewerRootIsReadAndNotWritten(t *testing.T) {
	r := newRoot(t)
	topic := mustCreate(t, r, "t", engine.TopicSpec{})
	if _, err := topic.Config(); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(r.Dir(), ".klog", "version")
	if err := os.WriteFile(version, []byte("99\n"), 0o660); err != nil {
		t.Fatal(err)
	}
	var tooNew *engine.TooNewError
	if _, err := engine.Create(r.Dir(), engine.Options{}); !errors.As(err, &tooNew) || tooNew.Need != 99 {
		t.Errorf("create: %v", err)
	}
	if _, err := r.CreateTopic(t.Context(), "u", engine.TopicSpec{}); !errors.Is(err, engine.ErrTooNew) {
		t.Errorf("a program that has run for long: %v", err)
	}
	if _, err := r.DeleteTopic(t.Context(), "t", false); !errors.Is(err, engine.ErrTooNew) {
		t.Errorf("delete: %v", err)
	}
	ro, err := engine.Open(r.Dir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mustTopic(t, ro, "t").Config(); err != nil {
		t.Errorf("reading: %v", err)
	}
	eventually(t, "a writer that has run for long notices", func() bool {
		_, err := topic.Config()
		return errors.Is(err, engine.ErrTooNew)
	})
}

// eventually waits until something holds: writers look at a config every few ms, and at
// files that are edited by hand every second.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestUpgradeIsNoticed(t *testing.T) {
	r := newRoot(t)
	topic := mustCreate(t, r, "t", engine.TopicSpec{})
	if _, err := topic.Config(); err != nil {
		t.Fatal(err)
	}
	if err := engine.RaiseVersion(t.Context(), reopen(t, r), engine.FormatVersion+1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a running writer notices", func() bool {
		_, err := topic.Config()
		return errors.Is(err, engine.ErrTooNew)
	})
}

func TestRootWithoutStateWorks(t *testing.T) {
	r := newRoot(t)
	made := mustCreate(t, r, "t", engine.TopicSpec{Partitions: 3})
	if err := os.RemoveAll(filepath.Join(r.Dir(), ".klog")); err != nil {
		t.Fatal(err)
	}
	ro, err := engine.Open(r.Dir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	topic := mustTopic(t, ro, "t")
	if topic.HasEntry() || topic.Partitions() != 3 || topic.ID() != made.ID() {
		t.Errorf("entry %v, %d partitions, id %v", topic.HasEntry(), topic.Partitions(), topic.ID())
	}
	r = reopen(t, r)
	if topic, err = r.AlterTopic(t.Context(), "t", engine.Alteration{}); err != nil {
		t.Fatal(err)
	}
	if !topic.HasEntry() || topic.ID() != made.ID() {
		t.Errorf("after alter: entry %v, id %v", topic.HasEntry(), topic.ID())
	}
}

func TestG040ForeignFilesAreIgnored(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{})
	for _, name := range []string{"lost+found", "tmp", ".snapshot", "t-00", "t-x", "-1", "t-1.0123456789abcdef0123456789abcdef-delete", "t-2147483648"} {
		if err := os.Mkdir(filepath.Join(r.Dir(), name), 0o770); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".nfs0001", ".DS_Store", "README", "file-0", "t-0/notes.txt"} {
		if err := os.WriteFile(filepath.Join(r.Dir(), name), []byte("x"), 0o660); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"t"}, mustTopics(t, r)); d != "" {
		t.Error(d)
	}
	if n := mustTopic(t, r, "t").Partitions(); n != 1 {
		t.Errorf("%d partitions", n)
	}
	if d := mustDeleted(t, r); len(d) != 0 {
		t.Errorf("deleted topics: %v", d)
	}
	deleted, err := r.DeleteTopic(t.Context(), "t", true)
	if err != nil || deleted.Name != "t" {
		t.Fatal(deleted, err)
	}
	var kept []string
	for _, name := range []string{"lost+found", "tmp", ".nfs0001", "README", "t-00", "t-1.0123456789abcdef0123456789abcdef-delete"} {
		if _, err := os.Stat(filepath.Join(r.Dir(), name)); err == nil {
			kept = append(kept, name)
		}
	}
	if len(kept) != 6 {
		t.Errorf("kept only %v", kept)
	}
	left, err := filepath.Glob(filepath.Join(r.Dir(), "t-0.*-delete", "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "notes.txt" {
		t.Errorf("left of the topic: %v, %v", left, err)
	}
}

func TestKafkaLogDirIsReadable(t *testing.T) {
	shared := os.Getenv("KLOG_TEST_SHARED")
	if shared == "" {
		shared = "../../shared"
	}
	from := filepath.Join(shared, "vectors", "broker-4.3.1", "clean")
	if _, err := os.Stat(from); err != nil {
		t.Skip("no golden files of a broker: ", err)
	}
	dir := filepath.Join(t.TempDir(), "log.dir")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	before := fileList(t, dir)
	r, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := mustTopics(t, r)
	if !slices.Contains(names, "logs") || !slices.Contains(names, "__consumer_offsets") {
		t.Errorf("topics: %v", names)
	}
	logs := mustTopic(t, r, "logs")
	if logs.Partitions() != 3 || logs.HasEntry() || logs.ID().IsZero() {
		t.Errorf("logs: %d partitions, entry %v, id %v", logs.Partitions(), logs.HasEntry(), logs.ID())
	}
	trimmed, err := mustTopic(t, r, "trimmed").Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	start, err := trimmed.LogStart()
	if err != nil || start == 0 {
		t.Errorf("trimmed starts at %d, %v", start, err)
	}
	bare, err := engine.OpenPartitionDir(trimmed.Dir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bare.LogStart(); again != start || err != nil {
		t.Errorf("as a bare directory it starts at %d, %v", again, err)
	}
	if _, err := mustTopic(t, r, "odd").Config(); err != nil {
		t.Error(err)
	}
	if m, err := r.Meta(); err != nil || m.NodeID != 1 || m.DirectoryID != "Gi9ROR2kJCP9D_OEZj8Q8g" {
		t.Errorf("%+v, %v", m, err)
	}
	if d := cmp.Diff(before, fileList(t, dir)); d != "" {
		t.Errorf("reading changed: %s", d)
	}
}

func fileList(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		files = append(files, path+" "+fi.Mode().String()+" "+fi.ModTime().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestHoldKafkaLock is not a test: it is the other process of TestRunningBrokerKeepsWritersOut.
func TestHoldKafkaLock(t *testing.T) {
	path := os.Getenv("KLOG_TEST_HOLD")
	if path == "" {
		t.Skip("only as a child of another test")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

func TestRunningBrokerKeepsWritersOut(t *testing.T) {
	r := newRoot(t)
	topic := mustCreate(t, r, "t", engine.TopicSpec{})
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHoldKafkaLock$")
	child.Env = append(os.Environ(), "KLOG_TEST_HOLD="+filepath.Join(r.Dir(), ".lock"))
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	var locked *engine.LockedError
	if _, err := engine.Create(r.Dir(), engine.Options{}); !errors.As(err, &locked) || locked.Holder.PID != child.Process.Pid {
		t.Errorf("create: %v", err)
	}
	if _, err := r.CreateTopic(t.Context(), "u", engine.TopicSpec{}); !errors.As(err, &locked) {
		t.Errorf("create topic: %v", err)
	}
	if _, err := engine.Open(r.Dir(), engine.Options{}); err != nil {
		t.Errorf("reading: %v", err)
	}
	if _, err := topic.Config(); err != nil {
		t.Errorf("config: %v", err)
	}
	in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Create(r.Dir(), engine.Options{}); err != nil {
		t.Errorf("once it has ended: %v", err)
	}
}
