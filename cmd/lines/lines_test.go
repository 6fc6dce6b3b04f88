package lines_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/cmd/lines"
)

// all collects the records of r.
func all(t *testing.T, r io.Reader, delim string) []string {
	t.Helper()
	var got []string
	s := lines.NewScanner(r, []byte(delim))
	defer s.Close()
	for {
		rec, err := s.Next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(rec))
		if s.Number() != int64(len(got)) {
			t.Fatalf("record %d is numbered %d", len(got), s.Number())
		}
	}
}

func TestG088Framing(t *testing.T) {
	for _, c := range []struct {
		in, delim string
		want      []string
	}{
		{"a\nb", "\n", []string{"a", "b"}},
		{"\n\nx\n", "\n", []string{"", "", "x"}},
		{"", "\n", nil},
		{"\n", "\n", []string{""}},
		{"a\n\n", "\n", []string{"a", ""}},
		{"a\r\nb\r\n", "\n", []string{"a\r", "b\r"}},
		{"a\r\nb\nc\r\n", "\r\n", []string{"a", "b\nc"}},
		{"a\x00b\nc\x00", "\x00", []string{"a", "b\nc"}},
		{"aaaaa", "aa", []string{"", "", "a"}},
		{"a--b-", "--", []string{"a", "b-"}},
		{"a--b--", "--", []string{"a", "b"}},
		{"ababac", "abac", []string{"ab"}},
		{"x\ny\n", "", []string{"x\ny\n"}},
		{"", "", []string{""}},
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "with the end": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			if diff := cmp.Diff(c.want, all(t, r, c.delim)); diff != "" {
				t.Errorf("%q at %q, %s:\n%s", c.in, c.delim, name, diff)
			}
		}
	}
}

func TestG087LongLines(t *testing.T) {
	for _, n := range []int{65535, 65536, 65537, 131071, 131072, 131073, 900_000, 1 << 20, 5 << 20} {
		long := strings.Repeat("x", n)
		got := all(t, strings.NewReader("a\n"+long+"\nb\n"+long), "\n")
		if len(got) != 4 || got[0] != "a" || got[1] != long || got[2] != "b" || got[3] != long {
			t.Errorf("a line of %d bytes is not whole: %d records", n, len(got))
		}
	}
}

// zeros is a stream of n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestMemoryIsBoundedByTheRecord(t *testing.T) {
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := lines.NewScanner(io.MultiReader(zeros(size), strings.NewReader("\nshort\n")), []byte("\n"))
	defer s.Close()
	rec, err := s.Next()
	if err != nil || len(rec) != size {
		t.Fatalf("%d bytes, %v", len(rec), err)
	}
	runtime.ReadMemStats(&after)
	// HeapSys is what the runtime ever asked of the system; the rest is mapped.
	if grew := int64(after.HeapSys) - int64(before.HeapSys); grew > 3*size {
		t.Errorf("a record of %d bytes took %d of the heap", size, grew)
	}
	if mapped := s.Reserved(); mapped > size+size/2 {
		t.Errorf("a record of %d bytes lies in %d", size, mapped)
	}
	if rec, err = s.Next(); string(rec) != "short" || err != nil {
		t.Fatalf("%q, %v", rec, err)
	}
	if _, err = s.Next(); err != io.EOF {
		t.Fatal(err)
	}
	if left := s.Reserved(); left > 1<<20 {
		t.Errorf("%d bytes stay reserved", left)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+8<<20 {
		t.Errorf("%d bytes stay behind", after.HeapAlloc-before.HeapAlloc)
	}
}

func TestBrokenStream(t *testing.T) {
	broken := errors.New("broken")
	s := lines.NewScanner(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), []byte("\n"))
	if rec, err := s.Next(); string(rec) != "a" || err != nil {
		t.Fatalf("%q, %v", rec, err)
	}
	for range 2 {
		if rec, err := s.Next(); rec != nil || err != broken {
			t.Fatalf("%q, %v", rec, err)
		}
	}
	stuck := lines.NewScanner(stuckReader{}, []byte("\n"))
	if _, err := stuck.Next(); err != io.ErrNoProgress {
		t.Fatal(err)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

// A record that is whole is given before the next bytes arrive.
func TestG093RecordsAreNotHeldBack(t *testing.T) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	go w.Write([]byte("a\nb\nc"))
	s := lines.NewScanner(r, []byte("\n"))
	for _, want := range []string{"a", "b"} {
		if rec, err := s.Next(); string(rec) != want || err != nil {
			t.Fatalf("%q, %v", rec, err)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("a\n\nb"), []byte("\n"), uint8(1))
	f.Add([]byte("ababa"), []byte("aba"), uint8(3))
	f.Fuzz(func(t *testing.T, in, delim []byte, step uint8) {
		if len(delim) == 0 {
			return
		}
		want := bytes.Split(in, delim)
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		s := lines.NewScanner(&stepReader{in, int(step)%7 + 1}, delim)
		defer s.Close()
		for i, w := range want {
			if rec, err := s.Next(); err != nil || !bytes.Equal(rec, w) {
				t.Fatalf("record %d: %q, %v, want %q", i, rec, err, w)
			}
		}
		if rec, err := s.Next(); err != io.EOF {
			t.Fatalf("one more: %q, %v", rec, err)
		}
	})
}

// stepReader gives a few bytes at a time.
type stepReader struct {
	b    []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(r.step, len(r.b))])
	r.b = r.b[n:]
	return n, nil
}

func BenchmarkScanner(b *testing.B) {
	in := bytes.Repeat(append(bytes.Repeat([]byte("x"), 99), '\n'), 10_000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s := lines.NewScanner(bytes.NewReader(in), []byte("\n"))
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	}
}
