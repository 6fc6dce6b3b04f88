package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/engine"
)

func TestCreateTopicLaysOutDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	r, err := engine.Create(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{Partitions: 2, Config: map[string]string{"retention.ms": "7d"}})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, d := range []string{"orders-0", "orders-1"} {
		list, err := os.ReadDir(filepath.Join(dir, d))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			files = append(files, d+"/"+f.Name())
		}
	}
	var want []string
	for _, d := range []string{"orders-0", "orders-1"} {
		for _, f := range []string{".klog", "00000000000000000000.index", "00000000000000000000.log", "00000000000000000000.timeindex", "leader-epoch-checkpoint", "partition.metadata"} {
			want = append(want, d+"/"+f)
		}
	}
	if d := cmp.Diff(want, files); d != "" {
		t.Error(d)
	}
	again, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := again.Topic("orders")
	if err != nil {
		t.Fatal(err)
	}
	if topic.ID() != made.ID() || topic.Partitions() != 2 {
		t.Errorf("found id %v with %d partitions, made %v", topic.ID(), topic.Partitions(), made.ID())
	}
	c, err := topic.Config()
	if err != nil {
		t.Fatal(err)
	}
	if c.RetentionMs != 604800000 || c.Set()["retention.ms"] != "604800000" {
		t.Errorf("retention.ms is %d, set %v", c.RetentionMs, c.Set())
	}
	if _, err := r.CreateTopic(t.Context(), "orders", engine.TopicSpec{}); !errors.Is(err, engine.ErrTopicExists) {
		t.Errorf("second create: %v", err)
	}
}
