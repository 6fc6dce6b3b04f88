package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// pipe is a pipe whose read end is in non-blocking mode, or not.
func pipe(t *testing.T, nonblock bool) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fds[0], nonblock); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestG091InputOfAnyMode(t *testing.T) {
	for _, nonblock := range []bool{false, true} {
		r, w := pipe(t, nonblock)
		in := NewInput(t.Context(), r)
		buf := make([]byte, 10)
		for _, line := range []string{"one\n", "two\n", "three\n"} {
			go w.WriteString(line)
			if n, err := in.Read(buf); err != nil || string(buf[:n]) != line {
				t.Fatalf("got %q, %v, want %q", buf[:n], err, line)
			}
		}
		if in.Ready() {
			t.Error("ready without data")
		}
		flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, r.Fd(), syscall.F_GETFL, 0)
		if flags&syscall.O_NONBLOCK != 0 != nonblock {
			t.Errorf("non-blocking mode %v was changed", nonblock)
		}
		w.Close()
		if n, err := in.Read(buf); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("got %d, %v, want EOF", n, err)
		}
		in.Close()
		in.Close()
	}
}

func TestInputEndsWithItsContext(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := pipe(t, false)
	in := NewInput(ctx, r)
	defer in.Close()
	got := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 10))
		got <- err
	}()
	cancel(why)
	if err := <-got; !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	// What always has more to give is left, too.
	w.WriteString("more than is read at once")
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, why) {
		_, err = in.Read(make([]byte, 1))
		if !errors.Is(err, why) {
			t.Errorf("got %v, want the cause", err)
		}
	}
}

func TestBriefInputDoesNotBotherItsContext(t *testing.T) {
	r, w := pipe(t, false)
	w.WriteString("x\n")
	w.Close()
	bothered := false
	in := NewInput(&lazyContext{Context: t.Context(), first: func() { bothered = true }}, r)
	defer in.Close()
	if b, err := io.ReadAll(in); err != nil || string(b) != "x\n" {
		t.Fatalf("got %q, %v", b, err)
	}
	if bothered {
		t.Error("the context was asked")
	}
}
