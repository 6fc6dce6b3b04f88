package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
)

func TestG063ConfigValues(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        string // normalised, "" for an error
	}{
		{"retention.ms", "7d", "604800000"},
		{"retention.ms", "1h30m", "5400000"},
		{"retention.ms", "2w", "1209600000"},
		{"retention.ms", "-1", "-1"},
		{"retention.ms", "-5", ""},
		{"retention.ms", "9e99", ""},
		{"retention.ms", "99999999999999999999", ""},
		{"retention.ms", "99999999999999w", ""},
		{"retention.ms", "9223372036854775807", "9223372036854775807"},
		{"retention.ms", "9223372036854775807ms", "9223372036854775807"},
		{"retention.ms", "9223372036854775807ms1ms", ""},
		{"retention.ms", "", ""},
		{"retention.ms", "7 d", ""},
		{"retention.ms", "d", ""},
		{"retention.ms", "7x", ""},
		{"retention.ms", "64MiB", ""},
		{"retention.bytes", "-1", "-1"},
		{"retention.bytes", "-2", ""},
		{"retention.bytes", "10GB", "10000000000"},
		{"segment.bytes", "0", ""},
		{"segment.bytes", "10", ""},
		{"segment.bytes", "14", "14"},
		{"segment.bytes", "64MiB", "67108864"},
		{"segment.bytes", "1MiB1KiB", ""},
		{"segment.bytes", "1.5MiB", "1572864"},
		{"segment.bytes", "64k", "65536"},
		{"segment.bytes", "64KB", "64000"},
		{"segment.bytes", "1.MiB", ""},
		{"segment.bytes", ".5MiB", ""},
		{"segment.bytes", "1.2.3MiB", ""},
		{"segment.bytes", "1.5", ""},
		{"retention.bytes", "8388607.5TiB", "9223371487098961920"},
		{"retention.bytes", "8388608TiB", ""},
		{"retention.ms", "1.5d", "129600000"},
		{"retention.ms", "0.0001s", "0"},
		{"segment.bytes", "2147483647", "2147483647"},
		{"segment.bytes", "2GiB", ""},
		{"max.message.bytes", "200MB", "200000000"},
		{"cleanup.policy", "compct", ""},
		{"cleanup.policy", "", ""},
		{"cleanup.policy", "compact,delete", "compact,delete"},
		{"cleanup.policy", "delete, compact", "delete,compact"},
		{"cleanup.policy", "delete,delete", "delete"},
		{"compression.type", "none", "uncompressed"},
		{"compression.type", "zstd", "zstd"},
		{"compression.type", "brotli", ""},
		{"compression.gzip.level", "10", ""},
		{"compression.gzip.level", "-1", "-1"},
		{"compression.zstd.level", "22", "22"},
		{"compression.zstd.level", "23", ""},
		{"compression.lz4.level", "0", ""},
		{"message.timestamp.type", "LogAppendTime", "LogAppendTime"},
		{"message.timestamp.type", "logappendtime", ""},
		{"min.cleanable.dirty.ratio", "0.25", "0.25"},
		{"min.cleanable.dirty.ratio", "1.01", ""},
		{"min.cleanable.dirty.ratio", "NaN", ""},
		{"preallocate", "TRUE", "true"},
		{"preallocate", "yes", ""},
		{"min.insync.replicas", "0", ""},
		{"replica.sync", "never", "never"},
		{"retention.groups", "a, b,,a", "a,b"},
		{"topic.trash.ms", "0", "0"},
		{"klog.root.max.bytes", "1GB", ""},
		{"num.partitions", "3", ""},
	} {
		got, err := engine.ParseConfig(c.name, c.value)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s=%s: got %q, %v, want %q", c.name, c.value, got, err, c.want)
		}
		if err != nil && !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s=%s: %v is not ErrInvalid", c.name, c.value, err)
		}
	}
}

func TestG063UnknownConfigNamesNearest(t *testing.T) {
	for name, near := range map[string]string{
		"retention.msec": "retention.ms", "retentoin.ms": "retention.ms", "segment.byte": "segment.bytes",
		"cleanup.polcy": "cleanup.policy", "xyz": "",
	} {
		_, err := engine.ParseConfig(name, "1")
		var ce *engine.ConfigError
		if !errors.As(err, &ce) || ce.Near != near {
			t.Errorf("%s: %v, want nearest %q", name, err, near)
		}
	}
}

func TestEveryConfigTakesItsDefault(t *testing.T) {
	r := newRoot(t)
	topic := mustCreate(t, r, "t", engine.TopicSpec{})
	c, err := topic.Config()
	if err != nil {
		t.Fatal(err)
	}
	names := engine.ConfigNames()
	if !slices.IsSorted(names) || len(names) < 25 {
		t.Errorf("config names: %v", names)
	}
	for _, name := range names {
		v, ok := c.Value(name)
		if !ok {
			t.Errorf("%s has no value", name)
		}
		if again, err := engine.ParseConfig(name, v); name != "retention.groups" && (err != nil || again != v) {
			t.Errorf("%s: the default %q is read as %q, %v", name, v, again, err)
		}
	}
}

func TestConfigsThatDoNotFitTogether(t *testing.T) {
	r := newRoot(t)
	for _, set := range []map[string]string{
		{"min.compaction.lag.ms": "2h", "max.compaction.lag.ms": "1h"},
		{"retention.groups": "g"},
	} {
		if _, err := r.CreateTopic(t.Context(), "t", engine.TopicSpec{Config: set}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%v: %v", set, err)
		}
	}
	mustCreate(t, r, "t", engine.TopicSpec{Config: map[string]string{"retention.groups": "g", "retention.bytes": "1GB"}})
	_, err := r.AlterTopic(t.Context(), "t", engine.Alteration{Unset: []string{"retention.bytes"}})
	if !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("unset of the cap: %v", err)
	}
}

func TestServerPropertiesGiveDefaults(t *testing.T) {
	r := newRoot(t)
	path := filepath.Join(r.Dir(), ".klog", "server.properties")
	text := "# for all\nnum.partitions=3\nlog.retention.hours=2\nlog.segment.bytes=1MiB\nsegment.bytes=2MiB\nlisteners=PLAINTEXT://:9092\nklog.root.max.bytes=5GB\n"
	if err := os.WriteFile(path, []byte(text), 0o660); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	topic := mustCreate(t, r, "t", engine.TopicSpec{Config: map[string]string{"retention.bytes": "1kB"}})
	c, err := topic.Config()
	if err != nil {
		t.Fatal(err)
	}
	if topic.Partitions() != 3 || c.RetentionMs != 7200000 || c.SegmentBytes != 2<<20 || c.RootMaxBytes != 5e9 || c.RetentionBytes != 1000 {
		t.Errorf("got %d partitions, %+v", topic.Partitions(), c)
	}
	if len(c.Set()) != 1 {
		t.Errorf("set for the topic: %v", c.Set())
	}
	if err := os.WriteFile(path, []byte("segment.bytes=3\n"), 0o660); err != nil {
		t.Fatal(err)
	}
	_, err = mustTopic(t, reopen(t, r), "t").Config()
	if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), path) {
		t.Errorf("a wrong value: %v", err)
	}
}

func TestAlterChangesConfigForOthers(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{Config: map[string]string{"retention.ms": "1d", "segment.bytes": "1MiB"}})
	other := mustTopic(t, reopen(t, r), "t")
	if c, err := other.Config(); err != nil || c.RetentionMs != 86400000 {
		t.Fatal(c, err)
	}
	_, err := r.AlterTopic(t.Context(), "t", engine.Alteration{Set: map[string]string{"retention.ms": "2d"}, Unset: []string{"segment.bytes"}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "others see it", func() bool {
		c, err := other.Config()
		return err == nil && c.RetentionMs == 2*86400000 && c.SegmentBytes == 1<<30
	})
	if _, err := r.AlterTopic(t.Context(), "t", engine.Alteration{Unset: []string{"retention.m"}}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("unset of a typo: %v", err)
	}
}

func TestUnknownFieldsAreCarriedThrough(t *testing.T) {
	r := newRoot(t)
	mustCreate(t, r, "t", engine.TopicSpec{})
	path := filepath.Join(r.Dir(), ".klog", "topics", "t.t")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(b), `"configs":{`, `"placement":{"rack":[1,2]},"configs":{"future.config":"x"`, 1)
	if newer == string(b) {
		t.Fatalf("entry is %s", b)
	}
	if err := os.WriteFile(path, []byte(newer), 0o660); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AlterTopic(t.Context(), "t", engine.Alteration{Partitions: 2, Set: map[string]string{"retention.ms": "1"}}); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"placement":{"rack":[1,2]}`, `"future.config":"x"`, `"retention.ms":"1"`, `"partitions":2`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
}
