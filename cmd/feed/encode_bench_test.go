package feed

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/klog-project/klog/engine"
)

// benchEncode measures an encoder alone, on one chunk again and again.
func benchEncode(b *testing.B, text []byte, partitions int, o Options) {
	o.Partition = -1
	o.Target.Partitions = partitions
	o.Partitioner = engine.Murmur2
	o.Limits = Limits{Message: 1 << 20, Batch: 128 << 10, Line: 2 << 20}
	o = o.withDefaults()
	frame := newFraming(o.Delimiter, false)
	e := newEncoder(&o, &frame, nil)
	defer e.release()
	b.SetBytes(int64(len(text)))
	c := chunk{data: text, now: 1_700_000_000_000}
	for b.Loop() {
		e.encode(&c)
	}
	if e.failed.err != nil {
		b.Fatal(e.failed.err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(e.number), "ns/record")
}

func benchLines(n int) []byte {
	line := append(bytes.Repeat([]byte{'x'}, n-1), '\n')
	return bytes.Repeat(line, chunkSize/n)
}

func BenchmarkEncodeLines(b *testing.B) {
	for _, n := range []int{1, 10, 100, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchEncode(b, benchLines(n), 1, Options{}) })
	}
}

func BenchmarkEncodeKeyed(b *testing.B) {
	var text []byte
	for i := 0; len(text) < wideChunk; i++ {
		text = append(text, fmt.Sprintf("key%d\t%s\n", i*7%5000, bytes.Repeat([]byte{'v'}, 80))...)
	}
	for _, n := range []int{1, 8, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchEncode(b, text, n, Options{KeyDelimiter: []byte{'\t'}}) })
	}
}
