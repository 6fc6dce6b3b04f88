package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// fillTime is the timestamp in ms of the first record that play-fill writes; each next
// one is a millisecond later.
const fillTime = 1_700_000_000_000

// play is this program as somebody's process.
func play(role string, args []string) error {
	switch role {
	case "play-fill":
		return playFill(args)
	case "play-append":
		return playAppend(args)
	case "play-watch":
		return playWatch(args[0])
	}
	return errors.New("unknown role " + role)
}

func openTopic(root, name string, config map[string]string) (*engine.Writer, error) {
	r, err := engine.Create(root, engine.Options{})
	if err != nil {
		return nil, err
	}
	t, err := r.Topic(name)
	if errors.Is(err, engine.ErrUnknownTopic) {
		t, err = r.CreateTopic(context.Background(), name, engine.TopicSpec{Partitions: 1, Config: config})
		if errors.Is(err, engine.ErrTopicExists) {
			t, err = r.Topic(name)
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := t.Partition(0)
	if err != nil {
		return nil, err
	}
	return p.OpenWriter(engine.WriterOptions{LockTimeout: -1})
}

func encode(dst []byte, ts int64, value string) []byte {
	var b segments.Builder
	b.Start(dst[:0], segments.BatchOptions{})
	b.AppendValue(ts, []byte(value))
	raw, _ := b.Finish() // a value of a few bytes fits
	return raw
}

// playFill makes a topic of n segments, a record each.
func playFill(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	w, err := openTopic(args[0], args[1], map[string]string{"segment.bytes": "14"})
	if err != nil {
		return err
	}
	defer w.Close()
	var raw []byte
	for i := range n {
		raw = encode(raw, fillTime+int64(i), "record "+strconv.Itoa(i))
		if _, err := w.Append(context.Background(), raw); err != nil {
			return err
		}
	}
	return nil
}

// playAppend appends single records for a time and prints how many it could. The
// third argument is the time, the fourth "sync" or "never".
func playAppend(args []string) error {
	for_, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	w, err := openTopic(args[0], args[1], nil)
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Println("ready")
	if _, err := io.ReadAll(os.Stdin); err != nil { // all begin when the parent closes it
		return err
	}
	value := strings.Repeat("x", 100)
	var raw []byte
	n := 0
	for end := time.Now().Add(for_); time.Now().Before(end); n++ {
		raw = encode(raw, time.Now().UnixMilli(), value)
		if _, err := w.Append(context.Background(), raw); err != nil {
			return err
		}
		if args[3] == "sync" {
			if err := w.Sync(context.Background()); err != nil {
				return err
			}
		}
	}
	fmt.Println(n)
	return nil
}

// playWatch prints a file as it grows, woken by inotify alone.
func playWatch(name string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.Add(name); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	fmt.Println("ready")
	for {
		for {
			n, err := f.Read(buf)
			if n > 0 {
				_, _ = os.Stdout.Write(buf[:n])
			}
			if err != nil {
				break
			}
		}
		if _, ok := <-w.Events; !ok {
			return nil
		}
	}
}

// crowd runs n processes that append single records and returns what each did.
func (b *bench) crowd(n int, how string) ([]int, error) {
	if err := b.fresh(); err != nil {
		return nil, err
	}
	type member struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
	}
	ms := make([]member, n)
	for i := range ms {
		c := exec.Command(b.self, "play-append", filepath.Join(b.dir, "root"), "t", "2s", how)
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := c.Start(); err != nil {
			return nil, err
		}
		ms[i] = member{c, in, bufio.NewReader(out)}
	}
	for _, m := range ms {
		if _, err := m.out.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	for _, m := range ms {
		m.in.Close()
	}
	did := make([]int, n)
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i, m := range ms {
		wg.Go(func() {
			line, err := m.out.ReadString('\n')
			if err == nil {
				did[i], err = strconv.Atoi(strings.TrimSpace(line))
			}
			errs[i] = errors.Join(err, m.cmd.Wait())
		})
	}
	wg.Wait()
	return did, errors.Join(errs...)
}

func sum(ns []int) (s int) {
	for _, n := range ns {
		s += n
	}
	return s
}

func (b *bench) many() error {
	one, err := b.crowd(1, "never")
	if err != nil {
		return err
	}
	for _, n := range []int{8, 32} {
		did, err := b.crowd(n, "never")
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{what: fmt.Sprintf("%d processes appending single records", n), against: "one process", ratio: float64(sum(did)) / float64(one[0]), goal: 0.60, stretch: 0.75})
		if n == 32 {
			b.rows = append(b.rows, row{what: "slowest of 32 busy writers", against: "the fastest", ratio: float64(slices.Min(did)) / float64(slices.Max(did)), goal: 0.20, stretch: 0.35})
		}
	}
	return nil
}

func (b *bench) sync() error {
	one, err := b.crowd(1, "sync")
	if err != nil {
		return err
	}
	for _, g := range []struct {
		n             int
		goal, stretch float64
	}{{8, 1.8, 2.3}, {32, 2.2, 2.9}} {
		did, err := b.crowd(g.n, "sync")
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{what: fmt.Sprintf("each record on disk, %d processes", g.n), against: "one process", ratio: float64(sum(did)) / float64(one[0]), goal: g.goal, stretch: g.stretch})
	}
	return nil
}

// append measures lock + look + append + unlock against write alone, in µs more.
func (b *bench) append() error {
	if err := b.fresh(); err != nil {
		return err
	}
	w, err := openTopic(filepath.Join(b.dir, "root"), "t", nil)
	if err != nil {
		return err
	}
	defer w.Close()
	f, err := os.Create(filepath.Join(b.dir, "out"))
	if err != nil {
		return err
	}
	defer f.Close()
	raw := encode(nil, fillTime, strings.Repeat("x", 100))
	const each = 20_000
	var ks, ps []time.Duration
	for range b.runs + 1 {
		start := time.Now()
		for range each {
			if _, err := w.Append(context.Background(), raw); err != nil {
				return err
			}
		}
		ks = append(ks, time.Since(start)/each)
		start = time.Now()
		for range each {
			if _, err := f.Write(raw); err != nil {
				return err
			}
		}
		ps = append(ps, time.Since(start)/each)
	}
	more := float64(median(ks)-median(ps)) / float64(time.Microsecond)
	b.rows = append(b.rows, row{what: "lock + look + append + unlock, µs more", against: "write alone", ratio: more, goal: 4, stretch: 3, less: true})
	return nil
}

// follow measures how long an appended record takes to come out of `tail -f`, against
// a program that only waits for inotify and copies.
func (b *bench) follow() error {
	if err := b.fresh(); err != nil {
		return err
	}
	root := filepath.Join(b.dir, "root")
	w, err := openTopic(root, "t", nil)
	if err != nil {
		return err
	}
	defer w.Close()
	line := strings.Repeat("x", 100)
	if _, err := w.Append(context.Background(), encode(nil, fillTime, "ready")); err != nil {
		return err
	}
	k50, k99, err := latency(exec.Command(b.klog, "-R", root, "tail", "t", "-f", "-n", "1"), func() error {
		_, err := w.Append(context.Background(), encode(nil, time.Now().UnixMilli(), line))
		return err
	})
	if err != nil {
		return err
	}
	name := filepath.Join(b.dir, "grows")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p50, _, err := latency(exec.Command(b.self, "play-watch", name), func() error {
		_, err := f.WriteString(line + "\n")
		return err
	})
	if err != nil {
		return err
	}
	b.rows = append(b.rows,
		row{what: "append → line printed by tail -f, p50", against: "raw inotify, p50", ratio: k50.Seconds() / p50.Seconds(), goal: 1.5, stretch: 1.2, less: true},
		row{what: "append → line printed by tail -f, p99 in ms", against: "–", ratio: k99.Seconds() * 1000, goal: 1, less: true})
	return nil
}

// latency measures how long one line takes through the command, a thousand times.
func latency(c *exec.Cmd, send func() error) (p50, p99 time.Duration, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = c.Process.Signal(syscall.SIGKILL)
		_ = c.Wait()
	}()
	r := bufio.NewReader(out)
	if _, err := r.ReadString('\n'); err != nil {
		return 0, 0, err
	}
	const times = 1000
	ts := make([]time.Duration, 0, times)
	for range times {
		start := time.Now()
		if err := send(); err != nil {
			return 0, 0, err
		}
		if _, err := r.ReadString('\n'); err != nil {
			return 0, 0, err
		}
		ts = append(ts, time.Since(start))
		time.Sleep(time.Millisecond) // the other side goes back to sleep: that is what is measured
	}
	slices.Sort(ts)
	return ts[times/2], ts[times*99/100], nil
}

// memory measures the greatest resident size of the commands that stream.
func (b *bench) memory() error {
	in, err := b.lines("in", 100, false)
	if err != nil {
		return err
	}
	if err := b.fresh(); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		args []string
		in   string
	}{
		{"produce", []string{"produce", "t", "--sync", "never"}, in},
		{"cat", []string{"cat", "t"}, os.DevNull},
		{"tail", []string{"tail", "t", "-n", "100000"}, os.DevNull},
		{"verify", []string{"verify", "t"}, os.DevNull},
	} {
		kib, err := b.peak(c.args, c.in)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{what: "memory of " + c.what + ", MiB", against: "–", ratio: float64(kib) / 1024, goal: 64, stretch: 16, less: true})
	}
	return nil
}

func (b *bench) peak(args []string, in string) (kib int64, err error) {
	c := exec.Command(b.klog, append([]string{"-R", filepath.Join(b.dir, "root")}, args...)...)
	f, err := os.Open(in)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	c.Stdin = f
	var msg bytes.Buffer
	c.Stderr = &msg
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, msg.Bytes())
	}
	ru, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("no resource usage on this system")
	}
	return ru.Maxrss, nil
}
