package cmd

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// dump runs klog dump -J and returns its status and rows.
func dump(t *testing.T, args ...string) (code int, rows []map[string]any) {
	t.Helper()
	e := testEnv(t)
	code = Main(t.Context(), e, append([]string{"klog", "dump", "-J"}, args...))
	dec := json.NewDecoder(strings.NewReader(printed(t, e.Stdout)))
	dec.UseNumber()
	for dec.More() {
		var row map[string]any
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return code, rows
}

// writeGolden puts a golden segment where dump can read it.
func writeGolden(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(path, segmentstest.File(t, name), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sameField compares a field of a row with what it should be, as JSON.
func sameField(t *testing.T, row map[string]any, name string, want any) {
	t.Helper()
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	g, err := json.Marshal(row[name])
	if err != nil {
		t.Fatal(err)
	}
	if _, there := row[name]; !there || !bytes.Equal(w, g) {
		t.Errorf("%s: got %s, want %s", name, g, w)
	}
}

func TestDumpGoldenBatches(t *testing.T) {
	for _, g := range segmentstest.Vectors(t).Good {
		t.Run(g.File, func(t *testing.T) {
			path := writeGolden(t, g.File)
			code, rows := dump(t, path)
			if code != ExitOK || len(rows) != len(g.Batches) {
				t.Fatalf("status %d, %d rows, want %d", code, len(rows), len(g.Batches))
			}
			for i, b := range g.Batches {
				sameField(t, rows[i], "file", path)
				sameField(t, rows[i], "position", b.Position)
				sameField(t, rows[i], "size", b.Size)
				sameField(t, rows[i], "last_offset", b.LastOffset)
				sameField(t, rows[i], "magic", b.Magic)
				sameField(t, rows[i], "codec", b.Codec)
				sameField(t, rows[i], "max_timestamp", b.MaxTimestamp)
				sameField(t, rows[i], "valid", true)
				sameField(t, rows[i], "error", nil)
				if b.Magic < 2 {
					continue
				}
				sameField(t, rows[i], "base_offset", b.BaseOffset)
				sameField(t, rows[i], "count", b.Count)
				sameField(t, rows[i], "epoch", b.LeaderEpoch)
				sameField(t, rows[i], "producer_id", b.ProducerID)
				sameField(t, rows[i], "producer_epoch", b.ProducerEpoch)
				sameField(t, rows[i], "base_sequence", b.BaseSequence)
				sameField(t, rows[i], "timestamp_type", b.TimestampType)
				sameField(t, rows[i], "transactional", b.Transactional)
				sameField(t, rows[i], "control", b.Control)
				sameField(t, rows[i], "base_timestamp", b.BaseTimestamp)
				sameField(t, rows[i], "delete_horizon", b.HasDeleteHorizon)
			}
		})
	}
}

func TestDumpGoldenRecords(t *testing.T) {
	for _, g := range segmentstest.Vectors(t).Good {
		t.Run(g.File, func(t *testing.T) {
			code, rows := dump(t, "--deep", writeGolden(t, g.File))
			if code != ExitOK {
				t.Errorf("status %d", code)
			}
			for _, b := range g.Batches {
				for _, r := range b.Records {
					if len(rows) == 0 {
						t.Fatalf("no row for offset %d", r.Offset)
					}
					sameField(t, rows[0], "position", b.Position)
					sameField(t, rows[0], "offset", r.Offset)
					sameField(t, rows[0], "timestamp", r.Timestamp)
					sameBytes(t, rows[0], "key", r.Key)
					sameBytes(t, rows[0], "value", r.Value)
					sameField(t, rows[0], "valid", true)
					headers := rows[0]["headers"].([]any)
					if len(headers) != len(r.Headers) {
						t.Fatalf("offset %d: %d headers", r.Offset, len(headers))
					}
					for i, h := range r.Headers {
						sameField(t, headers[i].(map[string]any), "key", h.Key)
						sameBytes(t, headers[i].(map[string]any), "value", h.Value)
					}
					rows = rows[1:]
				}
			}
			if len(rows) > 0 {
				t.Errorf("%d rows too many", len(rows))
			}
		})
	}
}

// sameBytes compares a byte string in a row with what it should be.
func sameBytes(t *testing.T, row map[string]any, name string, want *segmentstest.Bytes) {
	t.Helper()
	var got []byte
	switch v := row[name].(type) {
	case string:
		got = []byte(v)
	case map[string]any:
		var err error
		if got, err = base64.StdEncoding.DecodeString(v["base64"].(string)); err != nil {
			t.Error(err)
		}
	}
	if err := want.Check(got); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestDumpDamage has the verdict of each damaged golden segment in a row, goes on behind
// the damage, and ends with 4 unless what is wrong is a torn tail.
func TestDumpDamage(t *testing.T) {
	for _, c := range segmentstest.Vectors(t).Corrupt {
		t.Run(c.File, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(c.File))
			if c.File == "corrupt/before-segment-base.log" {
				path = filepath.Join(t.TempDir(), "00000000000000001000.log")
			}
			data := segmentstest.File(t, c.File)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			code, rows := dump(t, path)
			end, bad := int64(0), 0
			for i, row := range rows {
				position, _ := row["position"].(json.Number).Int64()
				size, _ := row["size"].(json.Number).Int64()
				if position != end || size <= 0 {
					t.Errorf("row %d: position %d, size %d, the one before ends at %d", i, position, size, end)
				}
				end = position + size
				if row["valid"] == true {
					continue
				}
				if bad++; bad > 1 {
					continue
				}
				reason := row["error"].(string)
				if position != c.Expect.ValidBytes || !strings.HasSuffix(reason, c.Expect.StopReason) {
					t.Errorf("first bad row at %d: %s, want %d: %s", position, reason, c.Expect.ValidBytes, c.Expect.StopReason)
				}
				if torn := strings.HasPrefix(reason, "torn tail: "); torn != (code == ExitOK) {
					t.Errorf("status %d with %s", code, reason)
				}
			}
			if end != int64(len(data)) {
				t.Errorf("rows end at %d of %d", end, len(data))
			}
			if (bad == 0) != (c.Expect.StopReason == "end") {
				t.Errorf("%d bad rows", bad)
			}
		})
	}
}

// TestDumpDeepDamage shows batches whose records are malformed.
func TestDumpDeepDamage(t *testing.T) {
	for _, c := range segmentstest.Vectors(t).Corrupt {
		if c.Content == nil || c.Content.KafkaReader != "error" || c.Expect.StopReason != "end" {
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			code, rows := dump(t, "--deep", writeGolden(t, c.File))
			bad, good := 0, 0
			for _, row := range rows {
				switch {
				case row["valid"] == true:
					good++
				default:
					bad++
					sameField(t, row, "position", c.Content.Position)
				}
			}
			if code != ExitDamaged || bad != 1 || good < c.Content.RecordsInOtherBatches {
				t.Errorf("status %d, %d bad and %d good rows, want 4, 1, %d", code, bad, good, c.Content.RecordsInOtherBatches)
			}
		})
	}
}

// TestDumpDirectories dumps whole directories of Kafka: every index entry and every line
// of a checkpoint that the golden index of directories names.
func TestDumpDirectories(t *testing.T) {
	var index struct {
		Directories map[string]struct {
			Files map[string]struct {
				Entries []map[string]any `json:"entries"`
			} `json:"files"`
		} `json:"directories"`
	}
	segmentstest.JSON(t, "dirs.json", &index)
	compared := 0
	for dir, d := range index.Directories {
		path := segmentstest.Dir(t, "dirs/"+dir)
		for name, f := range d.Files {
			if !strings.HasSuffix(name, "index") || len(f.Entries) == 0 {
				continue
			}
			code, rows := dump(t, filepath.Join(path, name))
			if code != ExitOK || len(rows) != len(f.Entries) {
				t.Errorf("%s/%s: status %d, %d rows, want %d", dir, name, code, len(rows), len(f.Entries))
				continue
			}
			for i, want := range f.Entries {
				for field, v := range want {
					if got, ok := rows[i][field]; ok {
						compared++
						g, _ := json.Marshal(got)
						w, _ := json.Marshal(v)
						if !bytes.Equal(g, w) && !sameNumber(g, w) {
							t.Errorf("%s/%s entry %d, %s: got %s, want %s", dir, name, i, field, g, w)
						}
					}
				}
			}
		}
		if code, rows := dump(t, path); code != ExitOK || len(rows) == 0 {
			t.Errorf("%s: status %d, %d rows", dir, code, len(rows))
		}
	}
	if compared < 100 {
		t.Errorf("only %d fields compared", compared)
	}
}

// sameNumber compares numbers of which one went through a float.
func sameNumber(a, b []byte) bool {
	var x, y float64
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

func TestDumpBroker(t *testing.T) {
	root := segmentstest.Dir(t, "broker-4.3.1")
	for _, state := range []string{"clean", "killed"} {
		for _, deep := range []string{"--deep=false", "--deep"} {
			code, rows := dump(t, deep, filepath.Join(root, state))
			if code != ExitOK || len(rows) < 100 {
				t.Errorf("%s %s: status %d, %d rows", state, deep, code, len(rows))
			}
			for _, row := range rows {
				if valid, ok := row["valid"]; ok && valid != true {
					t.Errorf("%s: %v", state, row)
				}
			}
		}
	}
}

// TestDumpKlogsOwnFiles writes to a topic and looks at what klog keeps beside the log.
func TestDumpKlogsOwnFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	root, err := engine.Create(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := root.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := topic.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{ProducerID: 7000, ProducerEpoch: 1})
	b.AppendValue(1764547200000, []byte("a"))
	b.AppendValue(1764547200000, []byte("b"))
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	code, rows := dump(t, "-R", dir, "orders")
	if code != ExitOK {
		t.Errorf("status %d", code)
	}
	named := map[string]any{}
	files := map[string][]map[string]any{}
	for _, row := range rows {
		file, err := filepath.Rel(p.Dir(), row["file"].(string))
		if err != nil {
			t.Fatal(err)
		}
		files[file] = append(files[file], row)
		if name, ok := row["name"].(string); ok {
			named[file+":"+name] = row["value"]
		}
	}
	for name, want := range map[string]any{
		".klog/hint:next_offset":            2,
		".klog/hint:segment_bytes":          len(raw),
		".klog/hint:topic_id":               topic.ID().String(),
		".klog/hint:last_batch_base_offset": 0,
		".klog/hint:last_batch_last_offset": 1,
		".klog/hint:rolling":                false,
		".klog/lock:pid":                    os.Getpid(),
		"partition.metadata:topic_id":       topic.ID().String(),
	} {
		sameField(t, named, name, want)
	}
	for file, want := range map[string]map[string]any{
		".klog/segments":           {"base_offset": 0, "known": false, "max_timestamp": nil},
		".klog/producers":          {"producer_id": 7000, "producer_epoch": 1, "last_sequence": 1, "last_offset": 1, "end_offset": 2},
		"00000000000000000000.log": {"base_offset": 0, "last_offset": 1, "count": 2, "producer_id": 7000, "valid": true},
	} {
		if len(files[file]) != 1 {
			t.Errorf("%d rows of %s", len(files[file]), file)
			continue
		}
		for field, v := range want {
			sameField(t, files[file][0], field, v)
		}
	}
	code, rows = dump(t, dir)
	if code != ExitOK || len(rows) < len(named) {
		t.Errorf("the root: status %d, %d rows", code, len(rows))
	}
	for _, name := range []string{"hint", "segments", "producers"} {
		if err := os.WriteFile(filepath.Join(p.Dir(), ".klog", name), []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _ := dump(t, filepath.Join(p.Dir(), ".klog", name)); code != ExitFailure {
			t.Errorf("damaged %s: status %d", name, code)
		}
	}
}

// TestDumpOnTerminal has a table for each file, without what does not fit, and all of it
// with -v.
func TestDumpOnTerminal(t *testing.T) {
	path, long := writeGolden(t, "good/multi.kafka.log"), writeGolden(t, "good/c-lz4-multiblock.sarama.log")
	for _, c := range []struct {
		args   []string
		has    []string
		hasNot []string
	}{
		{nil, []string{path + ":\n", "POSITION", "MAX TIMESTAMP", "VALID", "true"}, []string{"PRODUCER", "CRC", "\t"}},
		{[]string{"-v"}, []string{"PRODUCER ID", "CRC", "DELETE HORIZON"}, nil},
		{[]string{"--deep"}, []string{"OFFSET", "VALUE", "value number 6"}, []string{"PRODUCER"}},
		{[]string{"--deep", "-v", long}, []string{"block filler", "…", "CODEC"}, []string{strings.Repeat("block filler 0 ", 10)}},
	} {
		e := testEnv(t)
		e.IsTerminal = func(f *os.File) bool { return f == e.Stdout }
		if code := Main(t.Context(), e, append([]string{"klog", "dump", path}, c.args...)); code != ExitOK {
			t.Errorf("%q: status %d", c.args, code)
		}
		got := printed(t, e.Stdout)
		for _, s := range c.has {
			if !strings.Contains(got, s) {
				t.Errorf("%q: no %q in\n%.2000s", c.args, s, got)
			}
		}
		for _, s := range c.hasNot {
			if strings.Contains(got, s) {
				t.Errorf("%q: %q in\n%.2000s", c.args, s, got)
			}
		}
	}
}

// TestDumpSurvivesAnyBytes cuts and changes files of every kind: dump shows what it can
// or says why not, and never falls over.
func TestDumpSurvivesAnyBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dir := segmentstest.Dir(t, "dirs/txns-0")
	paths, err := filesBelow(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := filesBelow(segmentstest.Dir(t, "dirs/_server_files"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[fileKind]bool{}
	for _, path := range append(paths, server...) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds[kindOf(path, false)] = true
		for range 40 {
			data := bytes.Clone(whole[:rng.IntN(len(whole)+1)])
			for n := rng.IntN(4); n > 0 && len(data) > 0; n-- {
				data[rng.IntN(len(data))] = byte(rng.IntN(256))
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			e := testEnv(t)
			code := Main(t.Context(), e, []string{"klog", "dump", "--deep", "-J", path})
			said := printed(t, e.Stderr)
			if strings.Contains(said, "internal error") || code != ExitOK && code != ExitFailure && code != ExitDamaged {
				t.Errorf("%s of %d bytes: status %d, %s", path, len(data), code, said)
			}
		}
	}
	for _, kind := range []fileKind{logFile, indexFile, timeIndexFile, txnIndexFile, snapshotFile, epochsFile, checkpointFile, jsonFile} {
		if !kinds[kind] {
			t.Errorf("no file of kind %d", kind)
		}
	}
}
