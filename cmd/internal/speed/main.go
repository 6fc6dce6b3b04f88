// Command speed measures klog against plain tools, in turn and in one run, and prints
// a table of ratios: what `make bench` shows. A ratio of two things measured in the
// same minute says something on any machine; a time does not.
//
// Rates are given as klog's rate over the plain tool's (more is better), times as
// klog's time over the plain program's (less is better). Both sides are warmed up and
// run alternately; the table has the ratio of the medians.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is one run of this program.
type bench struct {
	dir   string // scratch, on the disk that is measured
	klog  string // the program
	hello string // a Go program that prints one line: the least that a start costs
	self  string // this program, which plays writers and followers
	runs  int
	size  int64 // bytes of input
	only  string
	rows  []row
}

// row is one line of the table.
type row struct {
	what, against string
	ratio         float64
	goal, stretch float64
	less          bool   // less is better
	text          string // in place of a ratio
}

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "play-") {
		if err := play(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "speed:", err)
			os.Exit(1)
		}
		return
	}
	b := &bench{}
	dir := flag.String("dir", "", "scratch directory; default: a temporary one")
	flag.StringVar(&b.klog, "klog", "./klog", "the program to measure")
	flag.IntVar(&b.runs, "runs", 7, "runs of each side")
	flag.StringVar(&b.only, "only", "", "measure only the groups whose names contain this")
	mb := flag.Int64("mb", 256, "size of the input in MB")
	flag.Parse()
	b.size = *mb * 1_000_000
	if err := b.run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func (b *bench) run(dir string) (err error) {
	if b.dir, err = os.MkdirTemp(dir, "klog-speed-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.klog, err = filepath.Abs(b.klog); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if err := b.makeHello(); err != nil {
		return err
	}
	groups := []struct {
		name string
		run  func() error
	}{
		{"produce", b.produce},
		{"keyed", b.keyed},
		{"compress", b.compress},
		{"cat", b.cat},
		{"start", b.start},
		{"append", b.append},
		{"many", b.many},
		{"sync", b.sync},
		{"follow", b.follow},
		{"memory", b.memory},
	}
	for _, g := range groups {
		if !strings.Contains(g.name, b.only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "speed: %s …\n", g.name)
		if err := g.run(); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	b.print()
	return nil
}

// makeHello builds the Go program that start-up times are compared with.
func (b *bench) makeHello() error {
	src := filepath.Join(b.dir, "hello.go")
	if err := os.WriteFile(src, []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"), 0o600); err != nil {
		return err
	}
	b.hello = filepath.Join(b.dir, "hello")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.hello, src)
	c.Stderr = os.Stderr
	return c.Run()
}

func (b *bench) print() {
	fmt.Println("| what | against | klog | goal | stretch | |")
	fmt.Println("|---|---|---:|---:|---:|---|")
	for _, r := range b.rows {
		got := r.text
		if got == "" {
			got = fmt.Sprintf("%.2f", r.ratio)
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", r.what, r.against, got, number(r.goal), number(r.stretch), r.verdict())
	}
}

func number(f float64) string {
	if f == 0 {
		return "–"
	}
	return fmt.Sprintf("%g", f)
}

// verdict says where the ratio lies.
func (r row) verdict() string {
	reached := func(goal float64) bool { return r.less && r.ratio <= goal || !r.less && r.ratio >= goal }
	switch {
	case r.goal == 0 || r.ratio == 0:
		return ""
	case r.stretch != 0 && reached(r.stretch):
		return "beyond stretch"
	case reached(r.goal):
		return "reached"
	}
	return "**below**"
}
