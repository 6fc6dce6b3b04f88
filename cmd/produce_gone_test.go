package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goneWords is what a producer says whose topic is another one or none.
const goneWords = "the topic was deleted, renamed or replaced while it was in use; 1 record is safe"

func TestProduceEndsAfterItsTopicIsGone(t *testing.T) {
	for _, c := range []struct {
		name string
		away [][]string
		sync string
	}{
		{"deleted", [][]string{{"topic", "delete", "-y", "t"}}, "exit"},
		{"deleted, was on disk", [][]string{{"topic", "delete", "-y", "t"}}, "batch"},
		{"renamed", [][]string{{"topic", "rename", "-y", "t", "u"}}, "exit"},
		{"replaced", [][]string{{"topic", "delete", "-y", "t"}, {"topic", "create", "t"}}, "exit"},
		{"replaced, was on disk", [][]string{{"topic", "delete", "-y", "t"}, {"topic", "create", "t"}}, "batch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRoot(t)
			p := r.klog("produce", "--print-offset", "--sync", c.sync, "t")
			var stderr bytes.Buffer
			p.Stderr = &stderr
			in, err := p.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := in.Write([]byte("x\n")); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 64)); err != nil {
				t.Fatal(err)
			}
			for _, args := range c.away {
				r.run(args...)
			}
			in.Close()
			_ = p.Wait()
			if code := p.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), goneWords) || strings.Contains(stderr.String(), "disk") {
				t.Errorf("status %d, want 3; it says:\n%s", code, &stderr)
			}
		})
	}
}

func TestFollowEndsWhenItsTopicIsGone(t *testing.T) {
	t.Parallel()
	r := newRoot(t)
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := r.klog("produce", "--sync", "exit", "t", "--follow", file)
	var stderr bytes.Buffer
	p.Stderr = &stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer p.Process.Kill()
	until(t, "the line is in the log", func() bool { return r.cat("t") == "x\n" })
	r.run("topic", "delete", "-y", "t")
	// No further line comes: the sync that is due after five seconds finds out.
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), goneWords) {
		t.Errorf("status %d, want 3; it says:\n%s", code, &stderr)
	}
}
