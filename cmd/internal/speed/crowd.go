package main

import (
	"bufio"
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
)

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
