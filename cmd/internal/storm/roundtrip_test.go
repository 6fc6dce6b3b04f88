package storm

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// codecs are the names that -z takes.
func codecs() []string { return []string{"none", "gzip", "snappy", "lz4", "zstd"} }

// noise are size random bytes, the same each time.
func noise(size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

// logFiles are the log files of real systems, by name.
func logFiles(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(sharedDir(), "data", "loghub", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("needs the log files below KLOG_TEST_SHARED")
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// handMade are inputs that end and begin where it is easy to be wrong.
func handMade() map[string][]byte {
	return map[string][]byte{
		"empty":       {},
		"newline":     []byte("\n"),
		"newlines":    bytes.Repeat([]byte("\n"), 3000),
		"one":         []byte("x"),
		"crlf":        []byte("a\r\nb\r\n\r\n\rc\r\nd\r"),
		"nul":         []byte("a\x00b\n\x00\x00c\n\x00"),
		"not-utf8":    []byte("\xff\xfe\n\xc3\n\xed\xa0\x80\nä\xe4\n"),
		"long-line":   append(bytes.Repeat([]byte("long "), 150_000), "\nshort"...),
		"chunk-edges": bytes.Repeat([]byte(string(bytes.Repeat([]byte("."), 1023))+"\n"), 2000),
	}
}

func TestRoundTripOfHandMadeInputs(t *testing.T) {
	for name, data := range handMade() {
		t.Run(name+"/1", func(t *testing.T) { roundTrips(t, data, codecs()[len(name)%len(codecs())], 1) })
		t.Run(name+"/7", func(t *testing.T) { roundTrips(t, data, codecs()[len(data)%len(codecs())], 7) })
	}
}

func TestRoundTripOfLogFiles(t *testing.T) {
	i := 0
	for name, data := range logFiles(t) {
		codec, partitions := codecs()[i%len(codecs())], 1+6*(i%2)
		t.Run(name+"/"+codec, func(t *testing.T) { roundTrips(t, data, codec, partitions) })
		i++
	}
}

func TestRoundTripOfNoise(t *testing.T) {
	data := noise(3_000_000)
	for i, codec := range codecs() {
		t.Run(codec, func(t *testing.T) { roundTrips(t, data, codec, 7-6*(i%2)) })
	}
}

func TestRoundTripOfLogFilesLong(t *testing.T) {
	long(t)
	for name, data := range logFiles(t) {
		for _, codec := range codecs() {
			for _, partitions := range []int{1, 7} {
				t.Run(name+"/"+codec+"/"+strconv.Itoa(partitions), func(t *testing.T) { roundTrips(t, data, codec, partitions) })
			}
		}
	}
}

func TestRoundTripOfNoiseLong(t *testing.T) {
	long(t)
	data := noise(100_000_000)
	for _, codec := range codecs() {
		for _, partitions := range []int{1, 7} {
			t.Run(codec+"/"+strconv.Itoa(partitions), func(t *testing.T) { roundTrips(t, data, codec, partitions) })
		}
	}
}

// roundTrips takes data into topics and out again, in all ways.
func roundTrips(t *testing.T, data []byte, codec string, partitions int) {
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := &trip{rig: quickRig(t), file: file, codec: codec, partitions: partitions}
	tr.lines("lines", data, "\n")
	tr.lines("nul", data, "\x00", "-0")
	tr.whole("whole", data)
	tr.rows("lines", "rows")
}

// trip is the way of one file into topics and out again.
type trip struct {
	*rig
	file       string
	codec      string
	partitions int
}

// create makes a topic for records of any size.
func (tr *trip) create(topic string) {
	tr.t.Helper()
	tr.run("", "topic", "create", topic, "--partitions", strconv.Itoa(tr.partitions), "--config", "max.message.bytes=200MB")
}

// take runs klog with the file as standard input.
func (tr *trip) take(args ...string) {
	tr.t.Helper()
	f, err := os.Open(tr.file)
	if err != nil {
		tr.t.Fatal(err)
	}
	defer f.Close()
	c := tr.klog(args...)
	c.Stdin = f
	if tr.codec == "snappy" || tr.codec == "zstd" {
		c.Stdin = io.MultiReader(f) // hides the file: klog gets a pipe
	}
	if o := tr.finish(c); o.status != 0 || o.err != "" {
		tr.t.Fatalf("%q: status %d, %s", args, o.status, o.err)
	}
}

// lines takes data in as records that end with delim.
func (tr *trip) lines(topic string, data []byte, delim string, flags ...string) {
	tr.t.Helper()
	tr.create(topic)
	tr.take(append([]string{"produce", topic, "-z", tr.codec, "--batch-size", "16KiB"}, flags...)...)
	tr.same(topic, data, delim, flags...)
}

// same wants the records of data in topic: in their order where there is one partition,
// each partition's in their order where there are several.
func (tr *trip) same(topic string, data []byte, delim string, flags ...string) {
	tr.t.Helper()
	if len(data) > 0 && !bytes.HasSuffix(data, []byte(delim)) {
		data = append(slices.Clip(data), delim...)
	}
	read := func(args ...string) []byte {
		tr.t.Helper()
		return []byte(tr.run("", append(append([]string{"cat", topic}, args...), flags...)...))
	}
	all := read()
	if len(all) != len(data) {
		tr.t.Fatalf("%s: %d bytes became %d", topic, len(data), len(all))
	}
	if tr.partitions == 1 {
		tr.equal(topic, all, data)
		return
	}
	left := map[string]int{}
	records := bytes.SplitAfter(data, []byte(delim))
	for _, r := range records {
		left[string(r)]++
	}
	for p := range tr.partitions {
		rest := records
		for _, r := range bytes.SplitAfter(read("-p", strconv.Itoa(p)), []byte(delim)) {
			if len(r) == 0 {
				continue
			}
			i := slices.IndexFunc(rest, func(b []byte) bool { return bytes.Equal(b, r) })
			if left[string(r)] == 0 || i < 0 {
				tr.t.Fatalf("%s-%d: %.80q is there too often, or out of order", topic, p, r)
			}
			left[string(r)]--
			rest = rest[i+1:]
		}
	}
	for r, n := range left {
		if n > 0 && r != "" {
			tr.t.Fatalf("%s: %.80q is missing", topic, r)
		}
	}
}

// equal compares what came out with what went in.
func (tr *trip) equal(topic string, got, want []byte) {
	tr.t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	tr.t.Fatalf("%s: %d bytes became %d; byte %d is the first that differs", topic, len(want), len(got), i)
}

// whole takes data in as one record.
func (tr *trip) whole(topic string, data []byte) {
	tr.t.Helper()
	tr.create(topic)
	tr.take("produce", topic, "--whole", "-z", tr.codec)
	tr.equal(topic, []byte(tr.run("", "cat", topic, "-F", "%v")), data)
}

// rows copies a topic as lines of JSON.
func (tr *trip) rows(from, to string) {
	tr.t.Helper()
	tr.create(to)
	cat, produce := tr.klog("cat", "-J", from), tr.klog("produce", "-J", to, "-z", tr.codec)
	tr.piped(cat, produce)
	tr.same(to, []byte(tr.run("", "cat", from)), "\n")
	if tr.partitions == 1 {
		rows := tr.run("", "cat", "-J", from)
		tr.equal(to, []byte(tr.run("", "cat", "-J", to)), bytes.ReplaceAll([]byte(rows), []byte(`{"topic":"`+from+`"`), []byte(`{"topic":"`+to+`"`)))
	}
}

// piped runs a and b, the output of a being the input of b.
func (tr *trip) piped(a, b *exec.Cmd) {
	tr.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tr.t.Fatal(err)
	}
	var said bytes.Buffer
	a.Stdout, a.Stderr, b.Stdin = w, &said, r
	if err := a.Start(); err != nil {
		tr.t.Fatal(err)
	}
	w.Close()
	o := tr.finish(b)
	r.Close()
	if err := a.Wait(); err != nil || o.status != 0 || o.err != "" {
		tr.t.Fatalf("%v %s; %d %s", err, &said, o.status, o.err)
	}
}
