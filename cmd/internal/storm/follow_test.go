package storm

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// follower is a klog tail -f that prints into a file.
type follower struct {
	*rig
	c    *exec.Cmd
	name string // of the file
	errs bytes.Buffer
}

// follow starts klog with its output in a file.
func (r *rig) follow(args ...string) *follower {
	r.t.Helper()
	return r.followUnder(nil, args...)
}

// followUnder is follow with another program that starts klog.
func (r *rig) followUnder(before []string, args ...string) *follower {
	r.t.Helper()
	f := &follower{rig: r, c: r.under(before, args...), name: filepath.Join(r.t.TempDir(), "followed")}
	out, err := os.Create(f.name)
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	f.c.Stdout, f.c.Stderr = out, &f.errs
	if err := f.c.Start(); err != nil {
		r.t.Fatal(err)
	}
	return f
}

// size is how much was printed so far.
func (f *follower) size() int64 {
	f.t.Helper()
	st, err := os.Stat(f.name)
	if err != nil {
		f.t.Fatal(err)
	}
	return st.Size()
}

// reaches waits until so much was printed, as long as something is.
func (f *follower) reaches(want int64) {
	f.t.Helper()
	last, since := f.size(), time.Now()
	for ; last < want; time.Sleep(2 * time.Millisecond) {
		if now := f.size(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > time.Minute {
			f.end()
			f.t.Fatalf("%d bytes of %d were printed; it said %q", last, want, f.errs.String())
		}
	}
}

// end ends the follower in order and returns what it printed; it may have said nothing.
func (f *follower) end() []byte {
	f.t.Helper()
	f.c.Process.Signal(syscall.SIGTERM)
	f.c.Wait()
	if status := shellStatus(f.c.ProcessState); status != 143 || f.errs.Len() > 0 {
		f.t.Errorf("%s: status %d, said %q", strings.Join(f.c.Args, " "), status, f.errs.String())
	}
	b, err := os.ReadFile(f.name)
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// printed waits until the follower has printed want, and wants nothing else.
func (f *follower) printed(want []byte) {
	f.t.Helper()
	f.reaches(int64(len(want)))
	if got := f.end(); !bytes.Equal(got, want) {
		f.t.Errorf("%s: printed %d bytes, want %d; it ends with %.100q", strings.Join(f.c.Args, " "), len(got), len(want), got[max(0, len(got)-100):])
	}
}

// writer is a klog produce that is fed by hand.
type writer struct {
	*rig
	c    *exec.Cmd
	in   io.WriteCloser
	errs bytes.Buffer
}

// write starts klog with a pipe as standard input.
func (r *rig) write(args ...string) *writer {
	r.t.Helper()
	w := &writer{rig: r, c: r.klog(args...)}
	in, err := w.c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	w.in, w.c.Stderr = in, &w.errs
	if err := w.c.Start(); err != nil {
		r.t.Fatal(err)
	}
	return w
}

// end ends the input and wants the writer to end well.
func (w *writer) end() {
	w.t.Helper()
	w.in.Close()
	w.c.Wait()
	if status := shellStatus(w.c.ProcessState); status != 0 || w.errs.Len() > 0 {
		w.t.Errorf("%s: status %d, said %q", strings.Join(w.c.Args, " "), status, w.errs.String())
	}
}

func TestG004ReaderBesideBusyWriters(t *testing.T)     { tornReads(quickRig(t), 10_000) }
func TestG004ReaderBesideBusyWritersLong(t *testing.T) { long(t); tornReads(quickRig(t), 100_000) }

// tornReads lets writers of records that span several pages run beside readers.
func tornReads(r *rig, records int) {
	r.run("", "topic", "create", "t", "--config", "segment.bytes=4MiB")
	followers := []*follower{r.follow("tail", "-f", "-J", "t", "-o", "earliest"), r.follow("tail", "-f", "t", "-o", "earliest", "-F", "%o %v\\n")}
	var writers sync.WaitGroup
	for range 2 {
		w := r.write("produce", "t", "--linger", "0", "--sync", "never")
		writers.Go(func() {
			raw := make([]byte, 6007)
			for i := range records / 2 {
				rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}).Read(raw)
				if _, err := io.WriteString(w.in, base64.StdEncoding.EncodeToString(raw)+"\n"); err != nil {
					r.t.Error(err)
					break
				}
			}
			w.end()
		})
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { r.continuous(done) })
	writers.Wait()
	close(done)
	readers.Wait()
	if got := strings.Count(r.run("", "cat", "t"), "\n"); got != records {
		r.t.Errorf("%d records, want %d", got, records)
	}
	followers[0].printed([]byte(r.run("", "cat", "-J", "t")))
	followers[1].printed([]byte(r.run("", "cat", "t", "-F", "%o %v\\n")))
	r.verified("t")
}

// continuous reads all of the log t again and again until done: offsets are dense, and
// what was there stays.
func (r *rig) continuous(done <-chan struct{}) {
	before := 0
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true // and once more
		default:
		}
		c := r.klog("cat", "t", "-F", "%o\\n")
		o := r.finish(c)
		n := 0
		for line := range strings.Lines(o.out) {
			if line != fmt.Sprintf("%d\n", n) {
				r.t.Errorf("offset %q follows %d", line, n-1)
				return
			}
			n++
		}
		if n < before || o.status != 0 || o.err != "" {
			r.t.Errorf("cat: status %d, %d records after %d, said %q", o.status, n, before, o.err)
			return
		}
		before = n
	}
}

func TestG082EachBurstIsPrintedWithoutTheNext(t *testing.T)     { bursts(quickRig(t), 40) }
func TestG082EachBurstIsPrintedWithoutTheNextLong(t *testing.T) { long(t); bursts(quickRig(t), 400) }

// bursts appends much at once, then waits for it to be printed: nothing comes that could
// wake a follower which missed something.
func bursts(r *rig, n int) {
	r.run("", "topic", "create", "t", "--config", "segment.bytes=1024")
	f := r.follow("tail", "-f", "t", "-o", "earliest")
	var want bytes.Buffer
	for burst := range n {
		from := want.Len()
		for i := range 500 {
			fmt.Fprintln(&want, burst, i)
		}
		r.run(want.String()[from:], "produce", "t", "--sync", "never", "--batch-size", "200")
		f.reaches(int64(want.Len()))
	}
	f.printed(want.Bytes())
}

func TestG083ReadersBesideRolls(t *testing.T)     { readWhileRolling(quickRig(t), 3000) }
func TestG083ReadersBesideRollsLong(t *testing.T) { long(t); readWhileRolling(quickRig(t), 60_000) }

// readWhileRolling reads a log of many small segments, in all ways, while more come.
func readWhileRolling(r *rig, records int) {
	r.run("", "topic", "create", "t", "--config", "segment.bytes=300")
	r.run(strings.Repeat("begin with many segments\n", 1000), "produce", "t", "--sync", "never", "--batch-size", "100")
	w := r.write("produce", "t", "--sync", "never", "--batch-size", "100")
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(done)
		for i := range records {
			if _, err := fmt.Fprintln(w.in, i, "of the records that come meanwhile"); err != nil {
				r.t.Error(err)
				break
			}
		}
		w.end()
	})
	all.Go(func() { r.continuous(done) })
	all.Go(func() { r.endNeverFalls(done) })
	all.Wait()
	if got := strings.Count(r.run("", "cat", "t"), "\n"); got != 1000+records {
		r.t.Errorf("%d records, want %d", got, 1000+records)
	}
	r.verified("t")
}

// endNeverFalls asks for the end and for the last record again and again.
func (r *rig) endNeverFalls(done <-chan struct{}) {
	end := int64(0)
	for {
		select {
		case <-done:
			return
		default:
		}
		var row struct{ Start, End int64 }
		o := r.finish(r.klog("topic", "describe", "-J", "t"))
		if err := json.Unmarshal([]byte(o.out), &row); err != nil || o.status != 0 || row.End < end || row.Start != 0 {
			r.t.Errorf("describe: status %d, %v, %q after end %d; %s", o.status, err, o.out, end, o.err)
			return
		}
		end = row.End
		var last int64
		o = r.finish(r.klog("tail", "-n", "1", "t", "-F", "%o"))
		if _, err := fmt.Sscan(o.out, &last); err != nil || o.status != 0 || last < end-1 || o.err != "" {
			r.t.Errorf("tail: status %d, %v, %q after end %d; %s", o.status, err, o.out, end, o.err)
			return
		}
		end = last + 1
	}
}

func TestG080StoppedFollowerMissesNothing(t *testing.T)     { stopped(quickRig(t), 900) }
func TestG080StoppedFollowerMissesNothingLong(t *testing.T) { long(t); stopped(quickRig(t), 8000) }

// stopped stops a follower while so many segments come that the kernel's queue of events
// may run over.
func stopped(r *rig, segments int) {
	r.run("begin\n", "produce", "t")
	r.run("", "topic", "alter", "t", "--config", "segment.bytes=200")
	f := r.follow("tail", "-f", "t", "-o", "earliest")
	f.reaches(int64(len("begin\n")))
	want := bytes.NewBufferString("begin\n")
	for range 3 {
		f.c.Process.Signal(syscall.SIGSTOP)
		from := want.Len()
		for range segments / 3 {
			want.WriteString(strings.Repeat("x", 120) + "\n")
		}
		r.run(want.String()[from:], "produce", "t", "--sync", "never", "--batch-size", "100")
		f.c.Process.Signal(syscall.SIGCONT)
		f.reaches(int64(want.Len()))
	}
	f.printed(want.Bytes())
}
