package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func TestDamagedEntryCostsTheConfigsOnly(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "zeros": strings.Repeat("\x00", 70), "half": `{"version":1,"topic_id":"kfj9`} {
		t.Run(name, func(t *testing.T) {
			r := newRoot(t)
			mustCreate(t, r, "bad", engine.TopicSpec{Partitions: 2, Config: map[string]string{"max.message.bytes": "100"}})
			mustCreate(t, r, "good", engine.TopicSpec{})
			id := mustTopic(t, r, "bad").ID()
			path := filepath.Join(r.Dir(), ".klog/topics/bad.t")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var notices []string
			r, err := engine.Create(r.Dir(), engine.Options{Notice: func(s string) { notices = append(notices, s) }})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(mustTopics(t, r), " "); got != "bad good" {
				t.Errorf("the topics are %q", got)
			}
			top := mustTopic(t, r, "bad")
			if top.ID() != id || top.Partitions() != 2 || top.HasEntry() {
				t.Errorf("the topic has id %s, %d partitions, an entry: %v", top.ID(), top.Partitions(), top.HasEntry())
			}
			w := openWriter(t, top)
			if _, err := w.Append(t.Context(), batch(t, strings.Repeat("x", 200))); err != nil {
				t.Errorf("with default configs: %v", err)
			}
			if err := w.Sync(t.Context()); err != nil {
				t.Error(err)
			}
			if len(notices) != 1 || !strings.Contains(notices[0], path) {
				t.Errorf("the notices are %q, want one that names %s", notices, path)
			}
			for _, c := range []struct {
				names []string
				want  int
			}{{nil, 1}, {[]string{"bad"}, 1}, {[]string{"good"}, 0}} {
				var found []engine.VerifyFinding
				if err := r.Verify(t.Context(), c.names, func(f engine.VerifyFinding) error { found = append(found, f); return nil }); err != nil {
					t.Fatal(err)
				}
				if len(found) != c.want {
					t.Errorf("verify %q finds %+v, want %d findings", c.names, found, c.want)
				}
				for _, f := range found {
					if f.File != path || f.Topic != "bad" || f.Partition != -1 || !strings.HasPrefix(f.What, "topic entry") || f.Repair != segments.RepairRebuild {
						t.Errorf("verify %q finds %+v", c.names, f)
					}
				}
			}
			if _, err := r.AlterTopic(t.Context(), "bad", engine.Alteration{Set: map[string]string{"retention.ms": "7"}}); err != nil {
				t.Fatal(err)
			}
			top = mustTopic(t, reopen(t, r), "bad")
			if top.ID() != id || top.Partitions() != 2 || !top.HasEntry() {
				t.Errorf("altered: id %s, %d partitions, an entry: %v", top.ID(), top.Partitions(), top.HasEntry())
			}
		})
	}
}

func TestDamagedEntryGoesWithItsTopic(t *testing.T) {
	r := newRoot(t)
	for _, name := range []string{"a", "b"} {
		mustCreate(t, r, name, engine.TopicSpec{})
		if err := os.WriteFile(filepath.Join(r.Dir(), ".klog/topics", name+".t"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.DeleteTopic(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.RenameTopic(t.Context(), "b", "c"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(mustTopics(t, r), " "); got != "c" {
		t.Errorf("the topics are %q, want c", got)
	}
}
