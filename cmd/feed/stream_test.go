package feed_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/format"
)

func sized(t *testing.T) *format.Input {
	t.Helper()
	in, err := format.CompileInput("%V{big16}%v", format.Options{Location: time.UTC, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if in.Delimiter() != nil {
		t.Fatal("has a delimiter")
	}
	return in
}

func framed(values ...string) string {
	s := ""
	for _, v := range values {
		s += string([]byte{byte(len(v) >> 8), byte(len(v))}) + v
	}
	return s
}

func TestStreamOfSizedRecords(t *testing.T) {
	tp := newTopic(1)
	want := []string{"a", "", "with\nnewline", string(make([]byte, 60000)), "z"}
	o := options(t, tp, framed(want[:2]...), framed(want[2:]...))
	o.Stream = sized(t)
	if res := run(t, o); res.Records != 5 || res.Safe != 5 {
		t.Errorf("counted %+v", res)
	}
	if diff := cmp.Diff(want, tp.values(0)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestStreamThatEndsInsideARecord(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, framed("a", "b")+"\x00\x09short")
	o.Stream = sized(t)
	_, err := feed.Run(t.Context(), o)
	var rec *feed.RecordError
	var stop *feed.StopError
	if !errors.As(err, &rec) || rec.Number != 3 || !errors.As(err, &stop) || stop.Safe != 2 || stop.First != 2 {
		t.Errorf("error %v", err)
	}
}

func TestStreamRate(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, framed(strings.Split(strings.Repeat("x", 60), "")...))
	o.Stream, o.Rate = sized(t), 200
	begin := time.Now()
	run(t, o)
	if took := time.Since(begin); took < 150*time.Millisecond || len(tp.values(0)) != 60 {
		t.Errorf("60 records at 200/s took %v; %d are there", took, len(tp.values(0)))
	}
}

func TestStreamOversize(t *testing.T) {
	text := framed("a", string(make([]byte, 1200)), "c")
	for how, want := range map[feed.Oversize]int{feed.Fail: 1, feed.Skip: 2, feed.Truncate: 3, feed.Split: 4} {
		tp := newTopic(1)
		o, _ := small(options(t, tp, text), how)
		o.Stream = sized(t)
		_, err := feed.Run(t.Context(), o)
		if got := len(tp.values(0)); got != want || (err == nil) == (how == feed.Fail) {
			t.Errorf("%v: %d records, want %d; error %v", how, got, want, err)
		}
	}
}

func TestG093StreamedRecordIsInAtOnce(t *testing.T) {
	tp := newTopic(3)
	w, o := pipeInput(t, tp)
	o.Stream = sized(t)
	done := start(t.Context(), o)
	stored := func() int { return len(tp.values(0)) + len(tp.values(1)) + len(tp.values(2)) }
	io.WriteString(w, framed("v0")+"\x00") // and half of the next length
	until(t, "the record is in the log", func() bool { return stored() == 1 })
	io.WriteString(w, "\x01x")
	until(t, "the next one too", func() bool { return stored() == 2 })
	w.Close()
	if got := <-done; got.err != nil || got.res.Records != 2 {
		t.Errorf("ended with %+v", got)
	}
}
