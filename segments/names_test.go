package segments_test

import (
	"math"
	"strings"
	"testing"

	"github.com/klog-project/klog/segments"
)

func TestG041ParseSegmentName(t *testing.T) {
	for _, tt := range []struct {
		file   string
		base   int64
		suffix string
		ok     bool
	}{
		{"00000000000000000000.log", 0, ".log", true},
		{"00000000000000000133.timeindex", 133, ".timeindex", true},
		{"00000000000000000005.index.deleted", 5, ".index.deleted", true},
		{"00000000000000000005.log.cleaned", 5, ".log.cleaned", true},
		{"00000000000000000005.txnindex.swap", 5, ".txnindex.swap", true},
		{"00000000000000000150.snapshot", 150, ".snapshot", true},
		{"09223372036854775807.log", math.MaxInt64, ".log", true},
		{"09223372036854775808.log", 0, "", false},
		{"99999999999999999999.log", 0, "", false},
		{"0.log", 0, "", false},
		{"0000000000000000010.log", 0, "", false},
		{"000000000000000000010.log", 0, "", false},
		{"-0000000000000000001.log", 0, "", false},
		{"+0000000000000000001.log", 0, "", false},
		{"00000000000000000005.log.bak", 0, "", false},
		{"00000000000000000000.log~", 0, "", false},
		{"00000000000000000005.log.deleted.deleted", 0, "", false},
		{"00000000000000000005.LOG", 0, "", false},
		{"00000000000000000005", 0, "", false},
		{"00000000000000000005.", 0, "", false},
		{"00000000000000000005.deleted", 0, "", false},
		{"foo.log", 0, "", false},
		{"", 0, "", false},
		{"０0000000000000000005.log", 0, "", false},
	} {
		base, suffix, ok := segments.ParseSegmentName(tt.file)
		if base != tt.base || suffix != tt.suffix || ok != tt.ok {
			t.Errorf("%s: got %d %q %v, want %d %q %v", tt.file, base, suffix, ok, tt.base, tt.suffix, tt.ok)
		}
		if ok && segments.SegmentName(base)+suffix != tt.file {
			t.Errorf("%s: written again it is %s", tt.file, segments.SegmentName(base)+suffix)
		}
	}
}

func TestParsePartitionDir(t *testing.T) {
	long := strings.Repeat("x", 249)
	for _, tt := range []struct {
		dir       string
		topic     string
		partition int32
		ok        bool
	}{
		{"orders-0", "orders", 0, true},
		{"my.topic_x-y-12", "my.topic_x-y", 12, true},
		{"a--1", "a-", 1, true},
		{"1-2", "1", 2, true},
		{"__consumer_offsets-49", "__consumer_offsets", 49, true},
		{"t-2147483647", "t", math.MaxInt32, true},
		{long + "-0", long, 0, true},
		{"t-2147483648", "", 0, false},
		{"x" + long + "-0", "", 0, false},
		{"t-01", "", 0, false},
		{"t-+1", "", 0, false},
		{"t--", "", 0, false},
		{"-0", "", 0, false},
		{"..-0", "", 0, false},
		{"orders", "", 0, false},
		{"a b-0", "", 0, false},
		{"orders-0.0123456789abcdef0123456789abcdef-delete", "", 0, false},
		{"orders-0.0123456789abcdef0123456789abcdef-future", "", 0, false},
		{"lost+found", "", 0, false},
		{"", "", 0, false},
	} {
		topic, partition, ok := segments.ParsePartitionDir(tt.dir)
		if topic != tt.topic || partition != tt.partition || ok != tt.ok {
			t.Errorf("%s: got %q %d %v, want %q %d %v", tt.dir, topic, partition, ok, tt.topic, tt.partition, tt.ok)
		}
		if ok && segments.PartitionDir(topic, partition) != tt.dir {
			t.Errorf("%s: written again it is %s", tt.dir, segments.PartitionDir(topic, partition))
		}
	}
}

func TestDeletedDirName(t *testing.T) {
	id := [16]byte{0x01, 0x23, 15: 0xef}
	name := segments.DeletedDirName("orders", 3, id)
	if want := "orders-3.012300000000000000000000000000ef-delete"; name != want {
		t.Errorf("got %s, want %s", name, want)
	}
	topic, partition, got, ok := segments.ParseDeletedDirName(name)
	if topic != "orders" || partition != 3 || got != id || !ok {
		t.Errorf("got %s %d %x %v", topic, partition, got, ok)
	}
	long := strings.Repeat("a", 249)
	name = segments.DeletedDirName(long, 2147483647, id)
	if len(name) != 255 {
		t.Errorf("a name of %d characters, want 255", len(name))
	}
	if topic, _, _, ok := segments.ParseDeletedDirName(name); !ok || !strings.HasPrefix(long, topic) {
		t.Errorf("%s: got %q %v", name, topic, ok)
	}
	for _, bad := range []string{
		"orders-3", "orders-3-delete", "orders-3.0123-delete", "orders.012300000000000000000000000000ef-delete",
		"orders-3.01230000000000000000000000000xef-delete", "orders-3.012300000000000000000000000000ef-stray",
	} {
		if _, _, _, ok := segments.ParseDeletedDirName(bad); ok {
			t.Errorf("%s: taken for a deleted partition", bad)
		}
	}
}

func TestValidTopicName(t *testing.T) {
	for _, good := range []string{"a", "A.b_c-9", "...", "-", strings.Repeat("x", 249)} {
		if err := segments.ValidTopicName(good); err != nil {
			t.Error(err)
		}
	}
	for bad, rule := range map[string]string{
		"": "empty", ".": `"."`, "..": `".."`, "a/b": "'/'", "ä": "'ä'", "a b": "' '", "a\x00": `'\x00'`, strings.Repeat("x", 250): "249",
	} {
		err := segments.ValidTopicName(bad)
		if err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%q: got %v, want an error that names %s", bad, err, rule)
		}
	}
}
