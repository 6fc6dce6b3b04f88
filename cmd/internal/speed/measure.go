package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// side is one of the two things that are compared.
type side struct {
	before func() error // not measured
	script string       // run by bash, in the scratch directory
}

// median of times.
func median(ts []time.Duration) time.Duration {
	slices.Sort(ts)
	return ts[len(ts)/2]
}

// shell runs a script with klog, the scratch directory and the root in its environment.
func (b *bench) shell(script string) (time.Duration, error) {
	c := exec.Command("bash", "-c", script)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "KLOG="+b.klog, "HELLO="+b.hello, "SELF="+b.self, "KLOG_ROOT="+filepath.Join(b.dir, "root"))
	var out bytes.Buffer
	c.Stderr = &out
	start := time.Now()
	err := c.Run()
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", script, err, out.Bytes())
	}
	return took, nil
}

// pair measures two sides in turn and returns the medians.
func (b *bench) pair(klog, plain side) (k, p time.Duration, err error) {
	var ks, ps []time.Duration
	for i := range b.runs + 1 {
		for _, s := range []struct {
			side
			to *[]time.Duration
		}{{klog, &ks}, {plain, &ps}} {
			if s.before != nil {
				if err := s.before(); err != nil {
					return 0, 0, err
				}
			}
			t, err := b.shell(s.script)
			if err != nil {
				return 0, 0, err
			}
			if i > 0 { // the first round warms up
				*s.to = append(*s.to, t)
			}
		}
	}
	return median(ks), median(ps), nil
}

// rate adds a row of klog's rate over the plain tool's.
func (b *bench) rate(what, against string, goal, stretch float64, klog, plain side) error {
	k, p, err := b.pair(klog, plain)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{what: what, against: against, ratio: p.Seconds() / k.Seconds(), goal: goal, stretch: stretch})
	return nil
}

// longer adds a row of klog's time over the plain program's. Both are repeated within
// one measurement, for a start is shorter than the clock is steady.
func (b *bench) longer(what, against string, goal, stretch float64, klog, plain side) error {
	const times = 40
	loop := func(s side) side {
		s.script = fmt.Sprintf("for i in {1..%d}; do %s; done", times, s.script)
		return s
	}
	k, p, err := b.pair(loop(klog), loop(plain))
	if err != nil {
		return err
	}
	b.rows = append(b.rows, row{what: what, against: against, ratio: k.Seconds() / p.Seconds(), goal: goal, stretch: stretch, less: true})
	return nil
}

// fresh removes the root and what the plain tool wrote.
func (b *bench) fresh() error {
	_ = os.Remove(filepath.Join(b.dir, "out"))
	return os.RemoveAll(filepath.Join(b.dir, "root"))
}

// lines writes a file of about the bench's size with lines of n bytes, newline included.
func (b *bench) lines(name string, n int, keyed bool) (string, error) {
	path := filepath.Join(b.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789 .,:-/="
	r := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, 0, 4<<20)
	for len(block) < 3<<20 {
		at := len(block)
		if keyed {
			block = fmt.Appendf(block, "user-%d\t", r.IntN(1000))
		}
		for len(block)-at < n-1 {
			block = append(block, letters[r.IntN(len(letters))])
		}
		block = append(block, '\n')
	}
	for left := b.size; left > 0; left -= int64(len(block)) {
		if _, err := f.Write(block); err != nil {
			return "", err
		}
	}
	return path, nil
}
