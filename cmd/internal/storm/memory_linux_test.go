package storm

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	mib = 1 << 20
	// base is what a run may take whatever it handles; three times its largest record,
	// line or decompressed batch come on top.
	base = 64 * mib
)

// peak is the largest resident set that a process had, in bytes, by its status in /proc.
func peak(t *testing.T, status string) int64 {
	t.Helper()
	b, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kib int64
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				return kib << 10
			}
		}
	}
	t.Fatalf("no VmHWM in %s", status)
	return 0
}

// frugal runs klog to its end and wants it to succeed within most bytes of memory.
func (r *rig) frugal(most int64, in io.Reader, args ...string) {
	r.t.Helper()
	status := filepath.Join(r.t.TempDir(), "status")
	c := r.klog(args...)
	c.Env = append(c.Env, peakEnv+"="+status)
	c.Stdin = in
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer null.Close()
	c.Stdout = null
	if o := r.finish(c); o.status != 0 {
		r.t.Errorf("klog %s: status %d, %s", strings.Join(args, " "), o.status, o.err)
		return
	}
	r.within(most, status, args)
}

// within wants a process to have taken not more than most bytes.
func (r *rig) within(most int64, status string, args []string) {
	r.t.Helper()
	got := peak(r.t, status)
	r.t.Logf("%5.1f MiB of %d: klog %s", float64(got)/mib, most/mib, strings.Join(args, " "))
	if got > most {
		r.t.Errorf("klog %s: took %d MiB, want %d at most", strings.Join(args, " "), got/mib, most/mib)
	}
}

// frugalFollow follows a topic until size bytes were printed.
func (r *rig) frugalFollow(most, size int64, args ...string) {
	r.t.Helper()
	args = append([]string{"tail", "-f", "-o", "earliest"}, args...)
	c := r.klog(args...)
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, out, size); err != nil {
		r.t.Errorf("klog %s: %d bytes of %d, %v, %s", strings.Join(args, " "), n, size, err, &errs)
	} else {
		r.within(most, fmt.Sprintf("/proc/%d/status", c.Process.Pid), args)
	}
	c.Process.Kill()
	c.Wait()
}

// logLines are lines of a log, size bytes of them about.
func logLines(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "key-%d\t2026-12-01T10:00:00.%09d host app[%d]: request %x took %d ms and was answered\n", i%1000, i, i%77, i*7919, i%991)
	}
	return b.Bytes()
}

func TestMemoryIsBounded(t *testing.T)     { memoryOfLog(quickRig(t), 120*mib) }
func TestMemoryIsBoundedLong(t *testing.T) { long(t); memoryOfLog(quickRig(t), 600*mib) }

// memoryOfLog reads and writes a log that is larger than the memory it may take.
func memoryOfLog(r *rig, size int) {
	data := logLines(size)
	file := filepath.Join(filepath.Dir(r.root), "input")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	defer os.Remove(file)
	r.frugal(base, nil, "produce", "plain", "--sync", "never", file)
	r.frugal(base, bytes.NewReader(data), "produce", "piped", "--sync", "never")
	for _, codec := range codecs()[1:] {
		r.frugal(base, nil, "produce", codec, "-z", codec, "--sync", "never", file)
		r.frugal(base, nil, "cat", codec)
	}
	r.run("", "topic", "create", "many", "--partitions", "64")
	r.frugal(base, nil, "produce", "many", "-K", `\t`, "--sync", "never", file)
	for _, topic := range []string{"plain", "many", "zstd"} {
		r.frugal(base, nil, "cat", topic)
		r.frugal(base, nil, "cat", "-J", topic)
		r.frugal(base, nil, "cat", topic, "--grep", "took 17 ms")
		r.frugal(base, nil, "tail", "-n", "300000", topic)
		r.frugal(base, nil, "verify", topic)
		r.frugal(base, nil, "verify", "--deep", topic)
	}
	r.frugalFollow(base, int64(len(data)), "plain")
	r.frugalFollow(base, int64(len(data)), "many", "-K", `\t`)
	r.frugal(base, nil, "dump", r.at("plain-0"))
}

// giant is a record, a line or a batch that is large beside what klog takes anyway.
const giant = 30_000_000

func TestMemoryOfOneGiantLine(t *testing.T) {
	r := quickRig(t)
	const most = base + 3*giant
	line := bytes.Repeat([]byte("thirty million bytes\u00e4\n\t."), giant/24)
	line = append(bytes.ReplaceAll(line, []byte("\n"), []byte(" ")), '\n')
	for _, codec := range codecs() {
		r.run("", "topic", "create", codec, "--config", "max.message.bytes=200MB")
		r.frugal(most, bytes.NewReader(line), "produce", codec, "-z", codec)
		r.frugal(most, nil, "cat", codec)
		r.frugal(most, nil, "verify", "--deep", codec)
	}
	r.frugal(most, nil, "cat", "-J", "none")
	r.frugal(most, nil, "tail", "-n", "1", "none")
	r.frugalFollow(most, int64(len(line)), "none")
	r.frugalFollow(most, int64(len(line)), "zstd")

	row := []byte(r.run("", "cat", "-J", "none"))
	r.run("", "topic", "create", "rows", "--config", "max.message.bytes=200MB")
	r.frugal(base+3*int64(len(row)), bytes.NewReader(row), "produce", "-J", "rows")
	r.run("", "topic", "create", "whole", "--config", "max.message.bytes=200MB")
	r.frugal(most, bytes.NewReader(line), "produce", "--whole", "whole")
}

func TestMemoryOfALineThatIsTooLong(t *testing.T) {
	r := quickRig(t)
	r.run("first\n", "produce", "t")
	c := r.klog("produce", "t", "--oversize", "skip")
	status := filepath.Join(t.TempDir(), "status")
	c.Env = append(c.Env, peakEnv+"="+status)
	c.Stdin = io.MultiReader(&zeros{left: 500_000_000}, strings.NewReader("\nlast\n"))
	if o := r.finish(c); o.status != 8 {
		t.Errorf("status %d, want 8: %s", o.status, o.err)
	}
	r.within(base, status, c.Args[1:])
	if got := r.run("", "cat", "t"); got != "first\nlast\n" {
		t.Errorf("%q", got)
	}
}

// zeros are so many bytes.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(z.left, len(p))
	clear(p[:n])
	z.left -= n
	return n, nil
}

func TestMemoryOfCompressedZeros(t *testing.T) {
	r := quickRig(t)
	const most = base + 3*giant
	for name, in := range map[string]io.Reader{
		"one":  &zeros{left: giant},
		"many": bytes.NewReader(bytes.Repeat(append(make([]byte, 99_999), '\n'), giant/100_000)),
	} {
		r.run("", "topic", "create", name, "--config", "max.message.bytes=200MB")
		r.frugal(most, in, "produce", name, "-z", "zstd", "--batch-size", "40MB", "--linger", "10s")
		r.frugal(most, nil, "cat", name)
		r.frugal(most, nil, "cat", "-J", name)
		r.frugal(most, nil, "verify", "--deep", name)
		r.frugalFollow(most, giant, name)
		r.frugalFollow(most, giant, "-J", name)
	}
}

// prlimit is words that start a program with not more than so many open files.
func prlimit(t *testing.T, files int) []string {
	t.Helper()
	n := strconv.Itoa(files)
	return []string{need(t, "prlimit"), "--nofile=" + n + ":" + n}
}

func TestOpenFilesAreFew(t *testing.T) {
	r := quickRig(t)
	limited := prlimit(t, 32)
	r.run("", "topic", "create", "t", "--partitions", "64", "--config", "segment.bytes=1000")
	var in bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&in, "%d:the record of that key\n", i)
	}
	do := func(input []byte, args ...string) string {
		t.Helper()
		c := r.under(limited, args...)
		c.Stdin = bytes.NewReader(input)
		o := r.finish(c)
		if o.status != 0 || o.err != "" {
			t.Errorf("klog %s: status %d, %s", strings.Join(args, " "), o.status, o.err)
		}
		return o.out
	}
	do(in.Bytes(), "produce", "t", "-K", ":", "--batch-size", "100")
	all := do(nil, "cat", "t", "-K", ":")
	if strings.Count(all, "\n") != 5000 {
		t.Errorf("%d lines", strings.Count(all, "\n"))
	}
	do(nil, "tail", "-n", "10", "t")
	do(nil, "verify", "--deep", "t")
	do(nil, "topic", "describe", "t")
	do(nil, "topic", "list")
	do(nil, "locks")
	do(nil, "dump", r.at("t-0"))

	f := r.followUnder(limited, "tail", "-f", "-o", "earliest", "t", "-K", ":")
	f.reaches(int64(len(all)))
	few(t, f.c)
	w := r.klog("produce", "t", "-K", ":", "--print-offset")
	feed, err := w.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(feed, in.String())
	lines := bufio.NewScanner(out)
	for range 5000 {
		lines.Scan()
	}
	few(t, w)
	feed.Close()
	w.Wait()
	f.reaches(2 * int64(len(all)))
	few(t, f.c)
	f.end()
}

// few wants a process to have fewer than 32 files open.
func few(t *testing.T, c *exec.Cmd) {
	t.Helper()
	es, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d open files: %s", len(es), strings.Join(c.Args, " "))
	if len(es) >= 32 {
		for _, e := range es {
			name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", c.Process.Pid, e.Name()))
			t.Log(name)
		}
		t.Errorf("%d open files", len(es))
	}
}

// TestG006TooFewDescriptorsAreNoDamage lets commands run with hardly any: they work or
// say what they lack, and no file is changed.
func TestG006TooFewDescriptorsAreNoDamage(t *testing.T) {
	r := quickRig(t)
	r.run("", "topic", "create", "t", "--partitions", "3", "--config", "segment.bytes=1024")
	r.run(strings.Repeat("some words\n", 5000), "produce", "t", "--batch-size", "200", "--partitioner", "round-robin")
	before := r.logSums("t")
	for files := 4; files < 20; files++ {
		limited := prlimit(t, files)
		for _, args := range [][]string{
			{"cat", "t"}, {"tail", "-n", "3", "t"}, {"verify", "t"}, {"topic", "describe", "t"}, {"produce", "t"},
		} {
			o := r.finish(r.under(limited, args...))
			named := strings.Contains(o.err, "too many open files")
			if o.status == 0 || named && o.status == 1 {
				continue
			}
			t.Errorf("%d files: klog %s: status %d, %s", files, strings.Join(args, " "), o.status, o.err)
		}
	}
	if after := r.logSums("t"); after != before {
		t.Errorf("files were changed:\n%s\n%s", before, after)
	}
	r.verified("t")
}

// logSums names the logs of a topic with their sizes.
func (r *rig) logSums(topic string) string {
	r.t.Helper()
	names, err := filepath.Glob(r.at(topic+"-*", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		st, err := os.Stat(name)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintln(&b, name, st.Size())
	}
	return b.String()
}
