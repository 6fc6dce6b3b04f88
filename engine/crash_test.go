package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// run appends n records, one batch each, to a topic of small segments on fsys, and
// returns the values that were acknowledged, by offset.
func appendSome(fsys vfs.FS, boot byte, from, n, syncEvery int) (acked map[int64]string, synced int64, err error) {
	acked = map[int64]string{}
	r, err := engine.Create("/root", engine.Options{FS: fsys})
	if err != nil {
		return acked, 0, err
	}
	ctx := context.Background()
	top, err := r.Topic("t")
	if errors.Is(err, engine.ErrUnknownTopic) {
		top, err = r.CreateTopic(ctx, "t", engine.TopicSpec{Partitions: 1, Config: map[string]string{"segment.bytes": "300", "index.interval.bytes": "70"}})
	}
	if err != nil {
		return acked, 0, err
	}
	p, err := top.Partition(0)
	if err != nil {
		return acked, 0, err
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		return acked, 0, err
	}
	defer w.Close()
	engine.SetBoot(w, boot)
	for i := from; i < from+n; i++ {
		v := fmt.Sprint("v", i)
		got, err := w.Append(ctx, encode(v))
		if err != nil {
			return acked, synced, err
		}
		acked[got.First] = v
		if syncEvery > 0 && i%syncEvery == 0 {
			if err := w.Sync(ctx); err != nil {
				return acked, synced, err
			}
			synced = got.Next
		}
	}
	return acked, synced, nil
}

func encode(values ...string) []byte {
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	for _, v := range values {
		b.AppendValue(1_700_000_000_000, []byte(v))
	}
	raw, _ := b.Finish()
	return raw
}

// logOf reads all records of the partition, strictly; the end of the last segment may
// be torn.
func logOf(t *testing.T, fsys vfs.FS) map[int64]string {
	t.Helper()
	log := map[int64]string{}
	readDir(t, fsys, "/root/t-0", log)
	return log
}

func readPartition(t *testing.T, top *engine.Topic, log map[int64]string) {
	t.Helper()
	p, err := top.Partition(0)
	if err != nil {
		t.Fatal(err)
	}
	readDir(t, vfs.OS, p.Dir(), log)
}

func readDir(t *testing.T, fsys vfs.FS, dir string, log map[int64]string) {
	t.Helper()
	bases, err := segments.ReadSegmentDir(fsys, dir)
	if err != nil {
		return
	}
	next := int64(0)
	for i, base := range bases {
		f, err := fsys.OpenFile(dir+"/"+segments.SegmentName(base)+".log", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		st, _ := f.Stat()
		s := segments.NewScanner(f, f.Name(), base, 0, st.Size(), max(base, next))
		var d segments.Decoder
		for {
			b, err := s.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && i < len(bases)-1 {
					t.Fatalf("segment %d: %v", base, err)
				}
				break
			}
			if err := d.Open(b); err != nil {
				t.Fatal(err)
			}
			for r := (segments.Record{}); d.Next(&r); {
				log[r.Offset] = string(r.Value)
			}
			next = s.NextOffset()
		}
		f.Close()
	}
}

// Whatever call a writer is killed at, what it acknowledged stays, the next writer
// goes on behind it, and the indexes come out as if nothing had happened.
func TestG012KilledAtEveryCall(t *testing.T) {
	fresh := func() vfs.FS { return vfs.NewMem() }
	runs := 0
	for fault := range vfs.EachKill(fresh, func(c vfs.Call) bool { return c.Kind.Changes() }) {
		runs++
		acked, _, _ := appendSome(fault, 1, 0, 12, 3)
		more, _, err := appendSome(fault.Base(), 1, 100, 6, 0)
		if err != nil {
			t.Fatalf("killed at %v, then: %v", fault.Fired(), err)
		}
		log := logOf(t, fault.Base())
		for off, v := range acked {
			if log[off] != v {
				t.Fatalf("killed at %v: offset %d was acknowledged as %q, the log has %q", fault.Fired(), off, v, log[off])
			}
		}
		for off, v := range more {
			if log[off] != v {
				t.Fatalf("killed at %v: later offset %d was acknowledged as %q, the log has %q", fault.Fired(), off, v, log[off])
			}
		}
		for off := range int64(len(log)) {
			if _, ok := log[off]; !ok {
				t.Fatalf("killed at %v: %d records and none at offset %d", fault.Fired(), len(log), off)
			}
		}
		checkIndexes(t, fault.Base(), fmt.Sprintf("killed at %v", fault.Fired()))
	}
	if runs < 50 {
		t.Errorf("only %d runs", runs)
	}
}

// checkIndexes compares the indexes of the sealed segments with what their batches say.
func checkIndexes(t *testing.T, fsys vfs.FS, when string) {
	t.Helper()
	bases, err := segments.ReadSegmentDir(fsys, "/root/t-0")
	if err != nil {
		t.Fatal(err)
	}
	for i, base := range bases {
		if i == len(bases)-1 {
			break
		}
		f, err := fsys.OpenFile("/root/t-0/"+segments.SegmentName(base)+".log", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		st, _ := f.Stat()
		s := segments.NewScanner(f, f.Name(), base, 0, st.Size(), base)
		state := segments.NewIndexState()
		var offset, times []byte
		for {
			b, err := s.Next()
			if err != nil {
				break
			}
			offset, times = state.Add(b.BatchHeader, base, b.Position, 70, offset, times)
		}
		times = state.Seal(base, times)
		f.Close()
		for suffix, want := range map[string][]byte{".index": offset, ".timeindex": times} {
			got, err := vfs.ReadFile(fsys, "/root/t-0/"+segments.SegmentName(base)+suffix)
			if err != nil || string(got) != string(want) {
				t.Fatalf("%s: %s of segment %d: got %x, %v; want %x", when, suffix, base, got, err, want)
			}
		}
	}
}

// A write that fails, wholly or in part, leaves the log as it was; the next one, once
// there is room, goes on.
func TestG019FailedAppendLeavesNothingBehind(t *testing.T) {
	fresh := func() vfs.FS { return vfs.NewMem() }
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, &vfs.ShortWrite{Done: 20, Err: syscall.ENOSPC}} {
		for fault := range vfs.EachFailure(fresh, func(c vfs.Call) bool { return c.Kind.Changes() }, cause) {
			acked, _, err := appendSome(fault, 1, 0, 12, 3)
			if err == nil && fault.Fired() == nil {
				continue
			}
			more, _, err := appendSome(fault.Base(), 1, 100, 6, 0)
			if err != nil {
				t.Fatalf("%v at %v, then: %v", cause, fault.Fired(), err)
			}
			log := logOf(t, fault.Base())
			for off, v := range acked {
				if log[off] != v {
					t.Fatalf("%v at %v: offset %d was acknowledged as %q, the log has %q", cause, fault.Fired(), off, v, log[off])
				}
			}
			if len(log) < len(acked)+len(more) {
				t.Fatalf("%v at %v: %d records in the log, %d were acknowledged", cause, fault.Fired(), len(log), len(acked)+len(more))
			}
			checkIndexes(t, fault.Base(), fmt.Sprintf("%v at %v", cause, fault.Fired()))
		}
	}
}

// After a power cut all that was synced is there, at its offsets.
func TestPowerCutKeepsWhatWasSynced(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		mem := vfs.NewMem()
		kept := map[int64]string{}
		from := 0
		for boot := byte(1); boot < 6; boot++ {
			acked, synced, err := appendSome(mem, boot, from, 1+rnd.IntN(15), 1+rnd.IntN(6))
			if err != nil {
				t.Fatalf("seed %d, boot %d: %v", seed, boot, err)
			}
			log := logOf(t, mem)
			for off, v := range kept {
				if log[off] != v {
					t.Fatalf("seed %d, in boot %d (%s): offset %d was synced as %q, the log has %q", seed, boot, mem.Origin(), off, v, log[off])
				}
			}
			checkIndexes(t, mem, fmt.Sprintf("seed %d, boot %d", seed, boot))
			from += 100
			for off, v := range acked {
				if off < synced {
					kept[off] = v
				}
			}
			mem = mem.Crash(seed*10 + uint64(boot))
		}
	}
}
