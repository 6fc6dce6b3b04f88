package feed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/engine"
	"golang.org/x/sys/unix"
)

func TestG019CountsAreExactWhenTheDiskIsFull(t *testing.T) {
	for _, at := range []int64{0, 1, 5000, 123456} {
		tp := newTopic(1)
		tp.refuse = func(_ int32, record int64) error {
			if record >= at {
				return syscall.ENOSPC
			}
			return nil
		}
		res, err := feed.Run(t.Context(), options(t, tp, numbered("some line ", 200000)))
		var stop *feed.StopError
		if !errors.As(err, &stop) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("error %v", err)
		}
		stored := int64(len(tp.parts[0].records))
		if stop.Safe != stored || stop.First != stored || res.Safe != stored || stop.Several {
			t.Errorf("full at %d: said %+v, stored %d", at, stop, stored)
		}
		if want := fmt.Sprintf("no space left on device; %d records are safe", stored); err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
	}
}

func TestCountsOverSeveralPartitions(t *testing.T) {
	for _, full := range []int32{0, 3, 7} {
		tp := newTopic(8)
		tp.refuse = func(p int32, record int64) error {
			if p == full && record > 2000 {
				return syscall.ENOSPC
			}
			return nil
		}
		var text strings.Builder
		for i := range 100000 {
			fmt.Fprintf(&text, "key%d\t%d\n", i%977, i+1)
		}
		o := options(t, tp, text.String())
		o.KeyDelimiter = []byte("\t")
		_, err := feed.Run(t.Context(), o)
		var stop *feed.StopError
		if !errors.As(err, &stop) || !stop.Several {
			t.Fatalf("error %v", err)
		}
		stored := map[string]bool{}
		for p := range tp.parts {
			for _, v := range tp.values(p) {
				stored[v] = true
			}
		}
		if int64(len(stored)) != stop.Safe {
			t.Errorf("said %d are safe, stored %d", stop.Safe, len(stored))
		}
		for i := range stop.First {
			if !stored[fmt.Sprint(i+1)] {
				t.Fatalf("said the first %d are safe, %d is not", stop.First, i+1)
			}
		}
		if stored[fmt.Sprint(stop.First+1)] {
			t.Errorf("said only the first %d are safe, %d is too", stop.First, stop.First+1)
		}
	}
}

func TestG090LineWithoutKeyDelimiter(t *testing.T) {
	for _, n := range []int{1, 5} {
		tp := newTopic(n)
		o := options(t, tp, "k1:v1\n", "k2:v2\nbad\nk3:v3\n")
		o.KeyDelimiter = []byte(":")
		_, err := feed.Run(t.Context(), o)
		var rec *feed.RecordError
		var stop *feed.StopError
		if !errors.As(err, &rec) || !errors.Is(err, feed.ErrNoKey) || rec.Number != 3 || !errors.As(err, &stop) || stop.Safe != 2 {
			t.Errorf("%d partitions: error %v", n, err)
		}
	}
}

func TestG049KeylessRecordIsRefusedByACompactedTopic(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, "v\n")
	o.Limits.NeedKey = true
	_, err := feed.Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "line 1: no key") {
		t.Errorf("error %v", err)
	}
	o.Inputs, o.Fixed.Key = options(t, tp, "v\n").Inputs, []byte("k")
	run(t, o)
}

func TestMissingFileIsNamedAfterWhatCameBefore(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, "a\nb")
	o.Inputs = append(o.Inputs, feed.Input{Path: "/nonexistent/input"}, feed.Input{Path: t.TempDir()})
	_, err := feed.Run(t.Context(), o)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/nonexistent/input") || !strings.Contains(err.Error(), "2 records are safe") {
		t.Errorf("error %v", err)
	}
	o.Inputs = o.Inputs[2:]
	if _, err := feed.Run(t.Context(), o); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: error %v", err)
	}
}

// pipeInput is a pipe and the options that read it.
func pipeInput(t *testing.T, tp *topic) (w *os.File, o feed.Options) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	o = options(t, tp)
	o.Inputs = []feed.Input{{File: r}}
	return w, o
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

type outcome struct {
	res feed.Result
	err error
}

func start(ctx context.Context, o feed.Options) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		res, err := feed.Run(ctx, o)
		done <- outcome{res, err}
	}()
	return done
}

func TestG093TypedLineIsInAtOnce(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	done := start(t.Context(), o)
	for i := range 5 {
		fmt.Fprintf(w, "line %d\nand ", i)
		until(t, "the line is in the log", func() bool { return len(tp.values(0)) == i+1 })
	}
	w.Close()
	if got := <-done; got.err != nil || got.res.Records != 6 {
		t.Errorf("ended with %+v", got)
	}
}

// What stands behind a line that was left out is not held back.
func TestG093LineBehindALongOneIsInAtOnce(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	o, _ = small(o, feed.Skip)
	done := start(t.Context(), o)
	go io.WriteString(w, strings.Repeat("x", 500000)+"\nnext\nand")
	until(t, "the line behind it is in the log", func() bool { return len(tp.values(0)) == 1 })
	io.WriteString(w, " on\n")
	until(t, "and the one behind that", func() bool { return len(tp.values(0)) == 2 })
	w.Close()
	if got := <-done; got.err != nil || got.res.Safe != 2 {
		t.Errorf("ended with %+v", got)
	}
}

func TestG091NonBlockingInput(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	fd := int(o.Inputs[0].File.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	done := start(t.Context(), o)
	for i := range 3 {
		fmt.Fprintf(w, "%d\n", i)
		until(t, "the line is in the log", func() bool { return len(tp.values(0)) == i+1 })
	}
	w.Close()
	if got := <-done; got.err != nil || got.res.Records != 3 {
		t.Errorf("ended with %+v", got)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
		t.Errorf("flags %x, %v: not left as they were", flags, err)
	}
}

var errSignal = errors.New("a signal")

func TestSignalEndsInOrder(t *testing.T) {
	tp := newTopic(1)
	w, o := pipeInput(t, tp)
	o.Sync.Exit = true
	ctx, cancel := context.WithCancelCause(t.Context())
	done := start(ctx, o)
	io.WriteString(w, "one\ntwo\nthr")
	until(t, "two lines are in the log", func() bool { return len(tp.values(0)) == 2 })
	cancel(errSignal)
	got := <-done
	var stop *feed.StopError
	if !errors.Is(got.err, errSignal) || !errors.As(got.err, &stop) || stop.Safe != 3 {
		t.Errorf("ended with %+v", got)
	}
	if vs := tp.values(0); len(vs) != 3 || vs[2] != "thr" || tp.parts[0].synced != 3 {
		t.Errorf("stored %q, synced %d", vs, tp.parts[0].synced)
	}
}

// A file still has the rest of a line: half of it is no record.
func TestSignalCutsNoLineOfAFile(t *testing.T) {
	tp := newTopic(1)
	o := options(t, tp, numbered("a line of the file ", 500000))
	ctx, cancel := context.WithCancelCause(t.Context())
	tp.refuse = func(_ int32, record int64) error {
		if record > 50000 {
			cancel(errSignal)
		}
		return nil
	}
	_, err := feed.Run(ctx, o)
	if !errors.Is(err, errSignal) {
		t.Fatalf("error %v", err)
	}
	for i, v := range tp.values(0) {
		if v != fmt.Sprint("a line of the file ", i) {
			t.Fatalf("record %d is %q", i, v)
		}
	}
}

func TestUnknownPartitionOfARow(t *testing.T) {
	tp := newTopic(2)
	o := options(t, tp, "a\n")
	o.OwnPartition = true
	o.Parser = rowParser(func(r *format.Row) { r.Partition = 2 })
	if _, err := feed.Run(t.Context(), o); !errors.Is(err, engine.ErrUnknownPartition) {
		t.Errorf("error %v", err)
	}
}

// rowParser makes the same row of everything, beside the value.
type rowParser func(*format.Row)

func (p rowParser) ParseRow(record []byte, r *format.Row) error {
	*r = format.Row{Value: record, Headers: r.Headers[:0], Partition: -1}
	p(r)
	return nil
}
