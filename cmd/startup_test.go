package cmd_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestG129StartUpInitialisesLittle bounds what packages do before main, in bytes and
// allocations: unlike time they do not depend on the machine. A dependency with tables
// to build or patterns to compile shows here at once.
func TestG129StartUpInitialisesLittle(t *testing.T) {
	const mostBytes, mostAllocs = 160_000, 600
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	exe := filepath.Join(t.TempDir(), "klog")
	build := exec.Command(goTool, "build", "-tags", "urfave_cli_no_docs", "-o", exe, module+"cmd/klog")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(exe, "version")
	run.Env = []string{"GODEBUG=inittrace=1", "HOME=/"}
	var trace strings.Builder
	run.Stderr = &trace
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	bytes, allocs := 0, 0
	for line := range strings.Lines(trace.String()) {
		// init NAME @1.2 ms, 0.01 ms clock, 312 bytes, 7 allocs
		f := strings.Fields(line)
		if len(f) < 11 || f[0] != "init" {
			continue
		}
		b, _ := strconv.Atoi(f[7])
		a, _ := strconv.Atoi(f[9])
		if b > 50_000 || a > 250 {
			t.Errorf("too much for one package: %s", line)
		}
		bytes, allocs = bytes+b, allocs+a
	}
	if bytes == 0 || bytes > mostBytes || allocs > mostAllocs {
		t.Errorf("%d bytes and %d allocations before main, want at most %d and %d", bytes, allocs, mostBytes, mostAllocs)
	}
	t.Logf("%d bytes, %d allocations", bytes, allocs)
}
