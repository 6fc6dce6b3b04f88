package segments_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

// indexBytes is an .index file of a segment with base offset 0.
func indexBytes(entries ...[2]int32) []byte {
	var b []byte
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, uint32(e[0]))
		b = binary.BigEndian.AppendUint32(b, uint32(e[1]))
	}
	return b
}

func TestLookupOffset(t *testing.T) {
	many := make([][2]int32, 3000)
	for i := range many {
		many[i] = [2]int32{int32(10*i + 9), int32(100 * (i + 1))}
	}
	for name, tail := range map[string]int{"trimmed": 0, "preallocated": 10_000, "with half an entry": 0} {
		t.Run(name, func(t *testing.T) {
			data := append(indexBytes(many...), make([]byte, tail*segments.OffsetEntrySize)...)
			if name == "with half an entry" {
				data = append(data, 1, 2, 3)
			}
			f, size := bytes.NewReader(data), int64(len(data))
			for target := int64(0); target < 30_100; target++ {
				e, ok, err := segments.LookupOffset(f, size, 1000, 1000+target)
				want := (target+1)/10 - 1
				want = min(want, int64(len(many)-1))
				if err != nil || ok != (want >= 0) || ok && (e.Offset != 1000+10*want+9 || e.Position != 100*(want+1)) {
					t.Fatalf("target %d: got %v %v %v, want entry %d", target, e, ok, err, want)
				}
			}
			last, ok, err := segments.LastOffsetEntry(f, size, 1000)
			if err != nil || !ok || last.Offset != 1000+29_999 {
				t.Errorf("last: got %v %v %v", last, ok, err)
			}
		})
	}
	for _, empty := range [][]byte{nil, make([]byte, 8), make([]byte, 1<<20), {1, 2, 3}} {
		if e, ok, err := segments.LookupOffset(bytes.NewReader(empty), int64(len(empty)), 5, math.MaxInt64); ok || err != nil {
			t.Errorf("%d bytes without an entry: got %v %v %v", len(empty), e, ok, err)
		}
	}
}

func TestG007LookupInAnything(t *testing.T) {
	// Whatever an index holds, and however long it claims to be: an answer that does not
	// break the promise of being at or below the target, and no error.
	r := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		data := make([]byte, r.IntN(20_000))
		for i := range data {
			if r.IntN(3) > 0 {
				data[i] = byte(r.Uint32())
			}
		}
		f, size := bytes.NewReader(data), int64(len(data)+r.IntN(3)*1000)
		target := int64(r.Uint64N(1 << 33))
		if e, ok, err := segments.LookupOffset(f, size, 7, target); err != nil || ok && (e.Offset > target || e.Offset < 7 || e.Position <= 0) {
			t.Fatalf("target %d: got %v %v %v", target, e, ok, err)
		}
		if e, ok, err := segments.LookupTime(f, size, 7, target); err != nil || ok && (e.Timestamp > target || e.Timestamp < 0 || e.Offset < 7) {
			t.Fatalf("target %d: got %v %v %v", target, e, ok, err)
		}
	}
}

func TestLookupTellsReadErrors(t *testing.T) {
	f := failingReader{}
	if _, _, err := segments.LookupOffset(f, 800, 0, 5); err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
	if _, _, err := segments.LookupTime(f, 1<<20, 0, 5); err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// timeIndexBytes is a .timeindex file of a segment with base offset 0.
func timeIndexBytes(entries ...[2]int64) []byte {
	var b []byte
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e[0]))
		b = binary.BigEndian.AppendUint32(b, uint32(e[1]))
	}
	return b
}

func TestLookupTime(t *testing.T) {
	for name, tt := range map[string]struct {
		data []byte
		ts   int64
		want int64 // offset, -1: none
	}{
		"below all":                {timeIndexBytes([2]int64{100, 5}, [2]int64{200, 9}), 99, -1},
		"equal":                    {timeIndexBytes([2]int64{100, 5}, [2]int64{200, 9}), 100, 5},
		"between":                  {timeIndexBytes([2]int64{100, 5}, [2]int64{200, 9}), 199, 5},
		"above all":                {timeIndexBytes([2]int64{100, 5}, [2]int64{200, 9}), 5000, 9},
		"preallocated":             {append(timeIndexBytes([2]int64{100, 5}, [2]int64{200, 9}), make([]byte, 12*1000)...), 5000, 9},
		"preallocated and empty":   {make([]byte, 12*1000), 5000, -1},
		"the epoch itself":         {timeIndexBytes([2]int64{0, 0}), 5000, 0},
		"the epoch, then more":     {timeIndexBytes([2]int64{0, 0}, [2]int64{7, 3}), 5000, 3},
		"the epoch, then too much": {timeIndexBytes([2]int64{0, 3}, [2]int64{7, 5}), 6, 3},
		"empty":                    {nil, 5000, -1},
		"negative":                 {timeIndexBytes([2]int64{-1, 3}), 5000, -1},
	} {
		e, ok, err := segments.LookupTime(bytes.NewReader(tt.data), int64(len(tt.data)), 0, tt.ts)
		if err != nil || ok != (tt.want >= 0) || ok && e.Offset != tt.want {
			t.Errorf("%s: got %v %v %v, want offset %d", name, e, ok, err, tt.want)
		}
	}
}

func TestG008CheckOffsetEntry(t *testing.T) {
	log := segmentstest.File(t, "dirs/orders-0/00000000000000000000.log")
	index := segmentstest.File(t, "dirs/orders-0/00000000000000000000.index")
	f, size := bytes.NewReader(log), int64(len(log))
	for target := int64(0); target <= 40; target++ {
		e, ok, err := segments.LookupOffset(bytes.NewReader(index), int64(len(index)), 0, target)
		if err != nil || !ok {
			continue
		}
		if good, err := segments.CheckOffsetEntry(f, size, 0, e); !good || err != nil {
			t.Errorf("target %d: %v is refused, %v", target, e, err)
		}
		for _, stale := range []segments.OffsetEntry{
			{Offset: e.Offset, Position: e.Position + 1},
			{Offset: e.Offset, Position: size},
			{Offset: e.Offset, Position: size + 100},
			{Offset: e.Offset - 4, Position: e.Position},
		} {
			if good, err := segments.CheckOffsetEntry(f, size, 0, stale); good || err != nil {
				t.Errorf("target %d: %v is believed, %v", target, stale, err)
			}
		}
	}
}

func TestG010OffsetsBeyondAnIndexEntry(t *testing.T) {
	log := append(batchOf(t, 0, text(10)), batchOf(t, 2147483700, text(5000))...)
	log = append(log, batchOf(t, 2147483701, text(10))...)
	x, damage, err := segments.BuildIndexes(scannerOf(log, 0), 0, false, nil)
	if err != nil || len(damage) > 0 || x.Next != 2147483702 || x.Position != int64(len(log)) {
		t.Fatalf("got %+v, %v, %v", x, damage, err)
	}
	if len(x.Index) != 0 || len(x.TimeIndex) != 0 {
		t.Errorf("entries that do not fit were written: %x %x", x.Index, x.TimeIndex)
	}
}

func TestIndexStateFull(t *testing.T) {
	for _, tt := range []struct {
		state segments.IndexState
		size  int64
		want  bool
	}{
		{segments.IndexState{OffsetEntries: 127}, 1024, false},
		{segments.IndexState{OffsetEntries: 128}, 1024, true},
		{segments.IndexState{TimeEntries: 83}, 1024, false},
		{segments.IndexState{TimeEntries: 84}, 1024, true},
	} {
		if got := tt.state.Full(tt.size); got != tt.want {
			t.Errorf("%+v of %d bytes: got %v", tt.state, tt.size, got)
		}
	}
}
