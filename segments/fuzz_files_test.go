package segments_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// fuzzParser fuzzes one parser: it never panics, its errors are of the two kinds, and
// what it read is written and read again as the same.
func fuzzParser[T any](f *testing.F, parse func([]byte) (T, error), encode func(T) []byte, seeds ...string) {
	for _, s := range seeds {
		f.Add(segmentstest.File(f, s))
	}
	f.Add([]byte("0\n1\na 0 5\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parse(data)
		if err != nil {
			if !errors.Is(err, segments.ErrCorrupt) && !errors.Is(err, segments.ErrUnknownVersion) {
				t.Errorf("%v is of no known kind", err)
			}
			return
		}
		again, err := parse(encode(v))
		if err != nil {
			t.Fatalf("written again: %v", err)
		}
		if d := cmp.Diff(v, again); d != "" {
			t.Errorf("written and read again (-was +is):\n%s", d)
		}
	})
}

func FuzzParseOffsetCheckpoint(f *testing.F) {
	fuzzParser(f, segments.ParseOffsetCheckpoint, segments.EncodeOffsetCheckpoint, "dirs/_server_files/log-start-offset-checkpoint")
}

func FuzzParseEpochs(f *testing.F) {
	fuzzParser(f, segments.ParseEpochs, segments.EncodeEpochs, "dirs/orders-0/leader-epoch-checkpoint")
}

func FuzzParsePartitionMeta(f *testing.F) {
	fuzzParser(f, segments.ParsePartitionMeta, segments.EncodePartitionMeta, "dirs/orders-0/partition.metadata")
}

func FuzzParseSnapshot(f *testing.F) {
	fuzzParser(f, segments.ParseSnapshot, segments.EncodeSnapshot, "dirs/txns-0/00000000000000000016.snapshot")
}

func FuzzReadTxnIndex(f *testing.F) {
	read := func(data []byte) (all []segments.AbortedTxn, err error) {
		err = segments.ReadTxnIndex(readerOf(data), int64(len(data)), 0, func(a segments.AbortedTxn) bool {
			all = append(all, a)
			return true
		})
		return all, err
	}
	encode := func(all []segments.AbortedTxn) (b []byte) {
		for _, a := range all {
			b = segments.AppendAbortedTxn(b, a)
		}
		return b
	}
	fuzzParser(f, read, encode, "dirs/txns-0/00000000000000000000.txnindex")
}

func FuzzParseProperties(f *testing.F) {
	f.Add([]byte("a=b\n#c\\\nd : e\\\n f\n\\u0041\\"), "k ey", "v\\al")
	f.Add(segmentstest.File(f, "broker-4.3.1/clean/meta.properties"), "node.id", "7")
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		p := segments.ParseProperties(data)
		want := data
		if len(data) > 0 && data[len(data)-1] != '\n' {
			want = append(append([]byte(nil), data...), '\n')
		}
		if got := p.Encode(); !bytes.Equal(got, want) {
			t.Fatalf("unchanged it is %q, was %q", got, data)
		}
		others := map[string]string{}
		for _, k := range p.Keys() {
			others[k], _ = p.Get(k)
		}
		key, value = string([]rune(key)), string([]rune(value)) // valid UTF-8
		open := bytes.HasSuffix(want, []byte("\\\n")) || bytes.HasSuffix(want, []byte("\\\r\n"))
		if open {
			return // the last line of the file goes on: nothing can be added behind it
		}
		p.Set(key, value)
		back := segments.ParseProperties(p.Encode())
		if got, ok := back.Get(key); !ok || got != value {
			t.Fatalf("%q: got %q %v back, set %q: %q", key, got, ok, value, p.Encode())
		}
		delete(others, key)
		for k, v := range others {
			if got, ok := back.Get(k); !ok || got != v {
				t.Errorf("setting %q changed %q: got %q %v, was %q", key, k, got, ok, v)
			}
		}
	})
}

func FuzzParseNames(f *testing.F) {
	f.Add("00000000000000000133.log.deleted")
	f.Add("orders-0.0123456789abcdef0123456789abcdef-delete")
	f.Add("my.topic_x-y-12")
	f.Fuzz(func(t *testing.T, name string) {
		if base, suffix, ok := segments.ParseSegmentName(name); ok && segments.SegmentName(base)+suffix != name {
			t.Errorf("%q: written again it is %s%s", name, segments.SegmentName(base), suffix)
		}
		if topic, p, ok := segments.ParsePartitionDir(name); ok && segments.PartitionDir(topic, p) != name {
			t.Errorf("%q: written again it is %s", name, segments.PartitionDir(topic, p))
		}
		if topic, p, id, ok := segments.ParseDeletedDirName(name); ok && len(name) <= 255 {
			if _, _, again, ok := segments.ParseDeletedDirName(segments.DeletedDirName(topic, p, id)); !ok || again != id {
				t.Errorf("%q: written again it is %s", name, segments.DeletedDirName(topic, p, id))
			}
		}
	})
}

func FuzzScanner(f *testing.F) {
	for _, row := range segmentstest.Vectors(f).Corrupt {
		f.Add(segmentstest.File(f, row.File))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scannerOf(data, 0)
		pos, next := int64(0), int64(0)
		for {
			b, err := s.Next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, segments.ErrCorrupt) {
					t.Errorf("%v is of no known kind", err)
				}
				break
			}
			if b.Position != pos || int64(len(b.Raw)) != b.Size() || b.BaseOffset < next || !bytes.Equal(b.Raw, data[pos:pos+b.Size()]) {
				t.Fatalf("batch at %d of %d bytes with offset %d, want at %d and not below %d", b.Position, b.Size(), b.BaseOffset, pos, next)
			}
			pos, next = pos+b.Size(), b.LastOffset()+1
		}
		good := s.Position()
		for _, later := range []bool{false, true} {
			e, err := segments.FindEnd(scannerOf(data, 0), later, nil)
			if err != nil {
				t.Fatal(err)
			}
			if e.Position < good || e.Position+e.Torn != int64(len(data)) || e.Next < next || later && e.Torn != 0 {
				t.Errorf("later %v: got %+v, the first good run ends at %d of %d", later, e, good, len(data))
			}
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add(segments.EncodeList([]segments.SegmentInfo{{Base: 0, MaxTimestamp: 5}, {Base: 10, MaxTimestamp: segments.UnknownTimestamp}}, nil), int64(7))
	f.Fuzz(func(t *testing.T, data []byte, offset int64) {
		l, err := segments.OpenList(memFile{data: data})
		if err != nil {
			if !errors.Is(err, segments.ErrListStale) {
				t.Error(err)
			}
			return
		}
		if _, _, err := l.Find(offset); err != nil && !errors.Is(err, segments.ErrListStale) {
			t.Error(err)
		}
		all, err := l.All()
		if err == nil && !bytes.Equal(segments.EncodeList(all, nil)[32:], data[32:32+24*l.Len()]) {
			t.Errorf("written again it is another: %v", all)
		}
	})
}
