package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

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

// peak runs klog from a small process of its own: a program starts with the resident
// size of the one that it was started from as its greatest.
func (b *bench) peak(args []string, in string) (kib int64, err error) {
	c := exec.Command(b.self, append([]string{"play-peak", b.klog, "-R", filepath.Join(b.dir, "root")}, args...)...)
	f, err := os.Open(in)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	c.Stdin = f
	var msg bytes.Buffer
	c.Stderr = &msg
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, msg.Bytes())
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// playPeak runs a command and prints its greatest resident size in KiB.
func playPeak(args []string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stderr = os.Stdin, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	ru, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("no resource usage on this system")
	}
	fmt.Println(ru.Maxrss)
	return nil
}
