package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// verifyPartition verifies partition 0 of a topic, deep.
func verifyPartition(t testing.TB, top *engine.Topic) ([]engine.VerifyFinding, segments.VerifyResult) {
	t.Helper()
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	var found []engine.VerifyFinding
	res, err := p.Verify(t.Context(), engine.VerifyOptions{Deep: true}, func(f engine.VerifyFinding) error {
		found = append(found, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Findings != len(found) {
		t.Errorf("%d findings were counted, %d told", res.Findings, len(found))
	}
	return found, res
}

func TestVerifyBesideWriters(t *testing.T) {
	// Writers that roll all the time and that are in the middle of an append whenever
	// verify looks: nothing of that is a finding, and each run sees at least as much as
	// the one before.
	top := newTopic(t, "orders", map[string]string{"segment.bytes": "3000", "index.interval.bytes": "100"})
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for id := range 2 {
		w := openWriter(t, top)
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				input := append(batch(t, strings.Repeat("x", 700)), batch(t, fmt.Sprint(id, i), strings.Repeat("y", i%900))...)
				if _, err := w.Append(t.Context(), input); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	last := int64(0)
	for deadline := time.Now().Add(time.Minute); last < 500 && time.Now().Before(deadline); {
		found, res := verifyPartition(t, top)
		if len(found) > 0 || res.End < last {
			t.Errorf("got %+v, end %d after %d", found, res.End, last)
			break
		}
		last = res.End
	}
	close(stop)
	writers.Wait()
	if found, res := verifyPartition(t, top); len(found) > 0 || res.Segments < 3 {
		t.Errorf("got %+v, %+v", found, res)
	}
}

func TestVerifyKnowsWhereTheLogEnded(t *testing.T) {
	top := newTopic(t, "orders", nil)
	w := openWriter(t, top)
	for range 4 {
		if _, err := w.Append(t.Context(), batch(t, "a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(top.Root().Dir(), "orders-0", segments.SegmentName(0)+".log")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, fi.Size()/2); err != nil {
		t.Fatal(err)
	}
	found, _ := verifyPartition(t, top)
	if len(found) != 1 || found[0].File != path || found[0].FirstOffset != 4 || found[0].LastOffset != 7 || found[0].Repair != segments.RepairAdvance {
		t.Errorf("got %+v, want offsets 4 to 7", found)
	}
}

func TestVerifyCheckpointsBeyondTheEnd(t *testing.T) {
	for kind, what := range map[engine.CheckpointKind]string{
		engine.LogStartCheckpoint: "log start beyond", engine.RecoveryPointCheckpoint: "recovery point beyond",
	} {
		top := newTopic(t, "orders", nil)
		w := openWriter(t, top)
		if _, err := w.Append(t.Context(), batch(t, "a", "b")); err != nil {
			t.Fatal(err)
		}
		if found, _ := verifyPartition(t, top); len(found) > 0 {
			t.Errorf("got %+v before", found)
		}
		if err := top.Root().SetCheckpoint(t.Context(), kind, "orders", 0, 9); err != nil {
			t.Fatal(err)
		}
		found, _ := verifyPartition(t, top)
		if len(found) != 1 || !strings.HasPrefix(found[0].What, what) || found[0].FirstOffset != 2 || found[0].LastOffset != 8 {
			t.Errorf("%s: got %+v", kind, found)
		}
		// As far as the log reaches it is fine.
		if err := top.Root().SetCheckpoint(t.Context(), kind, "orders", 0, 2); err != nil {
			t.Fatal(err)
		}
		if found, _ := verifyPartition(t, top); len(found) > 0 {
			t.Errorf("%s at the end: got %+v", kind, found)
		}
	}
}

func TestVerifyOfADeletedTopic(t *testing.T) {
	top := newTopic(t, "orders", nil)
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.Dir(), p.Dir()+".bak"); err != nil {
		t.Fatal(err)
	}
	found, _ := verifyPartition(t, top)
	if len(found) != 1 || found[0].File != p.Dir() || found[0].What != "missing partition directory" {
		t.Errorf("got %+v, want the directory", found)
	}
	if err := os.Rename(p.Dir()+".bak", p.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := top.Root().DeleteTopic(t.Context(), "orders", false); err != nil {
		t.Fatal(err)
	}
	_, err = p.Verify(t.Context(), engine.VerifyOptions{}, func(f engine.VerifyFinding) error {
		t.Errorf("found %+v", f)
		return nil
	})
	if !errors.Is(err, engine.ErrTopicGone) {
		t.Errorf("got %v, want ErrTopicGone", err)
	}
}

func TestVerifyTopicIDs(t *testing.T) {
	top := newTopic(t, "orders", nil)
	other, err := top.Root().CreateTopic(t.Context(), "bills", engine.TopicSpec{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(top.Root().Dir(), "orders-0", segments.PartitionMetaName)
	to := filepath.Join(top.Root().Dir(), "bills-0", segments.PartitionMetaName)
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		t.Fatal(err)
	}
	found, _ := verifyPartition(t, other)
	if len(found) != 1 || found[0].File != to || !strings.Contains(found[0].What, other.ID().String()) {
		t.Errorf("got %+v, want the id of bills", found)
	}
}
