package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

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
