package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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
	for cut := 1; cut < 70; cut++ {
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
