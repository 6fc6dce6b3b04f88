package interop_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// follower is a klog that prints JSON rows as they come.
type follower struct {
	t      *testing.T
	cmd    *exec.Cmd
	more   chan struct{} // a row has come, or the end
	stderr strings.Builder

	mu      sync.Mutex
	printed map[int32][]record // by partition
	ended   bool               // its output has come to the end
}

// follow starts `klog tail -f -J` at the start of the log.
func follow(t *testing.T, args ...string) *follower {
	t.Helper()
	f := &follower{t: t, more: make(chan struct{}, 1), printed: map[int32][]record{}}
	f.cmd = program(t, append([]string{"tail", "-f", "-J", "-o", "start"}, args...)...)
	f.cmd.Stderr = &f.stderr
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for d := json.NewDecoder(out); ; {
			var r record
			err := d.Decode(&r)
			if err != nil && err != io.EOF {
				t.Errorf("%q: %v", f.cmd.Args, err)
			}
			f.take(r, err != nil)
			if err != nil {
				return
			}
		}
	}()
	return f
}

func (f *follower) take(r record, ended bool) {
	f.mu.Lock()
	if f.ended = ended; !ended {
		f.printed[r.Partition] = append(f.printed[r.Partition], r.normal())
	}
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// records are what it has printed of a partition, once that is n records or its end has
// come.
func (f *follower) records(partition int32, n int) []record {
	f.t.Helper()
	deadline := time.After(patience)
	for {
		f.mu.Lock()
		all, ended := f.printed[partition], f.ended
		f.mu.Unlock()
		if len(all) >= n || ended {
			return all
		}
		select {
		case <-f.more:
		case <-deadline:
			f.t.Fatalf("%q has printed %d records of partition %d, want %d", f.cmd.Args, len(all), partition, n)
		}
	}
}

// end ends it by a signal; it must not have ended or complained before.
func (f *follower) end() {
	f.t.Helper()
	f.cmd.Process.Signal(syscall.SIGTERM)
	until(f.t, "end of its output", func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.ended {
			return syscall.EAGAIN
		}
		return nil
	})
	f.cmd.Wait()
	if ws := f.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM || f.stderr.Len() > 0 {
		f.t.Errorf("%q: %v, standard error %q", f.cmd.Args, f.cmd.ProcessState, f.stderr.String())
	}
}
