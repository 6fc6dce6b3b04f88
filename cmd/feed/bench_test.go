package feed_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/engine"
)

// plainFile appends to a file and does nothing else that a log does.
type plainFile struct {
	f    *os.File
	size int64
	next int64
}

func (p *plainFile) Append(_ context.Context, raw []byte) (engine.Appended, error) {
	a := engine.Appended{First: p.next}
	for at := 0; at < len(raw); {
		binary.BigEndian.PutUint64(raw[at:], uint64(p.next))
		p.next += int64(binary.BigEndian.Uint32(raw[at+57:]))
		at += 12 + int(binary.BigEndian.Uint32(raw[at+8:]))
		a.Batches++
	}
	a.Next = p.next
	_, err := p.f.WriteAt(raw, p.size)
	p.size += int64(len(raw))
	return a, err
}

func (p *plainFile) Sync(context.Context) error { return p.f.Sync() }

func (p *plainFile) StillThere() error { return nil }
func (p *plainFile) Close() error      { return p.f.Close() }

func benchFeed(b *testing.B, text []byte, partitions int, change func(*feed.Options)) {
	dir := b.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		o := feed.Options{
			Inputs:    []feed.Input{{Path: in}},
			Partition: -1,
			Target: feed.Target{Partitions: partitions, Open: func(p int32) (feed.Writer, error) {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint("out", p)))
				return &plainFile{f: f}, err
			}},
			Limits: feed.Limits{Message: 1 << 20, Batch: 128 << 10, Line: 2 << 20, Earliest: 1 << 62, Latest: 1 << 62},
		}
		change(&o)
		if _, err := feed.Run(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCat is what the others are held against: cat FILE > out.
func BenchmarkCat(b *testing.B) {
	dir := b.TempDir()
	in := filepath.Join(dir, "in")
	text := lines(100, 256<<20)
	if err := os.WriteFile(in, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			b.Fatal(err)
		}
		c := exec.Command("cat", in)
		c.Stdout = f
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

// lines are lines of n bytes each with the newline, total bytes in all.
func lines(n, total int) []byte {
	line := append(bytes.Repeat([]byte("x"), n-1), '\n')
	text := bytes.Repeat(line, total/n)
	for i := 0; i+n <= len(text); i += n { // not all the same
		copy(text[i:i+n-1], fmt.Appendf(nil, "%d ", i*7919))
	}
	return text
}

func BenchmarkLines100(b *testing.B) { benchFeed(b, lines(100, 256<<20), 1, func(*feed.Options) {}) }
func BenchmarkLines10(b *testing.B)  { benchFeed(b, lines(16, 128<<20), 1, func(*feed.Options) {}) }
func BenchmarkLines10K(b *testing.B) {
	benchFeed(b, lines(10<<10, 256<<20), 1, func(*feed.Options) {})
}

func BenchmarkKeyed(b *testing.B) {
	text := lines(100, 256<<20)
	for i := 0; i < len(text); i += 100 {
		copy(text[i:], fmt.Appendf(nil, "key-%04d\t", i/100*7%5000))
	}
	benchFeed(b, text, 8, func(o *feed.Options) { o.KeyDelimiter = []byte{'\t'} })
}
