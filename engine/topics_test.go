package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

func TestG061TopicNames(t *testing.T) {
	r := newRoot(t)
	before := fileList(t, filepath.Dir(r.Dir()))
	for _, name := range []string{"", ".", "..", "a/b", "../x", "a b", "a\nb", "a\x00b", "ä", strings.Repeat("x", 250), "a\xffb", "__consumer_offsets", "__cluster_metadata"} {
		if _, err := r.CreateTopic(t.Context(), name, engine.TopicSpec{}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("create %q: %v", name, err)
		}
		if strings.HasPrefix(name, "__") {
			continue
		}
		if _, err := r.Topic(name); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := r.DeleteTopic(t.Context(), name, true); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("delete %q: %v", name, err)
		}
	}
	if d := cmp.Diff(before, fileList(t, filepath.Dir(r.Dir()))); d != "" {
		t.Errorf("a refused name changed: %s", d)
	}
	long := strings.Repeat("x", 249)
	for _, name := range []string{"-rf", ".hidden", "a.tmp", "a", "a.t", ".klog", "x-0", long} {
		topic := mustCreate(t, r, name, engine.TopicSpec{Partitions: 2})
		deleted, err := r.DeleteTopic(t.Context(), name, false)
		if err != nil {
			t.Fatalf("delete %q: %v", name, err)
		}
		if deleted.ID != topic.ID() || deleted.Partitions != 2 {
			t.Errorf("%q: deleted %+v", name, deleted)
		}
		back, err := r.UndeleteTopic(t.Context(), name)
		if err != nil {
			t.Fatalf("undelete %q: %v", name, err)
		}
		if back.ID() != topic.ID() {
			t.Errorf("%q came back with another id", name)
		}
	}
	if names := mustTopics(t, r); len(names) != 8 {
		t.Errorf("topics: %v", names)
	}
}

func TestTopicNamesThatCollide(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "a.b_c", engine.TopicSpec{})
	var exists *engine.TopicExistsError
	if _, err := r.CreateTopic(t.Context(), "a_b.c", engine.TopicSpec{}); !errors.As(err, &exists) || exists.Other != "a.b_c" {
		t.Errorf("create: %v", err)
	}
	if _, err := r.RenameTopic(t.Context(), "a.b_c", "a_b_c"); err != nil {
		t.Errorf("rename to what collides with itself only: %v", err)
	}
}

func TestUnknownTopicNamesNearest(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "orders", engine.TopicSpec{})
	var unknown *engine.UnknownTopicError
	_, err := r.Topic("ordres")
	if !errors.As(err, &unknown) || unknown.Near != "orders" || unknown.Root != r.Dir() {
		t.Errorf("got %v", err)
	}
	if _, err := mustTopic(t, r, "orders").Partition(1); !errors.Is(err, engine.ErrUnknownPartition) {
		t.Errorf("partition: %v", err)
	}
}

func TestG063NumberOfPartitions(t *testing.T) {
	r := newRoot(t)
	for _, n := range []int{-1, 1_000_000} {
		if _, err := r.CreateTopic(t.Context(), "t", engine.TopicSpec{Partitions: n}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%d partitions: %v", n, err)
		}
	}
	mustCreate(t, r, "t", engine.TopicSpec{Partitions: 3})
	if _, err := r.AlterTopic(t.Context(), "t", engine.Alteration{Partitions: 2, Set: map[string]string{"retention.ms": "1"}}); !errors.Is(err, engine.ErrFewerPartitions) {
		t.Errorf("fewer: %v", err)
	}
	c, err := mustTopic(t, r, "t").Config()
	if err != nil || len(c.Set()) != 0 {
		t.Errorf("partly applied: %v, %v", c.Set(), err)
	}
}

func TestG062ParallelCreatesMakeOneTopic(t *testing.T) {
	r := newRoot(t)
	const n = 20
	var wg sync.WaitGroup
	won := make(chan int, n)
	for i := range n {
		other := reopen(t, r)
		wg.Go(func() {
			_, err := other.CreateTopic(t.Context(), "t", engine.TopicSpec{Partitions: i%5 + 1})
			switch {
			case err == nil:
				won <- i%5 + 1
			case !errors.Is(err, engine.ErrTopicExists):
				t.Errorf("create %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	close(won)
	partitions := <-won
	if _, more := <-won; more {
		t.Error("several creates won")
	}
	if got := mustTopic(t, r, "t").Partitions(); got != partitions {
		t.Errorf("%d partitions, the winner made %d", got, partitions)
	}
}

func TestG060ParallelAlters(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{})
	var wg sync.WaitGroup
	for n := 2; n <= 9; n++ {
		other := reopen(t, r)
		wg.Go(func() {
			_, err := other.AlterTopic(t.Context(), "t", engine.Alteration{Partitions: n, Set: map[string]string{"compression.zstd.level": fmt.Sprint(n)}})
			if err != nil && !errors.Is(err, engine.ErrFewerPartitions) {
				t.Errorf("alter to %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	topic := mustTopic(t, r, "t")
	if topic.Partitions() != 9 {
		t.Errorf("%d partitions", topic.Partitions())
	}
	for _, n := range topic.Numbers() {
		p, err := topic.Partition(n)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, vfs.OS, p, topic.ID())
	}
}

func TestG053RecreatedTopicHasAnotherID(t *testing.T) {
	r := newRoot(t)
	old := mustCreate(t, r, "t", engine.TopicSpec{})
	if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "t", 0, 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := r.DeleteTopic(t.Context(), "t", false); err != nil {
		t.Fatal(err)
	}
	again := mustCreate(t, r, "t", engine.TopicSpec{})
	if again.ID() == old.ID() {
		t.Error("the id is the old one's")
	}
	p, err := again.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	if start, err := p.LogStart(); start != 0 || err != nil {
		t.Errorf("the new topic starts at %d, %v", start, err)
	}
	eventually(t, "whoever has the old one open notices", func() bool {
		_, err := old.Config()
		return errors.Is(err, engine.ErrTopicGone)
	})
	if _, err := r.UndeleteTopic(t.Context(), "t"); !errors.Is(err, engine.ErrTopicExists) {
		t.Errorf("undelete of a name in use: %v", err)
	}
}

func TestCreateAfterTopicWasRemovedByHand(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{})
	if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "t", 0, 1000); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t-0", ".klog/topics/t.t"} {
		if err := os.RemoveAll(filepath.Join(r.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := mustCreate(t, r, "t", engine.TopicSpec{}).Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	if start, err := p.LogStart(); start != 0 || err != nil {
		t.Errorf("starts at %d, %v", start, err)
	}
}

func TestUndeleteBringsBackTheNewest(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	r, err := engine.Create(filepath.Join(t.TempDir(), "root"), engine.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var ids []engine.TopicID
	for range 3 {
		ids = append(ids, mustCreate(t, r, "t", engine.TopicSpec{Config: map[string]string{"topic.trash.ms": "1h"}}).ID())
		d, err := r.DeleteTopic(t.Context(), "t", false)
		if err != nil {
			t.Fatal(err)
		}
		if !d.RemoveAt.Equal(now.Add(time.Hour)) || d.Bytes == 0 {
			t.Errorf("deleted %+v", d)
		}
		now = now.Add(time.Minute)
	}
	if d := mustDeleted(t, r); len(d) != 3 || d[0].ID != ids[2] || d[2].ID != ids[0] {
		t.Errorf("deleted: %+v", d)
	}
	topic, err := r.UndeleteTopic(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	c, err := topic.Config()
	if err != nil {
		t.Fatal(err)
	}
	if topic.ID() != ids[2] || c.TopicTrashMs != 3600000 {
		t.Errorf("id %v, config %v", topic.ID(), c.Set())
	}
	gone, err := r.PurgeTrash(t.Context(), now.Add(57*time.Minute))
	if err != nil || len(gone) != 1 || gone[0].ID != ids[0] {
		t.Errorf("purged %+v, %v", gone, err)
	}
	if d := mustDeleted(t, r); len(d) != 1 || d[0].ID != ids[1] {
		t.Errorf("still deleted: %+v", d)
	}
	if gone, err := r.RemoveDeleted(t.Context(), "t"); err != nil || len(gone) != 1 {
		t.Errorf("removed %+v, %v", gone, err)
	}
	var unknown *engine.UnknownTopicError
	if _, err := r.UndeleteTopic(t.Context(), "u"); !errors.As(err, &unknown) || !unknown.Deleted {
		t.Errorf("undelete of nothing: %v", err)
	}
	checkTidyOS(t, r)
}

func checkTidyOS(t *testing.T, r *engine.Root) {
	t.Helper()
	for _, pattern := range []string{"*-delete", ".klog-new*", ".klog/intents/*", ".klog/trash/*"} {
		if left, _ := filepath.Glob(filepath.Join(r.Dir(), pattern)); left != nil {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestUndeleteWithoutRecord(t *testing.T) {
	r := newRoot(t)
	made := mustCreate(t, r, "t", engine.TopicSpec{Partitions: 3})
	if _, err := r.DeleteTopic(t.Context(), "t", false); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.Dir(), ".klog")); err != nil {
		t.Fatal(err)
	}
	// A broker gives each partition a number of its own.
	dirs, err := filepath.Glob(filepath.Join(r.Dir(), "t-2.*-delete"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if err := os.Rename(dirs[0], filepath.Join(r.Dir(), "t-2.00112233445566778899aabbccddeeff-delete")); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	d := mustDeleted(t, r)
	if len(d) != 1 || d[0].Partitions != 3 || d[0].ID != made.ID() || !d[0].RemoveAt.IsZero() {
		t.Fatalf("deleted: %+v", d)
	}
	if gone, err := r.PurgeTrash(t.Context(), time.Now().Add(1000*time.Hour)); err != nil || len(gone) != 0 {
		t.Errorf("purged %v, %v", gone, err)
	}
	topic, err := r.UndeleteTopic(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if topic.Partitions() != 3 || topic.ID() != made.ID() || topic.HasEntry() {
		t.Errorf("came back with %d partitions, id %v, entry %v", topic.Partitions(), topic.ID(), topic.HasEntry())
	}
	checkTidyOS(t, r)
}

func TestDeleteWaitsForWritersAndGivesUpWhole(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{Partitions: 3})
	held, err := vfs.TryLock(vfs.OS, filepath.Join(r.Dir(), "t-1", ".klog", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	hasty, err := engine.Create(r.Dir(), engine.Options{LockTimeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var locked *engine.LockedError
	if _, err := hasty.DeleteTopic(t.Context(), "t", false); !errors.As(err, &locked) {
		t.Errorf("delete: %v", err)
	}
	if _, err := hasty.RenameTopic(t.Context(), "t", "u"); !errors.As(err, &locked) {
		t.Errorf("rename: %v", err)
	}
	if d := cmp.Diff([]string{"t"}, mustTopics(t, r)); d != "" {
		t.Error(d)
	}
	if n := mustTopic(t, r, "t").Partitions(); n != 3 {
		t.Errorf("%d partitions", n)
	}
	checkTidyOS(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.DeleteTopic(ctx, "t", false)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted delete: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"t"}, mustTopics(t, r)); d != "" {
		t.Error(d)
	}
	if _, err := r.DeleteTopic(t.Context(), "t", false); err != nil {
		t.Errorf("delete: %v", err)
	}
}

func TestG127LinksAreKept(t *testing.T) {
	r := newRoot(t)
	made := mustCreate(t, r, "t", engine.TopicSpec{Partitions: 2})
	disk := filepath.Join(t.TempDir(), "disk", "t-1")
	if err := os.MkdirAll(filepath.Dir(disk), 0o770); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(r.Dir(), "t-1")
	if err := os.Rename(link, disk); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(disk, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(disk, "precious"), nil, 0o660); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop-0", filepath.Join(r.Dir(), "loop-0")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(r.Dir(), "dangling-0")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"t"}, mustTopics(t, r)); d != "" {
		t.Error(d)
	}
	if _, err := r.RenameTopic(t.Context(), "t", "u"); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(filepath.Join(r.Dir(), "u-1")); to != disk {
		t.Errorf("after rename the link is %q, %v", to, err)
	}
	if _, err := r.DeleteTopic(t.Context(), "u", false); err != nil {
		t.Fatal(err)
	}
	topic, err := r.UndeleteTopic(t.Context(), "u")
	if err != nil || topic.ID() != made.ID() {
		t.Fatal(topic.ID(), err)
	}
	if _, err := r.DeleteTopic(t.Context(), "u", true); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(disk)
	if err != nil || len(left) != 1 || left[0].Name() != "precious" {
		t.Errorf("left behind the link: %v, %v", left, err)
	}
	checkTidyOS(t, r)
}

func TestG066CopiedTopicIsFoundAndAdopted(t *testing.T) {
	r := newRoot(t)
	topic := mustCreate(t, r, "t", engine.TopicSpec{Partitions: 2})
	for n := range 2 {
		from, to := filepath.Join(r.Dir(), fmt.Sprintf("t-%d", n)), filepath.Join(r.Dir(), fmt.Sprintf("t2-%d", n))
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, ".klog", "hint"), []byte("stale"), 0o660); err != nil {
			t.Fatal(err)
		}
	}
	twins, err := r.DuplicateIDs(t.Context())
	if d := cmp.Diff([]engine.DuplicateID{{ID: topic.ID(), Topics: []string{"t", "t2"}}}, twins); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := r.AdoptTopic(t.Context(), filepath.Join(r.Dir(), "t-0"), engine.AdoptOptions{}); !errors.Is(err, engine.ErrTopicExists) {
		t.Errorf("adopt of a topic that is one: %v", err)
	}
	adopted, err := r.AdoptTopic(t.Context(), filepath.Join(r.Dir(), "t2-0"), engine.AdoptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(adopted) != 1 || !adopted[0].Moved || adopted[0].Topic.Partitions() != 2 || adopted[0].Topic.ID() == topic.ID() || !adopted[0].Topic.HasEntry() {
		t.Errorf("adopted %+v", adopted)
	}
	if twins, err := r.DuplicateIDs(t.Context()); len(twins) != 0 || err != nil {
		t.Error(twins, err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir(), "t2-1", ".klog", "hint")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copied hint: %v", err)
	}
	checkTidyOS(t, r)
}

func TestAdoptFromAnotherRoot(t *testing.T) {
	from := newRoot(t)
	old := mustCreate(t, from, "orders", engine.TopicSpec{Partitions: 3, Config: map[string]string{"cleanup.policy": "compact"}})
	mustCreate(t, from, "bills", engine.TopicSpec{})
	if err := from.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "orders", 2, 17); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from.Dir(), "orders-2", "00000000000000000000.log"), []byte("records"), 0o660); err != nil {
		t.Fatal(err)
	}
	r := newRoot(t)
	var told int64
	adopted, err := r.AdoptTopic(t.Context(), from.Dir(), engine.AdoptOptions{Progress: func(done, total int64) { told = done }})
	if err != nil {
		t.Fatal(err)
	}
	if len(adopted) != 2 || adopted[0].Moved || told == 0 {
		t.Errorf("adopted %+v, told %d", adopted, told)
	}
	topic := mustTopic(t, r, "orders")
	c, err := topic.Config()
	if err != nil {
		t.Fatal(err)
	}
	if topic.Partitions() != 3 || topic.ID() == old.ID() || !c.Compacted() {
		t.Errorf("%d partitions, id %v, config %v", topic.Partitions(), topic.ID(), c.Set())
	}
	p, err := topic.Partition(2)
	if err != nil {
		t.Fatal(err)
	}
	if start, err := p.LogStart(); start != 17 || err != nil {
		t.Errorf("starts at %d, %v", start, err)
	}
	if b, err := os.ReadFile(filepath.Join(p.Dir(), "00000000000000000000.log")); string(b) != "records" {
		t.Errorf("copied %q, %v", b, err)
	}
	checkTidyOS(t, r)

	one, err := r.AdoptTopic(t.Context(), filepath.Join(from.Dir(), "orders-2"), engine.AdoptOptions{As: "third"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int32{0, 1}, one[0].Empty); d != "" {
		t.Errorf("made empty: %s", d)
	}
	for what, c := range map[string]struct{ dir, as string }{
		"several topics under one name": {from.Dir(), "x"},
		"the root itself":               {r.Dir(), ""},
		"a wrong name":                  {filepath.Join(from.Dir(), "bills-0"), "a/b"},
	} {
		if _, err := r.AdoptTopic(t.Context(), c.dir, engine.AdoptOptions{As: c.as}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := r.AdoptTopic(t.Context(), t.TempDir(), engine.AdoptOptions{}); !errors.Is(err, engine.ErrUnknownPartition) {
		t.Errorf("nothing to adopt: %v", err)
	}
	if _, err := r.AdoptTopic(t.Context(), filepath.Join(from.Dir(), "bills-0"), engine.AdoptOptions{}); !errors.Is(err, engine.ErrTopicExists) {
		t.Errorf("a name in use: %v", err)
	}
	if names := mustTopics(t, r); !slices.Equal(names, []string{"bills", "orders", "third"}) {
		t.Errorf("topics: %v", names)
	}
	checkTidyOS(t, r)
}

func TestRenameKeepsTopicAndLogStart(t *testing.T) {
	r := newRoot(t)
	old := mustCreate(t, r, "old", engine.TopicSpec{Partitions: 2, Config: map[string]string{"retention.ms": "1d"}})
	mustCreate(t, r, "other", engine.TopicSpec{})
	for topic, offset := range map[string]int64{"old": 5, "other": 6} {
		if err := r.SetCheckpoint(t.Context(), engine.RecoveryPointCheckpoint, topic, 0, offset); err != nil {
			t.Fatal(err)
		}
	}
	renamed, err := r.RenameTopic(t.Context(), "old", "new")
	if err != nil {
		t.Fatal(err)
	}
	c, err := renamed.Config()
	if err != nil || renamed.ID() != old.ID() || c.RetentionMs != 86400000 {
		t.Errorf("id %v, config %v, %v", renamed.ID(), c.Set(), err)
	}
	points, err := r.Checkpoints(engine.RecoveryPointCheckpoint)
	want := map[engine.TopicPartition]int64{{Topic: "new"}: 5, {Topic: "other"}: 6}
	if d := cmp.Diff(want, points); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := r.RenameTopic(t.Context(), "old", "newer"); !errors.Is(err, engine.ErrUnknownTopic) {
		t.Errorf("rename of what is not there: %v", err)
	}
	if _, err := r.RenameTopic(t.Context(), "new", "other"); !errors.Is(err, engine.ErrTopicExists) {
		t.Errorf("rename to a name in use: %v", err)
	}
}

func TestCheckpointsChangeOwnLinesOnly(t *testing.T) {
	r := newRoot(t)
	path := filepath.Join(r.Dir(), string(engine.LogStartCheckpoint))
	if err := os.WriteFile(path, []byte("0\n2\nkafkas.own 3 99\nt 1 5\n"), 0o660); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range int32(8) {
		other := reopen(t, r)
		wg.Go(func() {
			if err := other.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "t", n, int64(n)*10); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "0\n9\nkafkas.own 3 99\nt 0 0\nt 1 10\nt 2 20\nt 3 30\nt 4 40\nt 5 50\nt 6 60\nt 7 70\n"
	if string(got) != want {
		t.Errorf("got %q", got)
	}
	if offset, ok, err := r.Checkpoint(engine.LogStartCheckpoint, "t", 3); offset != 30 || !ok || err != nil {
		t.Error(offset, ok, err)
	}
	if err := os.WriteFile(path, []byte("0\n2\nt 1 5\n"), 0o660); err != nil {
		t.Fatal(err)
	}
	if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, "t", 1, 6); err == nil {
		t.Error("a damaged checkpoint was replaced")
	}
}

func TestG126UsersShareARoot(t *testing.T) {
	m := vfs.NewMem()
	if err := m.Mkdir("/srv", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"/": 0o755, "/srv": 0o777 | fs.ModeSticky} {
		if err := m.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	users := []*vfs.Mem{m.As(1000, 100).Umask(0o077), m.As(1001, 1001, 100).Umask(0o022), m.Umask(0o077)}
	for i, u := range users {
		r := openSweep(t, u)
		mustCreate(t, r, fmt.Sprintf("by-%d", i), engine.TopicSpec{})
		for j := range i {
			name := fmt.Sprintf("by-%d", j)
			if _, err := r.AlterTopic(t.Context(), name, engine.Alteration{Partitions: i + 1}); err != nil {
				t.Errorf("user %d alters %s: %v", i, name, err)
			}
			if err := r.SetCheckpoint(t.Context(), engine.LogStartCheckpoint, name, 0, 0); err != nil {
				t.Errorf("user %d sets a checkpoint: %v", i, err)
			}
		}
	}
	for i, u := range users {
		r := openSweep(t, u)
		for j := range users {
			topic := mustTopic(t, r, fmt.Sprintf("by-%d", j))
			for _, n := range topic.Numbers() {
				p, err := topic.Partition(n)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"00000000000000000000.log", ".klog/lock"} {
					f, err := vfs.OpenOrCreate(u, p.Dir()+"/"+name)
					if err != nil {
						t.Errorf("user %d: %v", i, err)
						continue
					}
					f.Close()
				}
			}
		}
	}
}

func TestSharedFileSystemRefusesWriters(t *testing.T) {
	r := newRoot(t)
	dir := filepath.Join(t.TempDir(), "new")
	var shared *engine.SharedFSError
	if _, err := engine.CreateOn(dir, "nfs"); !errors.As(err, &shared) || shared.FS != "nfs" {
		t.Errorf("new root: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	if _, err := engine.CreateOn(r.Dir(), "nfs"); !errors.Is(err, engine.ErrSharedFS) {
		t.Errorf("root: %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), ".klog", "shared"), []byte("file.systems=nfs\n"), 0o660); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.CreateOn(r.Dir(), "nfs"); err != nil {
		t.Errorf("enabled: %v", err)
	}
}

func TestInterruptedAdoptLeavesNothing(t *testing.T) {
	from := newRoot(t)
	mustCreate(t, from, "orders", engine.TopicSpec{Partitions: 2})
	if err := os.WriteFile(filepath.Join(from.Dir(), "orders-1", "00000000000000000000.log"), make([]byte, 3<<20), 0o660); err != nil {
		t.Fatal(err)
	}
	r := newRoot(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := r.AdoptTopic(ctx, from.Dir(), engine.AdoptOptions{Progress: func(done, total int64) {
		if done > 1<<20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if names := mustTopics(t, r); len(names) != 0 {
		t.Errorf("topics: %v", names)
	}
	checkTidyOS(t, r)
}

// TestAdoptOfAnEmptyDirectory: without a segment a directory is no partition, but in the
// root it belongs to the topic of those that are.
func TestAdoptOfAnEmptyDirectory(t *testing.T) {
	r := newRoot(t)
	for _, dir := range []string{"bare-0", "bare-1"} {
		if err := os.Mkdir(filepath.Join(r.Dir(), dir), 0o770); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.AdoptTopic(t.Context(), filepath.Join(r.Dir(), "bare-0"), engine.AdoptOptions{}); !errors.Is(err, engine.ErrUnknownPartition) {
		t.Fatalf("got %v, want ErrUnknownPartition", err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), "bare-1", "00000000000000000000.log"), nil, 0o660); err != nil {
		t.Fatal(err)
	}
	adopted, err := r.AdoptTopic(t.Context(), filepath.Join(r.Dir(), "bare-0"), engine.AdoptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range int32(2) {
		p, err := adopted[0].Topic.Partition(n)
		if err != nil {
			t.Fatal(err)
		}
		w, err := p.OpenWriter(engine.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
