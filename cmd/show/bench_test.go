package show_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/show"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

const benchBytes = 256 << 20

// benchPartition holds lines of 100 bytes in batches of some 128 KiB.
func benchPartition(b *testing.B, codec segments.Codec) *engine.Partition {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "lines-0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, segments.SegmentName(0)+segments.LogSuffix))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var builder segments.Builder
	var buf []byte
	offset := int64(0)
	for written := 0; written < benchBytes; {
		builder.Start(buf[:0], segments.BatchOptions{Codec: codec})
		for builder.Size() < 128<<10 {
			line := fmt.Appendf(nil, "%010d %s", offset+int64(builder.Count()), bytes.Repeat([]byte("log line "), 10))
			builder.AppendValue(1_700_000_000_000, line[:99])
			written += 100
		}
		n := builder.Count()
		if buf, err = builder.Finish(); err != nil {
			b.Fatal(err)
		}
		segments.SetBaseOffset(buf, offset)
		offset += int64(n)
		if _, err := f.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	p, err := engine.OpenPartitionDir(dir, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func benchCopy(b *testing.B, codec segments.Codec, o show.Options) {
	p := benchPartition(b, codec)
	o.Limit = -1
	o.Write = func([]byte) error { return nil }
	b.SetBytes(benchBytes)
	defer reportCPU(b)()
	for b.Loop() {
		v, err := p.View(engine.ViewOptions{ReadAhead: benchAhead()})
		if err != nil {
			b.Fatal(err)
		}
		r, err := v.Reader(engine.ReaderOptions{From: v.Start(), Until: v.End()})
		if err != nil {
			b.Fatal(err)
		}
		if err := show.New(o).Copy(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

var plain = show.Options{Format: &format.Plain{Delimiter: []byte("\n")}, Delimiter: []byte("\n"), Plain: true}

func BenchmarkCat(b *testing.B)     { benchCopy(b, segments.None, plain) }
func BenchmarkCatLZ4(b *testing.B)  { benchCopy(b, segments.LZ4, plain) }
func BenchmarkCatZstd(b *testing.B) { benchCopy(b, segments.Zstd, plain) }
func BenchmarkCatJSON(b *testing.B) { benchCopy(b, segments.None, show.Options{Format: format.JSON{}}) }

// reportCPU reports the processor time of a round: on a machine that is shared it says
// more than the clock.
func reportCPU(b *testing.B) func() {
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op") }
}

// BenchmarkPlainRead is what the others are measured against.
func BenchmarkPlainRead(b *testing.B) {
	p := benchPartition(b, segments.None)
	b.SetBytes(benchBytes)
	buf := make([]byte, 128<<10)
	defer reportCPU(b)()
	for b.Loop() {
		f, err := os.Open(filepath.Join(p.Dir(), segments.SegmentName(0)+segments.LogSuffix))
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := f.Read(buf); err == io.EOF {
				break
			}
		}
		f.Close()
	}
}

func benchAhead() int {
	n, _ := strconv.Atoi(os.Getenv("AHEAD"))
	return n
}
