package engine_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"testing"

	"github.com/klog-project/klog/engine"
)

func TestMurmur2ChoosesAsTheJavaClient(t *testing.T) {
	raw, err := os.ReadFile("testdata/murmur2.json")
	if err != nil {
		t.Fatal(err)
	}
	var keys []struct {
		Key        []byte `json:"key_base64"`
		Partition3 int32  `json:"partition_3"`
		Partition7 int32  `json:"partition_7"`
		Of12       int32  `json:"partition_12"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	if len(keys) < 30 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, k := range keys {
		for n, want := range map[int]int32{3: k.Partition3, 7: k.Partition7, 12: k.Of12, 1: 0} {
			if k.Key == nil {
				k.Key = []byte{} // no key would be something else
			}
			if got := engine.NewPartitioner(engine.Murmur2, n).Partition(k.Key); got != want {
				t.Errorf("key %q of %d: partition %d, want %d", k.Key, n, got, want)
			}
		}
	}
}

func TestCRC32(t *testing.T) {
	p := engine.NewPartitioner(engine.CRC32, 7)
	for i := range 100 {
		key := fmt.Appendf(nil, "key-%d", i)
		if got, want := p.Partition(key), int32(crc32.ChecksumIEEE(key)%7); got != want {
			t.Fatalf("key %q: partition %d, want %d", key, got, want)
		}
	}
	if got := p.Partition([]byte{}); got != 0 {
		t.Errorf("empty key: partition %d, want 0", got)
	}
}

func TestKeylessRecordsStickUntilTheBatchIsComplete(t *testing.T) {
	for _, kind := range []engine.PartitionerKind{engine.Murmur2, engine.CRC32, engine.Sticky} {
		p := engine.NewPartitioner(kind, 5)
		last := p.Partition(nil)
		seen := map[int32]bool{last: true}
		for range 4 {
			if got := p.Partition(nil); got != last {
				t.Fatalf("%v: moved from %d to %d within a batch", kind, last, got)
			}
			p.Batch()
			last = p.Partition(nil)
			seen[last] = true
		}
		if len(seen) != 5 {
			t.Errorf("%v: five batches went to %d partitions", kind, len(seen))
		}
	}
}

func TestKindsThatIgnoreTheKey(t *testing.T) {
	sticky := engine.NewPartitioner(engine.Sticky, 64)
	if a, b := sticky.Partition([]byte("a")), sticky.Partition([]byte("b")); a != b {
		t.Errorf("sticky: keys went to %d and %d", a, b)
	}
	turns := engine.NewPartitioner(engine.RoundRobin, 3)
	first := turns.Partition([]byte("a"))
	for i := range int32(9) {
		if got, want := turns.Partition([]byte("a")), (first+i+1)%3; got != want {
			t.Errorf("round-robin, record %d: partition %d, want %d", i+1, got, want)
		}
	}
	for _, kind := range []engine.PartitionerKind{engine.RoundRobin, engine.Sticky} {
		if engine.NewPartitioner(kind, 2).ByKey([]byte("a")) {
			t.Errorf("%v: bound by the key", kind)
		}
	}
}

func TestManyProducersBeginEverywhere(t *testing.T) {
	seen := map[int32]bool{}
	for range 1000 {
		seen[engine.NewPartitioner(engine.Murmur2, 4).Partition(nil)] = true
	}
	if len(seen) != 4 {
		t.Errorf("a thousand producers began in %d of 4 partitions", len(seen))
	}
}

func TestParsePartitioner(t *testing.T) {
	for _, name := range []string{"murmur2", "crc32", "round-robin", "sticky"} {
		k, err := engine.ParsePartitioner(name)
		if err != nil || k.String() != name {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
	if _, err := engine.ParsePartitioner("dice"); err == nil {
		t.Error("dice: accepted")
	}
}
