package vfs_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// traced runs the calls of childCalls in a fresh directory with strace making the
// n-th (per thread) of one system call fail, and returns the directory, what the
// child said and the trace.
func traced(t *testing.T, call, errno, n string) (dir, said, trace string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	exe, err := os.Executable()
	must(t, err)
	dir = t.TempDir()
	out := t.TempDir() + "/trace"
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", out, "-P", dir, "-P", dir+"/f",
		"-e", "trace="+call, "-e", "inject="+call+":error="+errno+":when="+n, "--", exe)
	cmd.Env = append(os.Environ(), childEnv+"=calls "+dir)
	b, err := cmd.CombinedOutput()
	if err != nil && len(b) == 0 {
		t.Fatal(err)
	}
	log, err := os.ReadFile(out)
	must(t, err)
	if !strings.Contains(string(log), "INJECTED") {
		t.Fatalf("%s was never made to fail:\n%s", call, log)
	}
	return dir, string(b), string(log)
}

func TestG030G031InterruptedCallsAreMadeAgain(t *testing.T) {
	for _, call := range []string{"openat", "pwrite64", "pread64", "fdatasync", "fsync", "flock"} {
		dir, said, _ := traced(t, call, "EINTR", "1")
		if said != "" {
			t.Errorf("%s: %s", call, said)
		}
		if b, err := os.ReadFile(dir + "/f"); err != nil || string(b) != "once" {
			t.Errorf("%s: %q, %v", call, b, err)
		}
	}
}

// strace makes the call fail without doing it, so the descriptors stay open: what
// counts is that each of the five that calls opens is closed once.
func TestG031InterruptedCloseIsNotMadeAgain(t *testing.T) {
	_, said, trace := traced(t, "close", "EINTR", "1+")
	if n := strings.Count(trace, "close("); said != "" || n != 5 {
		t.Errorf("said %q, %d times:\n%s", said, n, trace)
	}
}

func TestG016FailedSyncIsReportedAndNotTriedAgain(t *testing.T) {
	_, said, trace := traced(t, "fdatasync", "EIO", "1")
	if !strings.Contains(said, "input/output error") || strings.Count(trace, "fdatasync(") != 1 {
		t.Errorf("said %q\n%s", said, trace)
	}
}

func TestG028UnsupportedLockIsNamed(t *testing.T) {
	for _, errno := range []string{"ENOLCK", "EOPNOTSUPP", "ENOSYS", "EBADF"} {
		_, said, _ := traced(t, "flock", errno, "1+")
		if !strings.Contains(said, "does not support locks") {
			t.Errorf("%s: %q", errno, said)
		}
	}
}
