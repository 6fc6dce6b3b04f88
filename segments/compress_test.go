package segments_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/klog-project/klog/segments"
)

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// bombs are size zeros as one stream of each codec, as small as others make it.
func bombs(t *testing.T, size int) map[string][]byte {
	t.Helper()
	zeros := make([]byte, size)
	var gz, lz, zs bytes.Buffer
	streams := map[*bytes.Buffer]func(w io.Writer) io.WriteCloser{
		&gz: func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		&lz: func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) },
		&zs: func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	}
	for buf, open := range streams {
		w := open(buf)
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	xerial, err := segments.Compress(segments.Snappy, 0, zeros)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"gzip":            gz.Bytes(),
		"gzip members":    append(bytes.Clone(gz.Bytes()), gz.Bytes()...),
		"lz4":             lz.Bytes(),
		"snappy":          s2.EncodeSnappy(nil, zeros),
		"xerial":          xerial,
		"zstd stream":     zs.Bytes(),
		"zstd with size":  all.EncodeAll(zeros, nil),
		"zstd two frames": append(all.EncodeAll(zeros, nil), zs.Bytes()...),
	}
}

func codecOf(name string) segments.Codec {
	switch name[0] {
	case 'g':
		return segments.Gzip
	case 'l':
		return segments.LZ4
	case 's', 'x':
		return segments.Snappy
	}
	return segments.Zstd
}

// TestBombsTakeLittleMemory refuses streams that decompress to more than the bound
// without taking the bound's memory, and reads them in not much more than their size
// where the bound allows.
func TestBombsTakeLittleMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates beside")
	}
	const size = 80 << 20
	for name, stream := range bombs(t, size) {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocated(func() { _, _, err = segments.Decompress(codecOf(name), stream, 64<<20) })
			if !errors.Is(err, segments.ErrDecompressedTooLarge) {
				t.Errorf("got %v", err)
			}
			// Up to 32 MiB are decompressed before a stream is measured, into a buffer
			// that doubles and so takes 64 MiB in all; a zstd window may take 8 MiB.
			if used > 100<<20 {
				t.Errorf("took %d MiB to refuse it", used>>20)
			}
			var out []byte
			used = allocated(func() { out, _, err = segments.Decompress(codecOf(name), stream, 200<<20) })
			if err != nil || len(out) < size {
				t.Fatalf("%d bytes, %v", len(out), err)
			}
			if used > len(out)+100<<20 {
				t.Errorf("took %d MiB to read %d MiB", used>>20, len(out)>>20)
			}
		})
	}
}

// TestAnnouncedSizesAreNotBelieved reads streams that promise gigabytes in a few bytes.
func TestAnnouncedSizesAreNotBelieved(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<32-1)
	xerial := append([]byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"), 0, 0, 0, byte(len(huge)))
	for name, stream := range map[string][]byte{
		"snappy block":         append(bytes.Clone(huge), 0, 'x'),
		"xerial block":         append(xerial, huge...),
		"xerial chunk":         []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xff\xff\xffx"),
		"lz4 content size":     []byte("\x04\x22\x4d\x18\x68\x70\x00\x00\x00\x00\x01\x00\x00\x00\x00\x10\x00\x00\x00x"),
		"lz4 block size":       []byte("\x04\x22\x4d\x18\x60\x40\x82\xff\xff\xff\x7fx"),
		"zstd content size":    []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x80\x01\x00\x00"),
		"zstd window":          []byte("\x28\xb5\x2f\xfd\x00\x88\x0b\x00\x00xx"),
		"zstd skippable":       []byte("\x50\x2a\x4d\x18\xff\xff\xff\xff"),
		"gzip stored block":    []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\x00\x00x"),
		"gzip that has no end": []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocated(func() { _, _, err = segments.Decompress(codecOf(name), stream, 1<<31) })
			if err == nil {
				t.Error("read")
			}
			if used > 1<<20 {
				t.Errorf("took %d KiB for %d bytes: %v", used>>10, len(stream), err)
			}
		})
	}
}

// TestStreamsAreCut cuts each codec's stream at every byte: nothing but the whole is
// read as whole.
func TestStreamsAreCut(t *testing.T) {
	text := []byte(fmt.Sprint(logLines(60)[:50]))
	for codec := segments.Gzip; codec <= segments.Zstd; codec++ {
		stream, err := segments.Compress(codec, 0, text)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(stream) {
			out, _, err := segments.Decompress(codec, stream[:n], 1<<20)
			// Cut between or a little into chunks, a xerial stream is a shorter one; so
			// is an empty zstd stream. Both are too few records for their batch.
			if err == nil && (codec == segments.Gzip || codec == segments.LZ4 || len(out) > 0) {
				t.Errorf("%v: %d of %d bytes read as %d", codec, n, len(stream), len(out))
			}
		}
		if out, _, err := segments.Decompress(codec, stream, 1<<20); err != nil || !bytes.Equal(out, text) {
			t.Errorf("%v: %v", codec, err)
		}
	}
}

// TestLZ4Checksums reads frames with checksums, and refuses a block whose own is wrong
// but not a content whose own is.
func TestLZ4Checksums(t *testing.T) {
	text := bytes.Repeat([]byte("records of some kind, "), 10_000)
	var buf bytes.Buffer
	w := lz4.NewWriter(&buf)
	if err := w.Apply(lz4.BlockChecksumOption(true), lz4.ChecksumOption(true), lz4.BlockSizeOption(lz4.Block64Kb), lz4.SizeOption(uint64(len(text)))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	frame := buf.Bytes()
	if out, _, err := segments.Decompress(segments.LZ4, frame, len(text)); err != nil || !bytes.Equal(out, text) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	const firstBlock = 4 + 2 + 8 + 1 + 4
	for at, bad := range map[int]bool{4: true, 5: true, 10: true, 14: true, firstBlock + 20: true, len(frame) - 1: false} {
		broken := bytes.Clone(frame)
		broken[at] ^= 1
		if _, _, err := segments.Decompress(segments.LZ4, broken, len(text)); (err != nil) != bad {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
}

// TestLZ4BlocksTakeWhatTheyHold decodes small batches of a client that allows blocks of
// 4 MiB: each takes the memory of its content, and the next one the same.
func TestLZ4BlocksTakeWhatTheyHold(t *testing.T) {
	text := bytes.Repeat([]byte("records of some kind, "), 500)
	var buf bytes.Buffer
	w := lz4.NewWriter(&buf)
	if err := w.Apply(lz4.BlockSizeOption(lz4.Block4Mb)); err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, capacity, err := segments.Decompress(segments.LZ4, buf.Bytes(), len(text))
	if err != nil || !bytes.Equal(out, text) {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	if capacity > 2*len(text) {
		t.Errorf("a buffer of %d bytes for %d", capacity, len(text))
	}
}

// TestLevels compresses at every level and wants a high one to make a difference.
func TestLevels(t *testing.T) {
	var text []byte
	for _, line := range logLines(300) {
		text = append(text, line...)
	}
	for codec, levels := range map[segments.Codec][]int{
		segments.Gzip: {1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, segments.LZ4: {1, 2, 3, 9, 100}, segments.Zstd: {1, 3, 6, 11, 22, 100},
	} {
		sizes := map[int]int{}
		for _, level := range append(levels, 0, -5) {
			z, err := segments.Compress(codec, level, text)
			if err != nil {
				t.Fatal(err)
			}
			if out, _, err := segments.Decompress(codec, z, len(text)); err != nil || !bytes.Equal(out, text) {
				t.Errorf("%v level %d: %v", codec, level, err)
			}
			sizes[level] = len(z)
		}
		if most := sizes[levels[len(levels)-1]]; most == sizes[1] || most > sizes[1] && codec != segments.Zstd {
			t.Errorf("%v: sizes by level %v", codec, sizes)
		}
	}
}

// TestXXH32 has the reference values of the hash for each way through it.
func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{
		"":                                  0x02cc5d05,
		"a":                                 0x550d7456,
		"abc":                               0x32d153ff,
		"abcd":                              0xa3643705,
		"0123456789abcdef":                  0xc2c45b69,
		"0123456789abcdef0123456789abcdefg": 0xffe240c3,
	} {
		if got := segments.XXH32([]byte(in)); got != want {
			t.Errorf("%q: got %#08x, want %#08x", in, got, want)
		}
	}
}
