package interop_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/klog-project/klog/cmd"
)

// patience bounds each wait for something that takes seconds on an idle machine.
const patience = 2 * time.Minute

// TestMain makes this test binary be klog too.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"klog": klogMain})
}

// klogMain is what cmd/klog does.
func klogMain() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	code := cmd.Main(ctx, e, os.Args)
	signals.Raise()
	os.Exit(code)
}

// program is this test binary as klog. It is killed when the test ends.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, args...)
	c.Args[0] = "klog"
	c.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8")
	return c
}

// klogStatus runs klog and returns its status and what it said.
func klogStatus(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := program(t, args...)
	var out, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &said
	var ee *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), said.String()
}

// klog runs klog, which must succeed, and returns its output.
func klog(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	code, out, said := klogStatus(t, stdin, args...)
	if code != 0 {
		t.Fatalf("klog %s: status %d\n%s", strings.Join(args, " "), code, said)
	}
	return out
}

// until tries something again and again until it works.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if t.Failed() || time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// kafkaJars is a directory with Kafka's jars, which are fetched when they are not there.
func kafkaJars(t *testing.T) string {
	t.Helper()
	if os.Getenv("KLOG_TEST_INTEROP") == "" {
		t.Skip("skipped: KLOG_TEST_INTEROP is not set (make interop)")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("skipped: no java")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	jars := filepath.Join(cache, "klog-interop", "kafka-4.3.1")
	if _, err := os.Stat(jars); err == nil {
		return jars
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("skipped: no mvn to fetch Kafka with")
	}
	fetchJars(t, jars)
	return jars
}

// fetchJars fills dir, which exists only once it is complete.
func fetchJars(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "fetch-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	libs := filepath.Join(tmp, "libs")
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", filepath.Join("testdata", "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+libs)
	if out, err := mvn.CombinedOutput(); err != nil {
		t.Fatalf("fetch Kafka from Maven Central: %v\n%s", err, out)
	}
	// Another test may have been faster; its files are the same.
	if err := os.Rename(libs, dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		t.Fatal(err)
	}
}

// javaArgs begin the command line of each Java program.
func javaArgs(t *testing.T) []string {
	t.Helper()
	return []string{
		"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(kafkaJars(t), "*"),
	}
}

// java runs a class of Kafka, which must succeed, and returns its output and what it
// said beside.
func java(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "java", append(javaArgs(t), args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", args[0], err, out.String(), said.String())
	}
	return out.String(), said.String()
}
