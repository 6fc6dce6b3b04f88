package vfs_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/segments/vfs"
	"pgregory.net/rapid"
)

const page = 4096

// after is every state that a power cut leaves of the named files, as "name=content"
// joined by spaces; "-" is a file that is not there.
func after(m *vfs.Mem, names ...string) []string {
	states := make(map[string]struct{})
	for c := range m.Crashes(10_000) {
		states[state(c, names...)] = struct{}{}
	}
	return slices.Sorted(maps.Keys(states))
}

func state(m *vfs.Mem, names ...string) string {
	var s []string
	for _, name := range names {
		data := "-"
		if b, err := vfs.ReadFile(m, name); err == nil {
			data = short(b)
		}
		s = append(s, name[strings.LastIndexByte(name, '/')+1:]+"="+data)
	}
	return strings.Join(s, " ")
}

// short writes runs of one byte as a count: "4096a 3.".
func short(b []byte) string {
	var s []string
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		c := string(b[0])
		if b[0] == 0 {
			c = "."
		}
		if n > 1 {
			c = fmt.Sprint(n) + c
		}
		s = append(s, c)
		b = b[n:]
	}
	return strings.Join(s, "")
}

// durable makes a file that is on disk, name and all.
func durable(t *testing.T, m *vfs.Mem, name, data string) {
	t.Helper()
	put(t, m, name, data)
	sync(t, m, name)
	must(t, m.SyncDir(filepath.Dir(name)))
}

func sync(t *testing.T, m *vfs.Mem, name string) {
	t.Helper()
	f, err := m.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

func writeAt(t *testing.T, fsys vfs.FS, name, data string, off int64) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(data), off)
	must(t, err)
	must(t, f.Close())
}

func truncate(t *testing.T, fsys vfs.FS, name string, size int64) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	must(t, f.Truncate(size))
	must(t, f.Close())
}

func TestCrashLeaves(t *testing.T) {
	a, b := strings.Repeat("a", page), strings.Repeat("b", page)
	for name, c := range map[string]struct {
		do    func(t *testing.T, m *vfs.Mem)
		files []string
		want  []string
	}{
		"all that was synced": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "aa")
		}, []string{"/f"}, []string{"f=2a"}},
		"any part of what was not": {func(t *testing.T, m *vfs.Mem) {
			put(t, m, "/f", "aa")
		}, []string{"/f"}, []string{"f=", "f=-", "f=2.", "f=2a"}},
		"a name without the data": {func(t *testing.T, m *vfs.Mem) {
			put(t, m, "/f", "aa")
			must(t, m.SyncDir("/"))
		}, []string{"/f"}, []string{"f=", "f=2.", "f=2a"}},
		"data without a name": {func(t *testing.T, m *vfs.Mem) {
			put(t, m, "/f", "aa")
			sync(t, m, "/f")
		}, []string{"/f"}, []string{"f=-", "f=2a"}},
		"the old or the new page": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "aaaa")
			writeAt(t, m, "/f", "b", 1)
			writeAt(t, m, "/f", "b", 2)
		}, []string{"/f"}, []string{"f=4a", "f=a2ba", "f=ab2a"}},
		"a hole with good pages behind it": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "")
			writeAt(t, m, "/f", a+b, 0)
		}, []string{"/f"}, []string{"f=", "f=4096.4096b", "f=4096a4096.", "f=4096a4096b", "f=8192."}},
		"any of the sizes it had": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "a")
			writeAt(t, m, "/f", "b", 1)
			writeAt(t, m, "/f", "c", 2)
		}, []string{"/f"}, []string{"f=a", "f=a.", "f=a2.", "f=ab", "f=ab.", "f=abc"}},
		"what was cut off, again": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", a+"bb")
			truncate(t, m, "/f", 1)
		}, []string{"/f"}, []string{"f=4096a2.", "f=4096a2b", "f=a", "f=a4095.2b", "f=a4097."}},
		"zeros behind a cut, not what was there": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "aaaa")
			truncate(t, m, "/f", 1)
			sync(t, m, "/f")
			truncate(t, m, "/f", 3)
		}, []string{"/f"}, []string{"f=a", "f=a2."}},
		"a rename whole or not": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "old")
			durable(t, m, "/g", "new")
			must(t, m.Rename("/g", "/f"))
		}, []string{"/f", "/g"}, []string{"f=new g=-", "f=old g=new"}},
		"a rename that needs what went before": {func(t *testing.T, m *vfs.Mem) {
			put(t, m, "/g", "")
			must(t, m.Rename("/g", "/f"))
		}, []string{"/f", "/g"}, []string{"f=- g=-", "f=- g=", "f= g=-"}},
		"a rename into another directory": {func(t *testing.T, m *vfs.Mem) {
			must(t, m.Mkdir("/d", 0o755))
			durable(t, m, "/f", "x")
			must(t, m.Rename("/f", "/d/f"))
			must(t, m.SyncDir("/d"))
		}, []string{"/f", "/d/f"}, []string{"f=- f=x"}},
		"no name again that a durable rename took away": {func(t *testing.T, m *vfs.Mem) {
			must(t, m.Mkdir("/d", 0o755))
			must(t, m.Mkdir("/e", 0o755))
			must(t, m.SyncDir("/"))
			put(t, m, "/d/f", "x")
			sync(t, m, "/d/f")
			must(t, m.Rename("/d/f", "/e/f"))
			must(t, m.SyncDir("/e"))
		}, []string{"/d/f", "/e/f"}, []string{"f=- f=x"}},
		"operations in any order": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "1")
			durable(t, m, "/g", "2")
			must(t, m.Remove("/f"))
			must(t, m.Remove("/g"))
		}, []string{"/f", "/g"}, []string{"f=- g=-", "f=- g=2", "f=1 g=-", "f=1 g=2"}},
		"nothing of a directory whose name is lost": {func(t *testing.T, m *vfs.Mem) {
			must(t, m.Mkdir("/d", 0o755))
			durable(t, m, "/d/f", "x")
		}, []string{"/d/f"}, []string{"f=-", "f=x"}},
		"a removed file with what was synced": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "x")
			must(t, m.Remove("/f"))
		}, []string{"/f"}, []string{"f=-", "f=x"}},
		"a file made anew under its name": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "old")
			must(t, m.Remove("/f"))
			put(t, m, "/f", "new")
			sync(t, m, "/f")
		}, []string{"/f"}, []string{"f=-", "f=new", "f=old"}},
		"both names of a link": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "x")
			must(t, m.Link("/f", "/g"))
			writeAt(t, m, "/g", "y", 0)
		}, []string{"/f", "/g"}, []string{"f=x g=-", "f=x g=x", "f=y g=-", "f=y g=y"}},
		"the content that a rewrite without sync may lose": {func(t *testing.T, m *vfs.Mem) {
			durable(t, m, "/f", "old")
			put(t, m, "/g", "new")
			must(t, m.Rename("/g", "/f"))
			must(t, m.SyncDir("/"))
		}, []string{"/f"}, []string{"f=", "f=3.", "f=new"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem()
			c.do(t, m)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, after(m, c.files...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCrashStatesAreCounted(t *testing.T) {
	m := vfs.NewMem()
	if n := m.CrashStates(10); n != 1 {
		t.Errorf("nothing done: %d states", n)
	}
	durable(t, m, "/f", "")
	writeAt(t, m, "/f", "a", 0)
	must(t, m.Link("/f", "/g"))
	// The link is there or not; the size is 0, or 1 with the page written or not.
	if n := m.CrashStates(10); n != 6 {
		t.Errorf("%d states", n)
	}
	if n := m.CrashStates(3); n != 4 {
		t.Errorf("with limit 3: %d", n)
	}
	for limit, want := range map[int]int{6: 6, 100: 6, 5: 5, 2: 2} {
		n := 0
		for range m.Crashes(limit) {
			n++
		}
		if n != want {
			t.Errorf("%d states with limit %d", n, limit)
		}
	}
}

func TestCrashesAboveTheLimitHoldBothExtremes(t *testing.T) {
	m := vfs.NewMem()
	durable(t, m, "/f", "")
	for i := range 100 {
		writeAt(t, m, "/f", "a", int64(i))
	}
	seen := make(map[int]bool)
	for c := range m.Crashes(20) {
		seen[len(get(c, "/f"))] = true
	}
	if !seen[0] || !seen[100] || len(seen) < 3 {
		t.Errorf("sizes: %v", seen)
	}
}

func TestCrashIsTheSameForOneSeed(t *testing.T) {
	m := vfs.NewMem()
	for i := range 20 {
		put(t, m, fmt.Sprintf("/%d", i), strings.Repeat("x", 10_000))
	}
	names := []string{"/1", "/5", "/7", "/19"}
	different := make(map[string]bool)
	for seed := range uint64(20) {
		a, b := m.Crash(seed), m.Crash(seed)
		if state(a, names...) != state(b, names...) {
			t.Errorf("seed %d: %s, then %s", seed, state(a, names...), state(b, names...))
		}
		different[state(a, names...)] = true
	}
	if len(different) < 5 {
		t.Errorf("20 seeds gave %d states", len(different))
	}
}

func TestCrashEndsWhatIsOpen(t *testing.T) {
	m := vfs.NewMem()
	durable(t, m, "/f", "x")
	f, err := m.OpenFile("/f", os.O_RDWR, 0)
	must(t, err)
	held, err := m.OpenLock("/f")
	must(t, err)
	must(t, held.Lock())
	waiter, err := m.OpenLock("/f")
	must(t, err)
	waited := make(chan error, 1)
	go func() { waited <- waiter.Lock() }()

	next := m.Crash(1)
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt([]byte("y"), 0)
	_, openErr := m.OpenFile("/f", os.O_RDONLY, 0)
	for what, err := range map[string]error{
		"read": readErr, "write": writeErr, "sync": f.Sync(), "open": openErr, "mkdir": m.Mkdir("/d", 0o755),
		"wait": <-waited, "unlock": held.Unlock(),
	} {
		if !errors.Is(err, vfs.ErrPowerCut) {
			t.Errorf("%s: %v", what, err)
		}
	}

	if got := get(next, "/f"); got != "x" {
		t.Errorf("after the crash: %q", got)
	}
	l, err := next.OpenLock("/f")
	must(t, err)
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Errorf("lock after the crash: %v %v", ok, err)
	}
	if next.Origin() != "crash with seed 1" {
		t.Error(next.Origin())
	}
}

// TestCrashStatesDoNotShare changes one state and looks at its siblings.
func TestCrashStatesDoNotShare(t *testing.T) {
	m := vfs.NewMem()
	durable(t, m, "/f", "aaaa")
	one, other := m.Crash(1), m.Crash(1)
	writeAt(t, one, "/f", "b", 0)
	truncate(t, one, "/f", 2)
	must(t, one.Remove("/f"))
	if got := get(other, "/f"); got != "aaaa" {
		t.Errorf("%q", got)
	}
	if !slices.Contains(after(one, "/f"), "f=4a") {
		t.Error("what one state began with is not durable in it")
	}
}

// TestWhatWasSyncedSurvives does random operations, remembers the content of each file
// when file and directory were synced and nothing was changed after, and cuts.
func TestWhatWasSyncedSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := vfs.NewMem()
		safe := make(map[string]string) // content that must survive
		names := []string{"/a", "/b", "/c"}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.SampledFrom([]string{"write", "truncate", "rename", "remove", "sync", "sync"}).Draw(t, "op") {
			case "write":
				f, err := vfs.OpenOrCreate(m, name)
				if err != nil {
					t.Fatal(err)
				}
				f.WriteAt([]byte(strings.Repeat("x", rapid.IntRange(1, 9000).Draw(t, "n"))), rapid.Int64Range(0, 9000).Draw(t, "at"))
				delete(safe, name)
			case "truncate":
				if f, err := m.OpenFile(name, os.O_RDWR, 0); err == nil {
					f.Truncate(rapid.Int64Range(0, 9000).Draw(t, "size"))
					delete(safe, name)
				}
			case "rename":
				to := rapid.SampledFrom(names).Draw(t, "to")
				if to != name && m.Rename(name, to) == nil {
					delete(safe, name)
					delete(safe, to)
				}
			case "remove":
				m.Remove(name)
				delete(safe, name)
			case "sync":
				f, err := m.OpenFile(name, os.O_RDWR, 0)
				if err != nil {
					continue
				}
				f.Sync()
				m.SyncDir("/")
				safe[name] = get(m, name)
			}
		}
		for seed := range uint64(8) {
			next := m.Crash(seed)
			for name, want := range safe {
				if got := get(next, name); got != want {
					t.Fatalf("seed %d: %s has %d bytes, not the %d that were synced", seed, name, len(got), len(want))
				}
			}
		}
	})
}

// TestWriteFileSurvivesEveryCut kills WriteFile at each of its operations and then
// also cuts the power: the file is the old or the new one, and the new one once
// WriteFile returned.
func TestWriteFileSurvivesEveryCut(t *testing.T) {
	before, want := strings.Repeat("o", 5000), strings.Repeat("n", 9000)
	fresh := func() vfs.FS {
		m := vfs.NewMem()
		durable(t, m, "/f", before)
		return m
	}
	kills := 0
	for f := range vfs.EachKill(fresh, nil) {
		err := vfs.WriteFile(f, "/f", []byte(want))
		if (err == nil) != (f.Fired() == nil) {
			t.Fatalf("killed at %+v, returned %v", f.Fired(), err)
		}
		kills++
		for m := range f.Base().(*vfs.Mem).Crashes(500) {
			got := get(m, "/f")
			if got != want && (got != before || err == nil) {
				t.Errorf("killed at %+v: %s: %s", f.Fired(), m.Origin(), short([]byte(got)))
			}
			// What is left over is in nobody's way.
			must(t, vfs.WriteFile(m, "/f", []byte("again")))
		}
	}
	if kills < 8 {
		t.Errorf("only %d kills", kills)
	}
}
