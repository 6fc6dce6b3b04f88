package storm

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// killStorm is many producers at once on one partition of small segments, each process
// of which may be killed or stopped at any moment.
type killStorm struct {
	*rig
	h       history
	singles int   // producers that run klog for each record
	pipes   int   // producers that keep a pipe open for many
	kills   int64 // processes to be killed

	killed, whole, stops atomic.Int64
	typical              atomic.Int64 // ns that a process of one record takes
	stop                 atomic.Bool  // a producer met what must not be
}

func TestG023G032KillStorm(t *testing.T) {
	(&killStorm{rig: quickRig(t), singles: 32, pipes: 4, kills: 400}).run()
}

func TestG023G032KillStormLong(t *testing.T) {
	long(t)
	(&killStorm{rig: newRig(t), singles: 32, pipes: 4, kills: 10_000}).run()
}

func (s *killStorm) run() {
	s.rig.run("", "topic", "create", "t", "--config", "segment.bytes=4096", "--config", "index.interval.bytes=512")
	s.typical.Store(int64(30 * time.Millisecond))
	f := s.follow("tail", "-f", "t", "-o", "earliest", "-F", `%o %v\n`)
	var all sync.WaitGroup
	for i := range s.singles {
		all.Go(func() { s.single(i) })
	}
	for i := range s.pipes {
		all.Go(func() { s.pipe(s.singles + i) })
	}
	for quarter := int64(1); quarter < 4; quarter++ {
		s.untilKilled(s.kills * quarter / 4)
		s.look()
	}
	all.Wait()
	end := s.look()
	f.printed(end)
	s.t.Logf("%d processes killed, %d ended by themselves, %d stopped for a while; %d records, %d acknowledged, %d segments",
		s.killed.Load(), s.whole.Load(), s.stops.Load(), bytes.Count(end, []byte("\n")), s.h.told(), s.segments())
}

// untilKilled waits until so many processes were killed.
func (s *killStorm) untilKilled(n int64) {
	for !s.over() && s.killed.Load() < n {
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *killStorm) over() bool { return s.stop.Load() || s.killed.Load() >= s.kills }

// fail ends the storm.
func (s *killStorm) fail(format string, args ...any) {
	s.t.Helper()
	s.stop.Store(true)
	s.t.Errorf(format, args...)
}

// look reads the log, beside all that goes on, and compares it with the history so far.
func (s *killStorm) look() (lines []byte) {
	s.t.Helper()
	var told history
	s.h.mu.Lock()
	told.acked = make(map[run][]int64, len(s.h.acked))
	for r, offsets := range s.h.acked {
		told.acked[r] = offsets
	}
	s.h.mu.Unlock()
	out := s.rig.run("", "cat", "t", "-F", `%o %v\n`)
	if n, err := told.check(strings.NewReader(out)); err != nil {
		s.fail("after %d records: %v", n, err)
	}
	s.verified("t")
	return []byte(out)
}

func (s *killStorm) segments() int {
	names, err := filepath.Glob(s.at("t-0", "*.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(names)
}

// single runs klog for one record after another.
func (s *killStorm) single(producer int) {
	rnd := rand.New(rand.NewPCG(uint64(producer), uint64(s.kills)))
	for number := 0; !s.over(); number++ {
		r := run{producer, number}
		args := []string{"produce", "t", "--print-offset"}
		if rnd.IntN(4) > 0 {
			args = append(args, "--sync", "never")
		}
		c := s.klog(args...)
		c.Stdin = strings.NewReader(r.value(0) + "\n")
		var out bytes.Buffer
		c.Stdout = &out
		began := time.Now()
		if s.disturbed(c, r, time.Duration(rnd.Int64N(s.typical.Load()*3/2)), rnd) {
			const weight = 16
			took := int64(time.Since(began))
			s.typical.Add((took - s.typical.Load()) / weight)
		}
		if err := s.h.add(r, out.Bytes()); err != nil {
			s.fail("%v", err)
		}
	}
}

// pipe writes into a klog that keeps running, until that is killed.
func (s *killStorm) pipe(producer int) {
	rnd := rand.New(rand.NewPCG(uint64(producer), uint64(s.kills)))
	acks := filepath.Join(s.t.TempDir(), "acks")
	for number := 0; !s.over(); number++ {
		r := run{producer, number}
		out, err := os.Create(acks)
		if err != nil {
			s.fail("%v", err)
			return
		}
		in, feed, err := os.Pipe()
		if err != nil {
			s.fail("%v", err)
			return
		}
		c := s.klog("produce", "t", "--print-offset", "--sync", []string{"never", "exit", "batch", "5ms"}[rnd.IntN(4)])
		c.Stdin, c.Stdout = in, out
		var fed sync.WaitGroup
		fed.Go(func() { s.feed(r, feed) })
		s.disturbed(c, r, time.Duration(rnd.Int64N(int64(time.Second))), rnd)
		in.Close()
		out.Close()
		fed.Wait()
		if err := s.h.addFile(r, acks); err != nil {
			s.fail("%v", err)
		}
	}
}

// feed writes records in bursts until nobody reads them any more, or the storm is over.
func (s *killStorm) feed(r run, w io.WriteCloser) {
	defer w.Close()
	var burst bytes.Buffer
	for n := 0; !s.over(); {
		burst.Reset()
		for range 1 + rand.IntN(30) {
			fmt.Fprintln(&burst, r.value(n))
			n++
		}
		if _, err := w.Write(burst.Bytes()); err != nil {
			return
		}
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
	}
}

// disturbed runs c and kills it after a while if it still runs then. Some it stops and
// continues before. It reports whether the process was left to end by itself.
func (s *killStorm) disturbed(c *exec.Cmd, r run, after time.Duration, rnd *rand.Rand) (whole bool) {
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		s.fail("%v", err)
		return false
	}
	ended := make(chan struct{})
	var disturber sync.WaitGroup
	disturber.Go(func() { s.disturb(c, ended, after, rnd) })
	c.Wait()
	close(ended)
	disturber.Wait()
	s.sane(c, errs.String())
	switch status := shellStatus(c.ProcessState); status {
	case 128 + int(syscall.SIGKILL):
		s.killed.Add(1)
		return false
	case 0:
		s.whole.Add(1)
	default:
		s.fail("%v: status %d: %s", r, status, errs.String())
	}
	if said := errs.String(); !expected(said) {
		s.fail("%v said: %s", r, said)
	}
	return true
}

// disturb signals c at random until it has ended.
func (s *killStorm) disturb(c *exec.Cmd, ended <-chan struct{}, after time.Duration, rnd *rand.Rand) {
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-ended:
			return false
		}
	}
	if !wait(after) {
		return
	}
	if rnd.IntN(8) == 0 {
		s.stops.Add(1)
		c.Process.Signal(syscall.SIGSTOP)
		more := wait(time.Duration(rnd.IntN(100)) * time.Millisecond)
		c.Process.Signal(syscall.SIGCONT)
		if !more || rnd.IntN(2) == 0 && !wait(after) {
			return
		}
	}
	if rnd.IntN(8) > 0 || s.over() {
		c.Process.Kill()
	}
}

// expected reports whether a producer may say this in a storm: that it cut what a killed
// one left, and that it waits for a stopped one.
func expected(said string) bool {
	for line := range strings.Lines(said) {
		if !strings.Contains(line, ": cut a torn tail of ") && !strings.Contains(line, ": waiting for ") {
			return false
		}
	}
	return true
}
