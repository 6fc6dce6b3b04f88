package format_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/segments"
)

// line100 is a record with a plain value of 100 bytes.
func line100() *segments.Record {
	return &segments.Record{Offset: 123456789, Timestamp: 1764547200000, Value: bytes.Repeat([]byte("0123456789"), 10)}
}

func benchmarkAppend(b *testing.B, f format.Formatter) {
	src, r := format.NewSource("orders", 0), line100()
	dst := make([]byte, 0, 1024)
	b.SetBytes(int64(len(r.Value)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = f.Append(dst[:0], src, 1, r)
	}
}

func BenchmarkJSONOut(b *testing.B)    { benchmarkAppend(b, format.JSON{}) }
func BenchmarkOwnJSONOut(b *testing.B) { benchmarkAppend(b, format.Own(format.JSON{})) }
func BenchmarkPlainOut(b *testing.B)   { benchmarkAppend(b, &format.Plain{Delimiter: []byte("\n")}) }

func BenchmarkFormatOut(b *testing.B) {
	benchmarkAppend(b, compile(b, `%t %p %o %k %v\n`, time.UTC))
}
func BenchmarkTimeOut(b *testing.B) { benchmarkAppend(b, compile(b, `%d %v\n`, time.UTC)) }

func benchmarkParse(b *testing.B, p format.Parser, line []byte) {
	var row format.Row
	b.SetBytes(100)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.ParseRow(line, &row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSONIn(b *testing.B) {
	line, _ := format.JSON{}.Append(nil, format.NewSource("orders", 0), 1, line100())
	benchmarkParse(b, format.NewJSONRows(options()), line)
}

func BenchmarkFormatIn(b *testing.B) {
	benchmarkParse(b, compileInput(b, `%k %v\n`, options()), append([]byte("key "), line100().Value...))
}

func BenchmarkSyslogIn(b *testing.B) {
	benchmarkParse(b, compileInput(b, `%d{strftime[%b %e %H:%M:%S]} %v\n`, options()), append([]byte("Dec  1 14:05:09 "), line100().Value...))
}
