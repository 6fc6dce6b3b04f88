package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every example of the README runs, in the order in which a reader meets them.
func TestReadmeExamplesRun(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), readme, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "set -euo pipefail\n"
	blocks := 0
	for rest := string(readme); ; blocks++ {
		_, after, found := strings.Cut(rest, "```sh\n")
		if !found {
			break
		}
		block, after, found := strings.Cut(after, "```\n")
		if !found {
			t.Fatal("README.md: an example does not end")
		}
		script += block
		rest = after
	}
	if blocks < 4 {
		t.Fatalf("README.md: %d examples found", blocks)
	}
	c := exec.CommandContext(t.Context(), bash, "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "TZ=UTC")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"first\nsecond\nthird\n", "1 second\n2 third\n", "alice\tlogin\nalice\tlogout\n", "alice=login\n",
		"a|b\nc|", "no such topic: status 3\n", "jobs\t0\t0\njobs\t0\t1\n", "\nsound\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the examples print no %q:\n%s", want, out)
		}
	}
}
