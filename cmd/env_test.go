package cmd

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// testEnv is an Env with streams into temporary files and an empty environment.
func testEnv(t testing.TB) *Env {
	t.Helper()
	dir := t.TempDir()
	return envOn(t, func(name string) (*os.File, error) { return os.Create(filepath.Join(dir, name)) })
}

// nullEnv is a testEnv whose streams are /dev/null: it costs nothing to make.
func nullEnv(t testing.TB) *Env {
	t.Helper()
	return envOn(t, func(string) (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })
}

func envOn(t testing.TB, open func(name string) (*os.File, error)) *Env {
	t.Helper()
	stream := func(name string) *os.File {
		f, err := open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	return &Env{
		Stdin:         stream("stdin"),
		Stdout:        stream("stdout"),
		Stderr:        stream("stderr"),
		Getenv:        func(string) string { return "" },
		Now:           func() time.Time { return time.UnixMilli(1764547200000) },
		Location:      time.UTC,
		Geteuid:       func() int { return 1000 },
		IsTerminal:    func(*os.File) bool { return false },
		TerminalWidth: func(*os.File) int { return 80 },
	}
}

// printed is what went to a stream of a testEnv.
func printed(t testing.TB, f *os.File) string {
	t.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRoot(t *testing.T) {
	type vars map[string]string
	for _, c := range []struct {
		flag string // "-" for none
		env  vars
		euid int
		want string // "" for a usage error
	}{
		{"-", vars{}, 0, "/var/lib/klog"},
		{"-", vars{"XDG_DATA_HOME": "/xdg", "HOME": "/h"}, 0, "/var/lib/klog"},
		{"-", vars{"XDG_DATA_HOME": "/xdg", "HOME": "/h"}, 7, "/xdg/klog"},
		{"-", vars{"XDG_DATA_HOME": "rel", "HOME": "/h"}, 7, "/h/.local/share/klog"},
		{"-", vars{"HOME": "/h"}, 7, "/h/.local/share/klog"},
		{"-", vars{}, 7, ""},
		{"-", vars{"KLOG_ROOT": "/env"}, 0, "/env"},
		{"-", vars{"KLOG_ROOT": "", "HOME": "/h"}, 7, "/h/.local/share/klog"},
		{"/flag", vars{"KLOG_ROOT": "/env"}, 7, "/flag"},
		{"", vars{"KLOG_ROOT": "/env"}, 7, ""},
		{"./data/", vars{}, 7, "data"},
		{"file:///srv/klog", vars{}, 7, "/srv/klog"},
		{"file://localhost/srv/klog", vars{}, 7, "/srv/klog"},
		{"file:///my%20logs", vars{}, 7, "/my logs"},
		{"file:///bad%2", vars{}, 7, ""},
		{"file:///bad%00", vars{}, 7, ""},
		{"file://srv/klog", vars{}, 7, ""},
		{"/a/ssh://x", vars{}, 7, "/a/ssh:/x"},
		{"ssh://host/srv", vars{}, 7, ""},
		{"kafka://b1:9092", vars{}, 7, ""},
		{"http://x", vars{}, 7, ""},
		{"-", vars{"KLOG_ROOT": "ssh://host/srv"}, 7, ""},
		{"nul\x00", vars{}, 7, ""},
	} {
		e := testEnv(t)
		e.Getenv = func(k string) string { return c.env[k] }
		e.Geteuid = func() int { return c.euid }
		e.global.root, e.global.rootSet = c.flag, c.flag != "-"
		got, err := e.Root()
		var usage *usageError
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.As(err, &usage) {
			t.Errorf("%q %v uid %d: got %q, %v, want %q", c.flag, c.env, c.euid, got, err, c.want)
		}
	}
}

func TestSSHTargetIsNoOption(t *testing.T) {
	for host, want := range map[string]string{"u@h.example": "u@h.example", "h:22": "h", "-oProxyCommand=x": "HOST", "a b": "HOST", "": "HOST", "$(x)": "HOST"} {
		if got := sshTarget(host); got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for s, want := range map[string]string{
		"plain é": "plain é", "a\nb": `a\nb`, "\x1b[31m": `\x1b[31m`, "\xff": `\xff`, "a\u202eb": `a\u202eb`, "\t": `\t`,
	} {
		if got := oneLine(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
