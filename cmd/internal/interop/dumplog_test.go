package interop_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logDump is what Kafka's DumpLogSegments says about the files of a partition.
type logDump struct {
	batches  []map[string]string // fields by name
	records  []dumpedRecord
	entries  map[string]int                 // how many index entries a file has
	snapshot map[string][]map[string]string // producers by file
	sane     []string                       // files that passed the index sanity check
}

type dumpedRecord struct {
	record
	sequence int64
}

// dumpLog runs DumpLogSegments on files and returns what it says by directory. A line
// that does not belong there, as each complaint is, fails the test.
func dumpLog(t *testing.T, files []string, flags ...string) map[string]*logDump {
	t.Helper()
	out, said := java(t, append([]string{"org.apache.kafka.tools.DumpLogSegments", "--files", strings.Join(files, ",")}, flags...)...)
	dumps := map[string]*logDump{}
	for _, f := range files {
		dumps[filepath.Dir(f)] = &logDump{entries: map[string]int{}, snapshot: map[string][]map[string]string{}}
	}
	file := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "Dumping "); ok {
			file = name
		} else if d := dumps[filepath.Dir(file)]; d == nil || !d.take(t, file, line) {
			t.Errorf("%s: Kafka says %q", file, line)
		}
	}
	checkComplaints(t, said)
	return dumps
}

// take takes a line about a file, if it is one that a file in order has.
func (d *logDump) take(t *testing.T, file, line string) bool {
	t.Helper()
	switch {
	case strings.HasPrefix(line, "| offset: "):
		d.records = append(d.records, parseDumped(t, line))
	case strings.HasPrefix(line, "baseOffset: "):
		d.batches = append(d.batches, dumpFields(line))
	case strings.HasPrefix(line, "Log starting offset: "):
	case strings.HasPrefix(line, "producerId: "):
		d.snapshot[file] = append(d.snapshot[file], dumpFields(line))
	case strings.HasPrefix(line, "offset: ") && strings.HasSuffix(file, ".index"):
		d.entries[file]++
	case strings.HasPrefix(line, "timestamp: ") && strings.HasSuffix(file, ".timeindex"):
		d.entries[file]++
	case line == file+" passed sanity check.", line == file+" is empty.":
		d.sane = append(d.sane, file)
	default:
		return false
	}
	return true
}

// checkComplaints looks at standard error. The tool calls every log that does not begin
// at 0 non-consecutive there, Kafka's own too; anything else is a finding.
func checkComplaints(t *testing.T, said string) {
	t.Helper()
	file := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "Non-consecutive offsets in "); ok {
			file = name
			continue
		}
		base := strings.TrimLeft(strings.TrimSuffix(filepath.Base(file), ".log"), "0")
		if file == "" || line != "  -1 is followed by "+base {
			t.Errorf("%s: Kafka says %q", file, line)
		}
	}
}

// dumpFields splits "name: value name: value".
func dumpFields(line string) map[string]string {
	words := strings.Fields(line)
	fields := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		fields[strings.TrimSuffix(words[i], ":")] = words[i+1]
	}
	return fields
}

var dumpedLine = regexp.MustCompile(`^\| offset: (\d+) (CreateTime|LogAppendTime): (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) sequence: (-?\d+) headerKeys: \[(.*?)\]`)

// parseDumped reads a record's line; header values are not in it.
func parseDumped(t *testing.T, line string) dumpedRecord {
	t.Helper()
	m := dumpedLine.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("Kafka prints a record as %q", line)
	}
	number := func(i int) int64 {
		n, err := strconv.ParseInt(m[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r := dumpedRecord{record{Offset: number(1), TS: number(3), TSType: "create"}, number(6)}
	if m[2] == "LogAppendTime" {
		r.TSType = "logappend"
	}
	if m[7] != "" {
		for _, k := range strings.Split(m[7], ",") {
			r.Headers = append(r.Headers, header{Key: text(k)})
		}
	}
	rest := line[len(m[0]):]
	take := func(name string, size int64) text {
		if size < 0 {
			return nil
		}
		after, ok := strings.CutPrefix(rest, name)
		if !ok || int64(len(after)) < size {
			t.Fatalf("Kafka prints %q, without%s of %d bytes", line, name, size)
		}
		rest = after[size:]
		return text(after[:size])
	}
	r.Key = take(" key: ", number(4))
	r.Value = take(" payload: ", number(5))
	if rest != "" {
		t.Fatalf("%q stands behind the record in %q", rest, line)
	}
	return r
}

// kafkaFiles are a partition's files of the kinds that Kafka writes, in order.
func kafkaFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "0*.*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// withSuffix are the files with a suffix.
func withSuffix(files []string, suffixes ...string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		return !slices.Contains(suffixes, filepath.Ext(f))
	})
}
