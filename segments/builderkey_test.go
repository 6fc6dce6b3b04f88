package segments_test

import (
	"bytes"
	"testing"

	"github.com/klog-project/klog/segments"
)

// AppendKeyValue writes what Append writes, byte for byte, at every size where a varint
// becomes longer.
func TestAppendKeyValueIsAppend(t *testing.T) {
	var fast, plain segments.Builder
	fast.Start(nil, segments.BatchOptions{})
	plain.Start(nil, segments.BatchOptions{})
	sizes := []int{0, 1, 31, 32, 63, 64, 65, 8191, 8192, 8193, 70000}
	text := bytes.Repeat([]byte("k"), 70000)
	add := func(ts int64, key, value []byte) {
		fast.AppendKeyValue(ts, key, value)
		plain.Append(ts, key, value, nil)
	}
	for _, ts := range []int64{1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_001, 0, -1, 1 << 62} {
		for _, k := range sizes {
			for _, v := range sizes {
				add(ts, text[:k], text[:v])
			}
		}
		add(ts, nil, text[:3])
		add(ts, text[:3], nil)
	}
	got, err := fast.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the batches differ")
	}
}

func BenchmarkAppendKeyValue(b *testing.B) {
	key, value := []byte("key-4711"), bytes.Repeat([]byte("v"), 80)
	var w segments.Builder
	buf := make([]byte, 0, 1<<20)
	b.SetBytes(int64(len(key) + len(value)))
	for i := range b.N {
		if i%1000 == 0 {
			w.Start(buf, segments.BatchOptions{})
		}
		w.AppendKeyValue(1_700_000_000_000, key, value)
	}
}
