package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func (b *bench) produce() error {
	for _, l := range []struct {
		what          string
		bytes         int
		goal, stretch float64
	}{{"100-byte lines", 100, 0.50, 0.75}, {"10-byte lines", 10, 0.25, 0.35}, {"10 KB lines", 10_000, 0.80, 1.0}} {
		in, err := b.lines("in", l.bytes, false)
		if err != nil {
			return err
		}
		if err := b.rate("produce < FILE, "+l.what+", --sync never", "cat FILE > out", l.goal, l.stretch,
			side{b.fresh, "$KLOG produce t --sync never < in"}, side{b.fresh, "cat in > out"}); err != nil {
			return err
		}
		if err := b.rate("produce < FILE, "+l.what, "cat FILE > out; sync out", l.goal, l.stretch,
			side{b.fresh, "$KLOG produce t < in"}, side{b.fresh, "cat in > out; sync out"}); err != nil {
			return err
		}
		if l.bytes == 100 {
			if err := b.rate("cat FILE | produce, "+l.what, "cat FILE | cat > out", 0.60, 0.85,
				side{b.fresh, "cat in | $KLOG produce t --sync never"}, side{b.fresh, "cat in | cat > out"}); err != nil {
				return err
			}
		}
		if err := os.Remove(in); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) keyed() error {
	in, err := b.lines("in", 100, true)
	if err != nil {
		return err
	}
	defer os.Remove(in)
	fresh := func() error {
		if err := b.fresh(); err != nil {
			return err
		}
		_, err := b.shell("$KLOG topic create t --partitions 8")
		return err
	}
	return b.rate(`produce -K '\t' over 8 partitions`, "cat FILE > out", 0.30, 0.50,
		side{fresh, `$KLOG produce t -K '\t' --sync never < in`}, side{b.fresh, "cat in > out"})
}

func (b *bench) compress() error {
	in, err := b.lines("in", 100, false)
	if err != nil {
		return err
	}
	defer os.Remove(in)
	for _, c := range []struct {
		codec, tool, script string
		goal, stretch       float64
	}{
		{"lz4", "lz4", "lz4 -1 -q -f in out", 1.2, 1.6},
		{"zstd", "zstd", "zstd -1 -T2 -q -f in -o out", 0.55, 0.7},
		{"snappy", "lz4", "lz4 -1 -q -f in out", 1.3, 2.0},
	} {
		if !b.installed(c.tool, "produce -z "+c.codec) {
			continue
		}
		if err := b.rate("produce -z "+c.codec+", --sync never", strings.TrimSuffix(strings.TrimSuffix(c.script, " in out"), " in -o out"), c.goal, c.stretch,
			side{b.fresh, "$KLOG produce t --sync never -z " + c.codec + " < in"}, side{b.fresh, c.script}); err != nil {
			return err
		}
	}
	return nil
}

// installed reports whether a plain tool is there, and says in the table that it is not.
func (b *bench) installed(tool, what string) bool {
	if _, err := exec.LookPath(tool); err != nil {
		b.rows = append(b.rows, row{what: what, against: tool, text: tool + " is not installed"})
		return false
	}
	return true
}

func (b *bench) cat() error {
	in, err := b.lines("in", 100, false)
	if err != nil {
		return err
	}
	defer os.Remove(in)
	if err := b.fresh(); err != nil {
		return err
	}
	if _, err := b.shell("$KLOG produce t --sync never < in"); err != nil {
		return err
	}
	if err := b.rate("cat TOPIC > /dev/null", "cat LOG > /dev/null", 0.40, 0.60,
		side{nil, "$KLOG cat t > /dev/null"}, side{nil, "cat root/t-0/*.log > /dev/null"}); err != nil {
		return err
	}
	if err := b.rate("cat TOPIC | wc -l", "cat FILE | wc -l", 0.9, 1.5,
		side{nil, "$KLOG cat t | wc -l > /dev/null"}, side{nil, "cat in | wc -l > /dev/null"}); err != nil {
		return err
	}
	if err := b.rate("cat -J TOPIC | wc -l", "cat TOPIC | wc -l", 0.35, 0.6,
		side{nil, "$KLOG cat -J t | wc -l > /dev/null"}, side{nil, "$KLOG cat t | wc -l > /dev/null"}); err != nil {
		return err
	}
	for _, c := range []struct {
		codec, pack, unpack string
		goal, stretch       float64
	}{{"lz4", "lz4 -1 -q -f in packed", "lz4 -dc packed > /dev/null", 2.0, 3.4}, {"zstd", "zstd -1 -q -f in -o packed", "zstd -dc packed > /dev/null", 1.0, 1.6}} {
		if !b.installed(c.codec, c.codec+" log to /dev/null") {
			continue
		}
		if err := b.fresh(); err != nil {
			return err
		}
		if _, err := b.shell(c.pack + "; $KLOG produce t --sync never -z " + c.codec + " < in"); err != nil {
			return err
		}
		if err := b.rate("cat TOPIC > /dev/null, "+c.codec, c.codec+" -dc", c.goal, c.stretch,
			side{nil, "$KLOG cat t > /dev/null"}, side{nil, c.unpack}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) start() error {
	if err := b.fresh(); err != nil {
		return err
	}
	hello := side{nil, "$HELLO > /dev/null"}
	if err := b.longer("klog version", "a Go hello world", 1.3, 1.1, side{nil, "$KLOG version > /dev/null"}, hello); err != nil {
		return err
	}
	line := filepath.Join(b.dir, "line")
	if err := os.WriteFile(line, []byte("a line of a log file, as one types it\n"), 0o600); err != nil {
		return err
	}
	if _, err := b.shell("$KLOG produce few < line"); err != nil {
		return err
	}
	one := side{nil, "$KLOG produce few --sync never < line"}
	if err := b.longer("produce --sync never < LINE", "a Go hello world", 1.35, 1.12, one, hello); err != nil {
		return err
	}
	if err := b.longer("produce < LINE", "cat LINE >> out; sync out", 0, 0, side{nil, "$KLOG produce few < line"}, side{nil, "cat line >> out; sync out"}); err != nil {
		return err
	}
	if _, err := b.shell("$SELF play-fill $KLOG_ROOT many 10000; $KLOG topic alter many --unset segment.bytes; $KLOG produce many < line"); err != nil {
		return err
	}
	if err := b.longer("produce --sync never < LINE, 10 000 segments", "the same on an empty log", 1.05, 1.0, side{nil, "$KLOG produce many --sync never < line"}, one); err != nil {
		return err
	}
	if err := b.longer("first record at an offset, 10 000 segments", "a Go hello world", 1.2, 1.1, side{nil, "$KLOG cat many -o 5000 -n 1 > /dev/null"}, hello); err != nil {
		return err
	}
	return b.longer("first record at a time, 10 000 segments", "a Go hello world", 1.2, 1.1,
		side{nil, fmt.Sprintf("$KLOG cat many -o @%d -n 1 > /dev/null", fillTime+5000)}, hello)
}
