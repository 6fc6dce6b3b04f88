package segments_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klog-project/klog/segments"
)

// benchBatch is how much a benchmark puts into one batch.
const benchBatch = 128 << 10

// logLines are lines of text of about the given length, as compressible as logs are.
func logLines(size int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"INFO", "WARN", "connection", "from", "closed", "timeout", "user", "session", "request", "GET", "/index.html", "took"}
	lines := make([][]byte, 512)
	for i := range lines {
		line := fmt.Appendf(nil, "2026-12-01T06:%02d:%02d.%03d ", rng.IntN(60), rng.IntN(60), rng.IntN(1000))
		for len(line) < size {
			line = fmt.Appendf(line, "%s id=%d ", words[rng.IntN(len(words))], rng.IntN(1<<20))
		}
		lines[i] = line[:size]
	}
	return lines
}

// buildBatch makes one batch of values.
func buildBatch(tb testing.TB, codec segments.Codec, size int) (raw []byte, count int) {
	tb.Helper()
	var b segments.Builder
	lines := logLines(size)
	b.Start(nil, segments.BatchOptions{Codec: codec})
	for i := 0; b.Size() < benchBatch; i++ {
		b.AppendValue(1_700_000_000_000, lines[i%len(lines)])
	}
	count = int(b.Count())
	raw, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return raw, count
}

func BenchmarkAppendValue(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			lines := logLines(size)
			var w segments.Builder
			buf := make([]byte, 0, 2*benchBatch)
			w.Start(buf, segments.BatchOptions{})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if w.Size() >= benchBatch {
					if _, err := w.Finish(); err != nil {
						b.Fatal(err)
					}
					w.Start(buf, segments.BatchOptions{})
				}
				w.AppendValue(1_700_000_000_000, lines[i%len(lines)])
			}
		})
	}
}

func BenchmarkAppendLines(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			lines := logLines(size - 1)
			text := append(bytes.Join(lines, []byte("\n")), '\n')
			var w segments.Builder
			buf := make([]byte, 0, 2*benchBatch)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for done := 0; b.Loop(); { // b.N counts lines
				if done > 0 {
					done--
					continue
				}
				w.Start(buf, segments.BatchOptions{})
				w.AppendValue(1_700_000_000_000, lines[0])
				for w.Size() < benchBatch/2 {
					n, _ := w.AppendLines(1_700_000_000_000, text, '\n', benchBatch)
					if done += n; n == 0 {
						break
					}
				}
				if _, err := w.Finish(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	lines := logLines(100)
	var w segments.Builder
	buf := make([]byte, 0, 2*benchBatch)
	w.Start(buf, segments.BatchOptions{})
	b.SetBytes(100)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if w.Size() >= benchBatch {
			w.Start(buf, segments.BatchOptions{})
		}
		w.Append(1_700_000_000_000, lines[i%len(lines)][:10], lines[i%len(lines)][10:], nil)
	}
}

func BenchmarkNextValue(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			raw, _ := buildBatch(b, segments.None, size)
			batch, _ := segments.ParseBatch(raw, 0)
			var d segments.Decoder
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := d.NextValue(); !ok {
					d.Open(batch)
				}
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	raw, _ := buildBatch(b, segments.None, 100)
	batch, _ := segments.ParseBatch(raw, 0)
	var d segments.Decoder
	var r segments.Record
	b.SetBytes(100)
	b.ReportAllocs()
	for b.Loop() {
		if !d.Next(&r) {
			d.Open(batch)
		}
	}
}

// BenchmarkCompress encodes whole batches; bytes are those of the values.
func BenchmarkCompress(b *testing.B) {
	for codec := segments.None; codec <= segments.Zstd; codec++ {
		b.Run(codec.String(), func(b *testing.B) {
			lines := logLines(100)
			var w segments.Builder
			buf := make([]byte, 0, 2*benchBatch)
			b.SetBytes(benchBatch / 100 * 100)
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				w.Start(buf, segments.BatchOptions{Codec: codec})
				for i := range benchBatch / 100 {
					w.AppendValue(1_700_000_000_000, lines[i%len(lines)])
				}
				out, err := w.Finish()
				if err != nil {
					b.Fatal(err)
				}
				size = len(out)
			}
			b.ReportMetric(float64(size)/benchBatch, "ratio")
		})
	}
}

// BenchmarkDecompress decodes whole batches; bytes are those of the values.
func BenchmarkDecompress(b *testing.B) {
	for codec := segments.None; codec <= segments.Zstd; codec++ {
		b.Run(codec.String(), func(b *testing.B) {
			raw, count := buildBatch(b, codec, 100)
			batch, _ := segments.ParseBatch(raw, 0)
			var d segments.Decoder
			b.SetBytes(int64(100 * count))
			b.ReportAllocs()
			for b.Loop() {
				d.Open(batch)
				for {
					if _, _, ok := d.NextValue(); !ok {
						break
					}
				}
				if d.Err() != nil {
					b.Fatal(d.Err())
				}
			}
		})
	}
}
