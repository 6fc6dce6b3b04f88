package cmd_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// brokerRow is a record as a broker's clients saw it.
type brokerRow struct {
	Offset  int64          `json:"offset"`
	TS      int64          `json:"ts"`
	TSType  int8           `json:"tstype"` // 0 create, 1 logappend
	Epoch   int32          `json:"epoch"`
	Key     *[]byte        `json:"key"`
	Value   *[]byte        `json:"value"`
	Headers []brokerHeader `json:"headers"`
}

type brokerHeader struct {
	Key   string  `json:"key"`
	Value *[]byte `json:"value"`
}

// brokerRows reads expected rows.
func brokerRows(t *testing.T, file []byte) []brokerRow {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var rows []brokerRow
	for d := json.NewDecoder(zr); ; {
		var r brokerRow
		switch err := d.Decode(&r); {
		case err == io.EOF:
			return rows
		case err != nil:
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

// catField is a byte string in a row of `klog cat -J`; nil is null.
type catField struct{ bytes *[]byte }

func (f *catField) UnmarshalJSON(b []byte) error {
	var text string
	var other struct {
		Base64 []byte `json:"base64"`
	}
	switch {
	case string(b) == "null":
		f.bytes = nil
		return nil
	case b[0] == '"':
		err := json.Unmarshal(b, &text)
		other.Base64 = []byte(text)
		f.bytes = &other.Base64
		return err
	}
	f.bytes = &other.Base64
	return json.Unmarshal(b, &other)
}

// catRows reads what `klog cat -J` prints, and the epochs that `klog cat -F '%e\n'` does.
func catRows(t *testing.T, topic string, partition int32, rows, epochs string) []brokerRow {
	t.Helper()
	var all []brokerRow
	epoch := strings.NewReader(epochs)
	for line := range strings.Lines(rows) {
		var r struct {
			Topic      string
			Partition  int32
			Offset, TS int64
			TSType     string
			Key, Value catField
			Headers    []struct{ Key, Value catField }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		x := brokerRow{Offset: r.Offset, TS: r.TS, Key: r.Key.bytes, Value: r.Value.bytes}
		for _, h := range r.Headers {
			x.Headers = append(x.Headers, brokerHeader{string(*h.Key.bytes), h.Value.bytes})
		}
		if r.TSType == "logappend" {
			x.TSType = 1
		}
		if _, err := fmt.Fscan(epoch, &x.Epoch); err != nil {
			t.Fatal("epochs: ", err)
		}
		if r.Topic != topic || r.Partition != partition {
			t.Fatalf("a row of %s-%d in %s-%d", r.Topic, r.Partition, topic, partition)
		}
		all = append(all, x)
	}
	return all
}

// stranger runs klog as a user to whom nothing belongs. Without the right to do so it is
// the user of this test.
type stranger struct {
	t   *testing.T
	exe string
}

// newStranger makes dir, and klog, reachable for the user.
func newStranger(t *testing.T, dir string) stranger {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return stranger{t, exe}
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	s := stranger{t, filepath.Join(t.TempDir(), "klog")}
	if err := os.WriteFile(s.exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(filepath.Dir(s.exe)), filepath.Dir(s.exe), filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.command("version").Run(); errors.Is(err, fs.ErrPermission) {
		t.Skipf("skipped: another user cannot reach %s", s.exe)
	}
	return s
}

func (s stranger) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), s.exe, args...)
	c.Args[0], c.Dir = "klog", "/"
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return c
}

// run runs klog, which must succeed, and returns its output.
func (s stranger) run(args ...string) string {
	s.t.Helper()
	c := s.command(args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || stderr.Len() > 0 {
		s.t.Fatalf("klog %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// TestBrokerDirectoriesForAStranger prints every partition of a real broker, stopped in
// order or killed, as the broker's own clients read it, for a user who may only read, and
// leaves every byte, name, time and mode as it is.
func TestBrokerDirectoriesForAStranger(t *testing.T) {
	for _, state := range []string{"clean", "killed"} {
		t.Run(state, func(t *testing.T) {
			want := map[string][]byte{}
			for _, file := range segmentstest.Files(t, "broker-4.3.1/expect/"+state) {
				want[filepath.Base(file)] = segmentstest.File(t, file)
			}
			printsAsExpected(t, segmentstest.Dir(t, "broker-4.3.1/"+state), want)
		})
		t.Run(state+"/all", func(t *testing.T) {
			from := segmentstest.Shared(t, "vectors/broker-4.3.1/"+state)
			dir := filepath.Join(t.TempDir(), state)
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(from, "..", "expect", state, "*.gz"))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]byte{}
			for _, file := range files {
				if want[filepath.Base(file)], err = os.ReadFile(file); err != nil {
					t.Fatal(err)
				}
			}
			printsAsExpected(t, dir, want)
		})
	}
}

// printsAsExpected compares what klog prints of a log directory with expectations, by
// file name.
func printsAsExpected(t *testing.T, dir string, want map[string][]byte) {
	t.Helper()
	if len(want) < 5 {
		t.Fatalf("only %d partitions", len(want))
	}
	s := newStranger(t, dir)
	forbidWriting(t, dir)
	before := everything(t, dir)
	for file, data := range want {
		name, _ := strings.CutSuffix(file, ".jsonl.gz")
		name, committed := strings.CutSuffix(name, ".committed")
		topic, partition, _ := segments.ParsePartitionDir(name)
		isolation := "read_uncommitted"
		if committed {
			isolation = "read_committed"
		}
		rows := brokerRows(t, data)
		for _, which := range [][]string{{"-R", dir, topic, "-p", fmt.Sprint(partition)}, {filepath.Join(dir, name)}} {
			args := append([]string{"cat", "--isolation", isolation}, which...)
			got := catRows(t, topic, partition, s.run(append(args, "-J")...), s.run(append(args, "-F", `%e\n`)...))
			sameBrokerRows(t, file, rows, got)
		}
	}
	s.run("-R", dir, "topic", "list")
	s.run("-R", dir, "dump", dir)
	if found := s.run("-R", dir, "verify", "--deep"); found != "" {
		t.Errorf("klog verify finds\n%s", found)
	}
	produce := s.command("-R", dir, "produce", "odd")
	produce.Stdin = strings.NewReader("x\n")
	if out, err := produce.CombinedOutput(); err == nil || !strings.Contains(string(out), "permission denied") {
		t.Errorf("klog produce: %v\n%s", err, out)
	}
	if diff := cmp.Diff(before, everything(t, dir)); diff != "" {
		t.Errorf("%s was changed (-before +after):\n%s", dir, diff)
	}
}

// sameBrokerRows reports the first row that differs.
func sameBrokerRows(t *testing.T, name string, want, got []brokerRow) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d records, want %d", name, len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("%s: record %d (-want +got):\n%.2000s", name, i, cmp.Diff(want[i], got[i]))
			return
		}
	}
}

// forbidWriting takes the right to write from all below dir, for its owner too, and
// gives everybody the right to read.
func forbidWriting(t *testing.T, dir string) {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return errors.Join(err, os.Chmod(path, 0o444))
		}
		dirs = append(dirs, path)
		return nil
	})
	for _, d := range dirs {
		err = errors.Join(err, os.Chmod(d, 0o555))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, d := range dirs {
			os.Chmod(d, 0o755)
		}
	})
}

// everything is what a directory holds: by path the mode, the time of the last change
// and a checksum.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			data, err = os.ReadFile(path)
		}
		all[path] = fmt.Sprintf("%v %d %x", info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
