package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

const sweepRoot = "/srv/klog"

// change is an operation on topics that must happen wholly or not at all, whatever is
// done to the process or the disk.
type change struct {
	name    string
	prepare func(t *testing.T, r *engine.Root) // what is there before
	do      func(ctx context.Context, r *engine.Root) error
}

func changes() []change {
	three := engine.TopicSpec{Partitions: 3, Config: map[string]string{"retention.ms": "7d"}}
	create := func(t *testing.T, r *engine.Root) { mustCreate(t, r, "orders", three) }
	return []change{
		{"create", func(*testing.T, *engine.Root) {}, func(ctx context.Context, r *engine.Root) error {
			_, err := r.CreateTopic(ctx, "orders", three)
			return err
		}},
		{"grow", create, func(ctx context.Context, r *engine.Root) error {
			_, err := r.AlterTopic(ctx, "orders", engine.Alteration{Partitions: 5, Set: map[string]string{"segment.bytes": "1MiB"}})
			return err
		}},
		{"alter", create, func(ctx context.Context, r *engine.Root) error {
			_, err := r.AlterTopic(ctx, "orders", engine.Alteration{Set: map[string]string{"segment.bytes": "1MiB"}, Unset: []string{"retention.ms"}})
			return err
		}},
		{"delete", withLogStart(create), func(ctx context.Context, r *engine.Root) error {
			_, err := r.DeleteTopic(ctx, "orders", false)
			return err
		}},
		{"delete now", create, func(ctx context.Context, r *engine.Root) error {
			_, err := r.DeleteTopic(ctx, "orders", true)
			return err
		}},
		{"undelete", func(t *testing.T, r *engine.Root) {
			withLogStart(create)(t, r)
			if _, err := r.DeleteTopic(t.Context(), "orders", false); err != nil {
				t.Fatal(err)
			}
		}, func(ctx context.Context, r *engine.Root) error {
			_, err := r.UndeleteTopic(ctx, "orders")
			return err
		}},
		{"rename", withLogStart(create), func(ctx context.Context, r *engine.Root) error {
			_, err := r.RenameTopic(ctx, "orders", "bills")
			return err
		}},
		{"adopt in the root", func(t *testing.T, r *engine.Root) {
			mustCreate(t, r, "copy", engine.TopicSpec{Partitions: 2})
			forgetEntry(t, r, "copy")
			if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "copy", 1, 8); err != nil {
				t.Fatal(err)
			}
		}, func(ctx context.Context, r *engine.Root) error {
			_, err := r.AdoptTopic(ctx, sweepRoot+"/copy-0", engine.AdoptOptions{As: "orders"})
			return err
		}},
		{"adopt from outside", func(t *testing.T, r *engine.Root) {}, func(ctx context.Context, r *engine.Root) error {
			_, err := r.AdoptTopic(ctx, "/media/backup", engine.AdoptOptions{As: "orders"})
			return err
		}},
	}
}

func withLogStart(prepare func(*testing.T, *engine.Root)) func(*testing.T, *engine.Root) {
	return func(t *testing.T, r *engine.Root) {
		prepare(t, r)
		if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "orders", 1, 41); err != nil {
			t.Fatal(err)
		}
	}
}

// forgetEntry makes a topic one of those that only have directories.
func forgetEntry(t *testing.T, r *engine.Root, name string) {
	t.Helper()
	fsys := engine.FS(r)
	if err := fsys.Remove(r.Dir() + "/.klog/topics/" + name + ".t"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.SyncDir(r.Dir() + "/.klog/topics"); err != nil {
		t.Fatal(err)
	}
}

func mustCreate(t *testing.T, r *engine.Root, name string, spec engine.TopicSpec) *engine.Topic {
	t.Helper()
	topic, err := r.CreateTopic(t.Context(), name, spec)
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

// freshDisk is a disk with a root, prepared, and a partition directory outside of it.
func freshDisk(t *testing.T, c change) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	for _, dir := range []string{"/srv", "/media", "/media/backup", "/media/backup/old-1"} {
		if err := vfs.Mkdir(m, dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.WriteFile(m, "/media/backup/old-1/00000000000000000000.log", []byte("records")); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(m, "/media/backup/log-start-offset-checkpoint", []byte("0\n1\nold 1 7\n")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", "/srv", "/media", "/media/backup"} {
		if err := m.SyncDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	r := openSweep(t, m)
	mustCreate(t, r, "bystander", engine.TopicSpec{})
	c.prepare(t, r)
	return m
}

func openSweep(t *testing.T, fsys vfs.FS) *engine.Root {
	t.Helper()
	r, err := engine.Create(sweepRoot, engine.Options{FS: fsys, LockTimeout: time.Second})
	if err != nil {
		t.Fatalf("open root: %v", err)
	}
	return r
}

// describeRoot is what a reader sees of a root: topics, deleted topics, log starts. It
// fails on a topic that is only half there.
func describeRoot(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	r, err := engine.Open(sweepRoot, engine.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		topic, err := r.Topic(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := topic.Config()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %d partitions, entry %v, set %v\n", name, topic.Partitions(), topic.HasEntry(), c.Set())
		for _, n := range topic.Numbers() {
			p, err := topic.Partition(n)
			if err != nil {
				t.Fatal(err)
			}
			checkWhole(t, fsys, p, topic.ID())
			start, err := p.LogStart()
			if err != nil {
				t.Fatal(err)
			}
			if start != 0 {
				fmt.Fprintf(&b, "  %d starts at %d\n", n, start)
			}
		}
	}
	deleted, err := r.DeletedTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deleted {
		fmt.Fprintf(&b, "deleted %s: %d partitions\n", d.Name, d.Partitions)
	}
	return b.String()
}

func checkWhole(t *testing.T, fsys vfs.FS, p *engine.Partition, id engine.TopicID) {
	t.Helper()
	for _, name := range []string{"00000000000000000000.log", "leader-epoch-checkpoint", "partition.metadata", ".klog/lock"} {
		if _, err := fsys.Stat(path.Join(p.Dir(), name)); err != nil && !(name == "leader-epoch-checkpoint" && p.Number() == 1) {
			t.Errorf("half a partition: %v", err)
		}
	}
	bare, err := engine.OpenPartitionDir(p.Dir(), engine.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	if bare.TopicID() != id {
		t.Errorf("%s belongs to topic id %v, the topic's is %v", p.Dir(), bare.TopicID(), id)
	}
}

// checkTidy fails if anything is left of something half done.
func checkTidy(t *testing.T, fsys vfs.FS, r *engine.Root) {
	t.Helper()
	var left []string
	for _, dir := range []string{sweepRoot, sweepRoot + "/.klog/intents", sweepRoot + "/.klog/trash"} {
		files, err := fsys.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			_, _, _, deleted := segments.ParseDeletedDirName(f.Name())
			switch {
			case strings.HasPrefix(f.Name(), ".klog-new."), path.Base(dir) == "intents":
				left = append(left, path.Join(dir, f.Name()))
			case deleted && !slices.ContainsFunc(mustDeleted(t, r), func(d engine.DeletedTopic) bool { return strings.HasPrefix(f.Name(), d.Name) }):
				left = append(left, path.Join(dir, f.Name()))
			}
		}
	}
	if left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func mustDeleted(t *testing.T, r *engine.Root) []engine.DeletedTopic {
	t.Helper()
	d, err := r.DeletedTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bothEnds is what a reader sees before a change and after it.
func bothEnds(t *testing.T, c change) (before, after string) {
	t.Helper()
	m := freshDisk(t, c)
	before = describeRoot(t, m)
	if err := c.do(t.Context(), openSweep(t, m)); err != nil {
		t.Fatal(err)
	}
	after = describeRoot(t, m)
	if before == after {
		t.Fatalf("%s changes nothing that can be seen: %s", c.name, before)
	}
	return before, after
}

// transient is what may be seen while a change is under way, or was interrupted, and not
// later: the topic has gone and not come.
func transient(before, after string) string {
	var b strings.Builder
	for line := range strings.Lines(before) {
		if !strings.HasPrefix(line, " ") && strings.Contains(after, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// checkAfterInterruption looks at the disk m that something was interrupted on: a reader
// sees the topic as before or as after, or for what is finished later not at all; the
// next change sets things right; then the change can be made.
func checkAfterInterruption(t *testing.T, c change, m *vfs.Mem, before, after string) {
	t.Helper()
	seen := describeRoot(t, m)
	if none := transient(before, after); seen != before && seen != after && seen != none && !strings.HasPrefix(seen, none) {
		t.Errorf("a reader sees\n%swhich is neither\n%snor\n%s", seen, before, after)
	}
	r := openSweep(t, m)
	mustCreate(t, r, "next", engine.TopicSpec{})
	if _, err := r.DeleteTopic(t.Context(), "next", true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.PurgeTrash(t.Context(), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	checkTidy(t, m, r)
	settled := describeRoot(t, m)
	switch settled {
	case after:
		return
	case before:
	default:
		t.Fatalf("the next change leaves\n%swhich is neither\n%snor\n%s", settled, before, after)
	}
	if seen == after {
		t.Errorf("a reader has seen the change, and then it was undone")
	}
	if err := c.do(t.Context(), r); err != nil {
		t.Errorf("again: %v", err)
		return
	}
	if got := describeRoot(t, m); got != after {
		t.Errorf("done again it leaves\n%swant\n%s", got, after)
	}
}

func changing(c vfs.Call) bool { return c.Kind.Changes() }

func TestG062ChangesOfTopicsSurviveKill(t *testing.T) {
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			before, after := bothEnds(t, c)
			var m *vfs.Mem
			turns := 0
			for f := range vfs.EachKill(func() vfs.FS { m = freshDisk(t, c); return m }, changing) {
				err := c.do(t.Context(), openSweepUnkilled(t, f))
				if f.Fired() != nil && err == nil && describeRoot(t, m) != after {
					t.Errorf("killed at %+v, yet success and not done", *f.Fired())
				}
				checkAfterInterruption(t, c, m, before, after)
				if t.Failed() {
					t.Fatalf("killed at %+v: %v", f.Fired(), err)
				}
				turns++
			}
			if turns < 3 {
				t.Errorf("only %d turns", turns)
			}
		})
	}
}

// openSweepUnkilled opens a root whose opening changes nothing, so that the fault comes
// later.
func openSweepUnkilled(t *testing.T, f *vfs.Fault) *engine.Root {
	t.Helper()
	r, err := engine.Create(sweepRoot, engine.Options{FS: f, LockTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChangesOfTopicsSurvivePowerCut(t *testing.T) {
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			before, after := bothEnds(t, c)
			var m *vfs.Mem
			for f := range vfs.EachKill(func() vfs.FS { m = freshDisk(t, c); return m }, durably) {
				err := c.do(t.Context(), openSweepUnkilled(t, f))
				for disk := range m.Crashes(6) {
					if err == nil && describeRoot(t, disk) != after {
						t.Errorf("success, but not on disk")
					}
					checkAfterInterruption(t, c, disk, before, after)
					if t.Failed() {
						t.Fatalf("killed at %+v, %s", f.Fired(), disk.Origin())
					}
				}
			}
		})
	}
}

// durably accepts changes and syncs: between two of them nothing happens to what is on
// disk.
func durably(c vfs.Call) bool {
	return c.Kind.Changes() || c.Kind == vfs.KindSync || c.Kind == vfs.KindSyncDir
}

func TestChangesOfTopicsFailWhole(t *testing.T) {
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			before, after := bothEnds(t, c)
			var m *vfs.Mem
			for f := range vfs.EachFailure(func() vfs.FS { m = freshDisk(t, c); return m }, durably, syscall.ENOSPC) {
				err := c.do(t.Context(), openSweepUnkilled(t, f))
				if f.Fired() != nil && err == nil && f.Fired().Kind != vfs.KindCreate && describeRoot(t, m) != after {
					t.Errorf("failed at %+v, yet success and not done", *f.Fired())
				}
				if err != nil && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("failed at %+v with %v", f.Fired(), err)
				}
				if _, serr := m.Stat(sweepRoot + "/.klog/lock"); errors.Is(serr, os.ErrNotExist) {
					t.Error("the lock file is gone")
				}
				checkAfterInterruption(t, c, m, before, after)
				if t.Failed() {
					t.Fatalf("failed at %+v: %v", f.Fired(), err)
				}
			}
		})
	}
}
