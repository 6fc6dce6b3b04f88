package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func TestExitCode(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x.log", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{&engine.TopicExistsError{Name: "t"}, 1},
		{&engine.TooNewError{}, 1},
		{&engine.SharedFSError{}, 1},
		{&engine.ConfigError{Name: "a", File: "server.properties"}, 1},
		{usagef("x"), 2},
		{&value.Error{}, 2},
		{&engine.InvalidError{}, 2},
		{&engine.ConfigError{Name: "a"}, 2},
		{&engine.NoRootError{Dir: "/x"}, 3},
		{&engine.UnknownTopicError{}, 3},
		{&engine.UnknownPartitionError{}, 3},
		{engine.ErrTopicGone, 3},
		{segments.ErrGone, 3},
		{&engine.RangeError{}, 3},
		{segments.ErrProducerFenced, 6},
		{&segments.CorruptError{Err: full}, 4},
		{&engine.LockedError{}, 5},
		{full, 7},
		{syscall.EDQUOT, 7},
		{syscall.EFBIG, 7},
		{&outputError{full}, 1},
		{errBrokenPipe, 141},
		{status(8), 8},
		{withStatus(9, full), 9},
		{context.DeadlineExceeded, 124},
		{&signalError{syscall.SIGTERM}, 143},
	} {
		for _, err := range []error{c.err, wrapped(c.err), withHint(c.err, "hint")} {
			if c.err == nil {
				err = nil
			}
			if got := exitCode(err); got != c.want {
				t.Errorf("%v (%T): got %d, want %d", err, c.err, got, c.want)
			}
		}
	}
}

func wrapped(err error) error { return fmt.Errorf("topic orders: %w", err) }

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("a\nb"), "klog: topic create: a\\nb\n"},
		{withHint(withHint(errors.New("a"), "one"), "two"), "klog: topic create: a\nklog: hint: two\nklog: hint: one\n"},
		{&usageError{"a", "b"}, "klog: topic create: a\nklog: hint: b\n"},
		{errors.Join(errors.New("a"), withHint(errors.New("b"), "c")), "klog: topic create: a\nklog: topic create: b\nklog: hint: c\n"},
		{&engine.UnknownTopicError{Name: "ordres", Root: "/r", Near: "orders"}, "klog: topic create: ordres: no such topic in /r\nklog: hint: did you mean orders?\n"},
		{&segments.CorruptError{File: "f", Err: syscall.EIO, FirstOffset: -1, Reason: "r"}, "klog: topic create: f: byte 0: r: input/output error\n"},
		{status(4), ""},
		{&signalError{syscall.SIGINT}, ""},
		{errBrokenPipe, ""},
	} {
		e := testEnv(t)
		e.command = "topic create"
		e.report(c.err)
		if got := printed(t, e.Stderr); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}

func TestQuietKeepsErrors(t *testing.T) {
	e := testEnv(t)
	e.global.quiet = true
	e.Notice("notice")
	e.Verbose("verbose")
	e.report(withHint(errors.New("an error"), "hint"))
	if got := printed(t, e.Stderr); got != "klog: an error\n" {
		t.Errorf("got %q", got)
	}
}

func TestSudoHint(t *testing.T) {
	e := testEnv(t)
	e.Geteuid = func() int { return 0 }
	e.Getenv = func(k string) string { return map[string]string{"SUDO_USER": "ann"}[k] }
	e.report(&engine.NoRootError{Dir: systemRoot})
	if got := printed(t, e.Stderr); !strings.Contains(got, "hint: under sudo") || !strings.Contains(got, "ann") {
		t.Errorf("got %q", got)
	}
}

func TestRefusalNamesOwnerAndMode(t *testing.T) {
	e := testEnv(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	e.report(&fs.PathError{Op: "mkdir", Path: filepath.Join(dir, "orders-0"), Err: syscall.EACCES})
	got := printed(t, e.Stderr)
	if !strings.Contains(got, "hint: "+dir+" is owned by ") || !strings.Contains(got, ", mode drwxr-x---\n") {
		t.Errorf("%q", got)
	}
}

func TestItems(t *testing.T) {
	bad, missing := errors.New("bad"), &engine.UnknownTopicError{}
	for _, c := range []struct {
		errs []error
		want int
	}{
		{nil, 0}, {[]error{nil, nil}, 0}, {[]error{nil, bad}, 8}, {[]error{missing, nil}, 8}, {[]error{missing, bad}, 3}, {[]error{bad}, 1},
	} {
		e := testEnv(t)
		all := items{e: e}
		for _, err := range c.errs {
			all.done(err)
		}
		if got := exitCode(all.err()); got != c.want {
			t.Errorf("%v: got %d, want %d", c.errs, got, c.want)
		}
	}
}

func TestFaultIsAMessage(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		e := testEnv(t)
		e.Getenv = func(k string) string {
			e.global.verbose = verbose
			panic("a fault")
		}
		code := Main(t.Context(), e, []string{"klog", "version"})
		got := printed(t, e.Stderr)
		if code != 1 || !strings.HasPrefix(got, "klog: version: internal error: a fault\n") || strings.Contains(got, "goroutine") != verbose {
			t.Errorf("verbose %v: status %d, %q", verbose, code, got)
		}
	}
}
