package segments_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

func TestOffsetCheckpointsOfKafka(t *testing.T) {
	want := []segments.PartitionOffset{{Topic: "orders", Partition: 0, Offset: 60}, {Topic: "my.topic_x-y", Partition: 12, Offset: 5000000000}}
	for _, name := range []string{segments.RecoveryPointName, segments.HighWatermarkName, segments.LogStartName, segments.CleanerOffsetName} {
		data := segmentstest.File(t, "dirs/_server_files/"+name)
		got, err := segments.ParseOffsetCheckpoint(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if again := segments.EncodeOffsetCheckpoint(got); string(again) != string(data) {
			t.Errorf("%s: encoded again it is %q, was %q", name, again, data)
		}
	}
	empty := segmentstest.File(t, "dirs/_server_files/empty-offset-checkpoint")
	if got, err := segments.ParseOffsetCheckpoint(empty); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want none", got, err)
	}
	if string(segments.EncodeOffsetCheckpoint(nil)) != string(empty) {
		t.Errorf("no entries are encoded as %q, want %q", segments.EncodeOffsetCheckpoint(nil), empty)
	}
}

func TestCheckpointTolerance(t *testing.T) {
	for text, want := range map[string]error{
		"":                       nil,
		"0":                      nil,
		"0\n":                    nil,
		"0\n0":                   nil,
		"0\n0\n":                 nil,
		"0\n1\na 0 5":            nil,
		"0\r\n1\r\na 0 5\r\n":    nil,
		"0\n1\na\t0   5\n":       nil,
		"0\n1\na 0 5 \n":         nil,
		"1\n0\n":                 segments.ErrUnknownVersion,
		"-1\n0\n":                segments.ErrUnknownVersion,
		"x\n0\n":                 segments.ErrCorrupt,
		"0\nx\n":                 segments.ErrCorrupt,
		"0\n2\na 0 5\n":          segments.ErrCorrupt,
		"0\n0\na 0 5\n":          segments.ErrCorrupt,
		"0\n1\na 0 5\n\n":        segments.ErrCorrupt,
		"0\n1\n a 0 5\n":         segments.ErrCorrupt,
		"0\n1\na 0\n":            segments.ErrCorrupt,
		"0\n1\na 0 5 6\n":        segments.ErrCorrupt,
		"0\n1\na 0 x\n":          segments.ErrCorrupt,
		"0\n1\na 4294967296 5\n": segments.ErrCorrupt,
		"\n":                     nil,
		"\n\n":                   segments.ErrCorrupt,
		"\x00\x00\x00":           segments.ErrCorrupt,
	} {
		if _, err := segments.ParseOffsetCheckpoint([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
}

func TestPartitionMetaOfKafka(t *testing.T) {
	data := segmentstest.File(t, "dirs/orders-0/partition.metadata")
	id, err := segments.ParsePartitionMeta(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := segments.EncodePartitionMeta(id); string(again) != string(data) {
		t.Errorf("encoded again it is %q, was %q", again, data)
	}
}

func TestPartitionMetaTolerance(t *testing.T) {
	const id = "XV3hyvkxTk6VpuKVyCQnQg"
	for text, want := range map[string]error{
		"version: 0\ntopic_id: " + id:                   nil,
		"version: 0\ntopic_id: " + id + "\n":            nil,
		"version: 7\r\ntopic_id:  " + id + "==\nmore\n": nil,
		"":                             segments.ErrCorrupt,
		"version: 0":                   segments.ErrCorrupt,
		"version: -1\ntopic_id: " + id: segments.ErrUnknownVersion,
		"version: x\ntopic_id: " + id:  segments.ErrCorrupt,
		"version:0\ntopic_id: " + id:   segments.ErrCorrupt,
		"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA": segments.ErrCorrupt,
		"version: 0\ntopic_id: " + id[1:]:              segments.ErrCorrupt,
		"version: 0\ntopic_id: " + id + "x":            segments.ErrCorrupt,
		"version: 0\ntopic_id: +/3hyvkxTk6VpuKVyCQnQg": segments.ErrCorrupt,
	} {
		if _, err := segments.ParsePartitionMeta([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
}

func TestEpochsOfKafka(t *testing.T) {
	for _, dir := range []string{"orders-0", "defaults-0", "follower-0", "crashed-recovered-0", "txns-0"} {
		data := segmentstest.File(t, "dirs/"+dir+"/leader-epoch-checkpoint")
		e, err := segments.ParseEpochs(data)
		if err != nil || len(e) == 0 {
			t.Fatalf("%s: got %v, %v", dir, e, err)
		}
		if again := segments.EncodeEpochs(e); string(again) != string(data) {
			t.Errorf("%s: encoded again it is %q, was %q", dir, again, data)
		}
	}
}

func TestEpochs(t *testing.T) {
	e := segments.Epochs{{0, 0}, {2, 10}, {5, 30}}
	t.Run("assign", func(t *testing.T) {
		for _, tt := range []struct {
			epoch int32
			start int64
			want  segments.Epochs
		}{
			{6, 40, segments.Epochs{{0, 0}, {2, 10}, {5, 30}, {6, 40}}},
			{6, 30, segments.Epochs{{0, 0}, {2, 10}, {6, 30}}},
			{6, 5, segments.Epochs{{0, 0}, {6, 5}}},
			{5, 40, e},
			{5, 20, segments.Epochs{{0, 0}, {2, 10}, {5, 20}}},
			{1, 40, segments.Epochs{{0, 0}, {1, 40}}},
		} {
			if d := cmp.Diff(tt.want, e.Assign(tt.epoch, tt.start)); d != "" {
				t.Errorf("%d %d (-want +got):\n%s", tt.epoch, tt.start, d)
			}
		}
	})
	t.Run("observe", func(t *testing.T) {
		h := segments.BatchHeader{BaseOffset: 50, LeaderEpoch: 5}
		if d := cmp.Diff(e, e.Observe(h)); d != "" {
			t.Error(d)
		}
		h.LeaderEpoch = -1
		if d := cmp.Diff(e, e.Observe(h)); d != "" {
			t.Error(d)
		}
		h.LeaderEpoch = 7
		if last, _ := e.Observe(h).Latest(); last != (segments.EpochEntry{Epoch: 7, Start: 50}) {
			t.Errorf("got %v", last)
		}
	})
	t.Run("end offset", func(t *testing.T) {
		for _, tt := range []struct {
			epoch, wantEpoch int32
			want             int64
		}{{-1, -1, -1}, {0, 0, 10}, {1, 0, 10}, {2, 2, 30}, {3, 2, 30}, {5, 5, 99}, {6, -1, -1}} {
			if got, end := e.EndOffset(tt.epoch, 99); got != tt.wantEpoch || end != tt.want {
				t.Errorf("epoch %d: got %d %d, want %d %d", tt.epoch, got, end, tt.wantEpoch, tt.want)
			}
		}
		if got, end := (segments.Epochs{{3, 7}}).EndOffset(1, 99); got != 1 || end != 7 {
			t.Errorf("got %d %d, want 1 7", got, end)
		}
	})
	t.Run("epoch of", func(t *testing.T) {
		for offset, want := range map[int64]int32{0: 0, 9: 0, 10: 2, 29: 2, 30: 5, 1000: 5} {
			if got := e.EpochOf(offset); got != want {
				t.Errorf("offset %d: got %d, want %d", offset, got, want)
			}
		}
		if got := (segments.Epochs{{3, 7}}).EpochOf(6); got != -1 {
			t.Errorf("got %d, want -1", got)
		}
	})
	t.Run("truncate", func(t *testing.T) {
		for end, want := range map[int64]segments.Epochs{0: {}, 1: {{0, 0}}, 10: {{0, 0}}, 11: {{0, 0}, {2, 10}}, 31: e} {
			if d := cmp.Diff(want, e.TruncateEnd(end)); d != "" {
				t.Errorf("end %d (-want +got):\n%s", end, d)
			}
		}
		for start, want := range map[int64]segments.Epochs{0: e, 5: {{0, 5}, {2, 10}, {5, 30}}, 10: {{2, 10}, {5, 30}}, 99: {{5, 99}}} {
			if d := cmp.Diff(want, e.TruncateStart(start)); d != "" {
				t.Errorf("start %d (-want +got):\n%s", start, d)
			}
		}
	})
	t.Run("entries that do not rise", func(t *testing.T) {
		got, err := segments.ParseEpochs([]byte("0\n3\n0 0\n4 20\n2 30\n"))
		if d := cmp.Diff(segments.Epochs{{0, 0}, {2, 30}}, got); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})
}
