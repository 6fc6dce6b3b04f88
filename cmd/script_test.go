package cmd_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klog-project/klog/cmd"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary be klog too, and a few small programs that show one
// manner each: a script runs real processes, and needs nothing built before.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"klog":          klogMain,
		"test-wait":     waitMain,
		"test-write":    writeMain,
		"test-confirm":  confirmMain,
		"test-progress": progressMain,
	})
}

// klogMain is what cmd/klog does.
func klogMain() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	code := cmd.Main(ctx, e, os.Args)
	signals.Raise()
	os.Exit(code)
}

// TestScript runs testdata/script: one file a behaviour, what it is about in its first
// line. KLOG_UPDATE=1 rewrites the expected output that `cmp` compares.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               scriptEnv,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "same": same},
		Condition:           condition,
		UpdateScripts:       os.Getenv("KLOG_UPDATE") != "",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
	})
}

// scriptEnv is the environment of a script: a home and a root of its own.
func scriptEnv(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("KLOG_ROOT", filepath.Join(env.WorkDir, "root"))
	env.Setenv("TZ", "UTC")
	env.Setenv("LC_ALL", "C.UTF-8")
	env.Setenv("SHARED", sharedDir())
	return os.Mkdir(home, 0o700)
}

// sharedDir holds test data that is not part of the project; it may not exist.
func sharedDir() string {
	if d := os.Getenv("KLOG_TEST_SHARED"); d != "" {
		return d
	}
	d, err := filepath.Abs(filepath.Join("..", "..", "shared"))
	if err != nil {
		return ""
	}
	return d
}

// condition knows [root] and [shared].
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "shared":
		_, err := os.Stat(filepath.Join(sharedDir(), "vectors"))
		return err == nil, nil
	}
	return false, errors.New("unknown condition " + name)
}

// exits runs a program and wants an exit status: exits 3 klog cat nosuch. A program
// that a signal ended has the status that a shell shows.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %v", err)
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ee *exec.ExitError
		if !errors.As(err, &ee) {
			ts.Fatalf("exits: %v", err)
		}
		got = shellStatus(ee.ProcessState)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}

// same runs klog once with each of its arguments, which are split at blanks, and wants
// the same output from all: same 'tail -n 2 orders' 'tail orders -n2'. The output is
// there to compare afterwards.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: same 'ARG...' ...")
	}
	first := ""
	for i, words := range args {
		ts.Check(ts.Exec("klog", strings.Fields(words)...))
		got := ts.ReadFile("stdout")
		if i == 0 {
			first = got
		}
		if got != first {
			ts.Fatalf("klog %s prints other things than klog %s", words, args[0])
		}
	}
}
