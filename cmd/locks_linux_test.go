package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
)

// lockRow is a row of klog locks -J.
type lockRow struct {
	Kind      string
	Topic     *string
	Partition *int
	Group     *string
	PID       int
	Host      string
	Command   string
	Since     *int64
	State     string
}

// listLocks runs klog locks.
func listLocks(t *testing.T, root string) []lockRow {
	t.Helper()
	out, err := program(t, "klog", "-R", root, "locks", "-J").Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []lockRow
	for line := range strings.Lines(string(out)) {
		var r lockRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestLocksNamesHolderAndWaiter(t *testing.T) {
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("no flock(1)")
	}
	dir := t.TempDir()
	root, err := engine.Create(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 2}); err != nil {
		t.Fatal(err)
	}
	if rows := listLocks(t, dir); len(rows) != 0 {
		t.Fatalf("nobody is there, got %+v", rows)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "orders-1", ".klog", "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	waiter := exec.CommandContext(t.Context(), flock, lock.Name(), "true")
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	rows := listLocks(t, dir)
	for deadline := time.Now().Add(20 * time.Second); len(rows) < 2 && time.Now().Before(deadline); rows = listLocks(t, dir) {
		time.Sleep(time.Millisecond)
	}
	if len(rows) != 2 {
		t.Fatalf("got %+v, want a holder and a waiter", rows)
	}
	for i, want := range []struct {
		pid   int
		state string
	}{{os.Getpid(), "held"}, {waiter.Process.Pid, "waiting"}} {
		r := rows[i]
		if r.Kind != "append" || r.Topic == nil || *r.Topic != "orders" || r.Partition == nil || *r.Partition != 1 ||
			r.PID != want.pid || r.State != want.state || r.Command == "" || r.Host == "" || r.Group != nil {
			t.Errorf("got %+v, want pid %d %s", r, want.pid, want.state)
		}
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := waiter.Wait(); err != nil {
		t.Fatal(err)
	}
	if rows := listLocks(t, dir); len(rows) != 0 {
		t.Errorf("all are gone, got %+v", rows)
	}
}

func TestLocksNamesFollow(t *testing.T) {
	r := newRoot(t)
	log := filepath.Join(t.TempDir(), "app.log")
	if err := os.WriteFile(log, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := r.klog("produce", "my-topic", "--follow", log)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the line is in", func() bool { return r.cat("my-topic") == "one\n" })
	follows := 0
	for _, l := range listLocks(t, r.dir) {
		if l.Kind != "follow" {
			continue
		}
		follows++
		if l.Topic == nil || *l.Topic != "my-topic" || l.Partition != nil || l.Since == nil || l.PID != c.Process.Pid {
			t.Errorf("locks lists %+v", l)
		}
	}
	if follows != 1 {
		t.Errorf("%d locks of a follow, want 1", follows)
	}
	c.Process.Signal(syscall.SIGTERM)
	ended(t, c)
}
