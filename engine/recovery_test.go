package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func fill(t testing.TB, w *engine.Writer, n int) {
	t.Helper()
	for i := range n {
		if _, err := w.Append(t.Context(), batch(t, string(rune('a'+i%26)))); err != nil {
			t.Fatal(err)
		}
	}
}

func activeLog(t testing.TB, p *engine.Partition) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.Dir(), "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	return logs[len(logs)-1]
}

func appendBytes(t testing.TB, name string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
}

// A writer that was killed in the middle of its write leaves part of a batch: the next
// one cuts it and gives the offset to its own record.
func TestG001TornTailIsCutByTheNextWriter(t *testing.T) {
	for cut := 1; cut < 70; cut += 4 {
		top := newTopic(t, "orders", nil)
		w := openWriter(t, top)
		fill(t, w, 5)
		p, _ := top.Partition(0)
		log := activeLog(t, p)
		before, _ := os.Stat(log)
		torn := batch(t, "never finished")
		torn[7] = 5
		appendBytes(t, log, torn[:min(cut, len(torn)-1)])
		got, err := openWriter(t, top).Append(t.Context(), batch(t, "next"))
		if err != nil {
			t.Fatalf("%d bytes of a batch behind the log: %v", cut, err)
		}
		if got.First != 5 {
			t.Fatalf("%d bytes of a batch behind the log: got offset %d, want 5", cut, got.First)
		}
		now, _ := os.Stat(log)
		if want := before.Size() + int64(len(batch(t, "next"))); now.Size() != want {
			t.Fatalf("%d bytes of a batch behind the log: log has %d bytes, want %d", cut, now.Size(), want)
		}
	}
}

// A log that ends below what its hint knows, without a reboot between, lost records
// that were acknowledged: giving their offsets out again would be a lie.
func TestLogCutBelowItsHintIsRefused(t *testing.T) {
	top := newTopic(t, "orders", nil)
	w := openWriter(t, top)
	fill(t, w, 5)
	p, _ := top.Partition(0)
	log := activeLog(t, p)
	st, _ := os.Stat(log)
	if err := os.Truncate(log, st.Size()-7); err != nil {
		t.Fatal(err)
	}
	_, err := openWriter(t, top).Append(t.Context(), batch(t, "next"))
	if !errors.Is(err, segments.ErrCorrupt) {
		t.Fatalf("got error %v, want segments.ErrCorrupt", err)
	}
	now, _ := os.Stat(log)
	if now.Size() != st.Size()-7 {
		t.Fatalf("the refusal changed the log: %d bytes, want %d", now.Size(), st.Size()-7)
	}
}

// Damage inside of the log is left where it is and appends go on behind it, at the
// offset that follows what was there.
func TestDamageInTheLastBatchIsLeft(t *testing.T) {
	for _, at := range []int64{8, 16, 17, 30, 65} {
		top := newTopic(t, "orders", nil)
		w := openWriter(t, top)
		fill(t, w, 5)
		p, _ := top.Partition(0)
		log := activeLog(t, p)
		st, _ := os.Stat(log)
		size := int64(len(batch(t, "x")))
		flip(t, log, st.Size()-size+at)
		got, err := openWriter(t, top).Append(t.Context(), batch(t, "next"))
		if err != nil {
			t.Fatalf("byte %d of the last batch flipped: %v", at, err)
		}
		now, _ := os.Stat(log)
		if got.First != 5 || now.Size() != st.Size()+int64(len(batch(t, "next"))) {
			t.Fatalf("byte %d of the last batch flipped: offset %d, %d bytes; want offset 5, %d bytes", at, got.First, now.Size(), st.Size()+int64(len(batch(t, "next"))))
		}
	}
}

func flip(t testing.TB, name string, at int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// After a reboot what was not synced may be gone, in any order: a hole with good
// batches behind it goes to quarantine, the torn tail is cut, the epoch rises.
func TestRebootQuarantinesHolesAndRaisesTheEpoch(t *testing.T) {
	top := newTopic(t, "orders", nil)
	w := openWriter(t, top)
	engine.SetBoot(w, 1)
	fill(t, w, 3)
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, w, 4)
	p, _ := top.Partition(0)
	log := activeLog(t, p)
	size := int64(len(batch(t, "x")))
	zero(t, log, 4*size, size)
	if err := os.Truncate(log, 7*size-9); err != nil {
		t.Fatal(err)
	}
	later := openWriter(t, top)
	engine.SetBoot(later, 2)
	got, err := later.Append(t.Context(), batch(t, "next"))
	if err != nil {
		t.Fatal(err)
	}
	if got.First != 6 {
		t.Errorf("first offset after the reboot: got %d, want 6: offset 4 lies in the hole, 6 was cut", got.First)
	}
	bin, err := os.ReadFile(filepath.Join(top.Root().Dir(), ".klog/quarantine/orders-0", segments.SegmentName(0)+"-"+fmt.Sprint(4*size)+".bin"))
	if err != nil || int64(len(bin)) != size {
		t.Errorf("quarantine: got %d bytes, %v; want the %d of the hole", len(bin), err, size)
	}
	offsets, epochs := scan(t, log)
	if d := cmp.Diff([]int64{0, 1, 2, 3, 5, 6}, offsets); d != "" {
		t.Errorf("offsets in the log (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int32{0, 0, 0, 0, 0, 1}, epochs); d != "" {
		t.Errorf("leader epochs in the log (-want +got):\n%s", d)
	}
}

func TestSharedPathAppendsDensely(t *testing.T) {
	top := newTopic(t, "orders", map[string]string{"segment.bytes": "300"})
	engine.SetShared(top.Root())
	var ws []*engine.Writer
	for range 3 {
		ws = append(ws, openWriter(t, top))
	}
	for i := range int64(20) {
		got, err := ws[i%3].Append(t.Context(), batch(t, "x"))
		if err != nil {
			t.Fatal(err)
		}
		if got.First != i {
			t.Fatalf("append %d: got offset %d", i, got.First)
		}
	}
}

func zero(t testing.TB, name string, at, n int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, n), at); err != nil {
		t.Fatal(err)
	}
}

// scan reads the offsets and leader epochs of a segment's batches.
func scan(t testing.TB, log string) (offsets []int64, epochs []int32) {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	s := segments.NewScanner(f, log, 0, 0, st.Size(), 0)
	for {
		b, err := s.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return offsets, epochs
		}
		for o := b.BaseOffset; o <= b.LastOffset(); o++ {
			offsets, epochs = append(offsets, o), append(epochs, b.LeaderEpoch)
		}
	}
}

// What was synced is not cut after a reboot, were it the very end of the log: it is
// damage, and appends go on behind it.
func TestDamageBelowTheRecoveryPointIsNotCut(t *testing.T) {
	top := newTopic(t, "orders", nil)
	w := openWriter(t, top)
	engine.SetBoot(w, 1)
	fill(t, w, 5)
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, _ := top.Partition(0)
	log := activeLog(t, p)
	size := int64(len(batch(t, "x")))
	flip(t, log, 5*size-2)
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	later := openWriter(t, top)
	engine.SetBoot(later, 2)
	got, err := later.Append(t.Context(), batch(t, "next"))
	if err != nil || got.First != 5 {
		t.Errorf("append behind the damage: %+v, %v; want offset 5", got, err)
	}
	after, err := os.ReadFile(log)
	if err != nil || !bytes.HasPrefix(after, before) {
		t.Errorf("%d bytes of the log, of which %d were synced, are %d now (%v)", len(before), len(before), len(after), err)
	}
}
