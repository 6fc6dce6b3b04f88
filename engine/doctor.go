package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// doctorPrefix begins the name of the directory, in the one that is examined, in which
// Doctor makes its files. What a killed run left is removed by one that comes more than
// doctorStale later.
const (
	doctorPrefix = ".klog-doctor."
	doctorStale  = time.Hour
)

// defaultPatience bounds each wait of Doctor for another process.
const defaultPatience = 30 * time.Second

// DoctorOptions say with whom a directory is examined.
type DoctorOptions struct {
	Options
	// Start starts another process on this machine that runs DoctorHelper. It may be
	// called several times: one of them is killed. Required.
	Start func(context.Context) (*Helper, error)
	// Peer starts one on another host, which sees the directory as PeerDir; nil for
	// none. PeerName is what the report calls it.
	Peer     func(context.Context) (*Helper, error)
	PeerDir  string
	PeerName string
	// Patience bounds each wait for another process; 0 means 30 s.
	Patience time.Duration
}

// Verdict is what came of one examination.
type Verdict string

// The verdicts.
const (
	Good Verdict = "ok"
	// Note is something that klog copes with and its user should know.
	Note Verdict = "note"
	// Bad is something without which klog must not write here.
	Bad Verdict = "fails"
)

// Check is one thing that was examined.
type Check struct {
	// Name is one word: "locks", "rename".
	Name string
	// With is the other host that took part, "" where none did.
	With    string
	Verdict Verdict
	// Detail says in a few words what was found.
	Detail string
}

// Report is what Doctor found, in the order in which it looked.
type Report struct {
	Dir    string
	FS     vfs.Type
	Checks []Check
	// Enabled is set by EnableShared when it recorded that writing is allowed.
	Enabled bool
}

// Fit reports whether klog may write there: nothing is Bad.
func (r Report) Fit() bool {
	for _, c := range r.Checks {
		if c.Verdict == Bad {
			return false
		}
	}
	return true
}

// Doctor examines by trying whether the file system of the existing directory dir is fit
// to hold a root: what klog relies on between processes, and between hosts where there is
// a Peer. It works in a directory of its own in dir, which it removes. What falls short
// is in the report; the error is for what kept Doctor from looking, a *NoRootError where
// dir does not exist.
func Doctor(ctx context.Context, dir string, o DoctorOptions) (Report, error) {
	report := Report{Dir: filepath.Clean(dir)}
	var err error
	if report.FS, err = vfs.FSType(report.Dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return report, &NoRootError{Dir: report.Dir}
		}
		return report, err
	}
	d := &doctor{fsys: o.fs(), o: o, report: &report}
	if d.patience = o.Patience; d.patience == 0 {
		d.patience = defaultPatience
	}
	d.removeStale(report.Dir)
	bench, err := d.makeBench(report.Dir)
	if err != nil {
		return report, fmt.Errorf("examine %s: %w", report.Dir, err)
	}
	d.side = side{fsys: d.fsys, dir: bench}
	err = d.examine(ctx)
	d.side.close()
	if rerr := removeBench(d.fsys, bench); err == nil && rerr != nil {
		err = rerr
	}
	if err != nil {
		return report, fmt.Errorf("examine %s: %w", report.Dir, err)
	}
	return report, nil
}

// doctor is one run.
type doctor struct {
	fsys     vfs.FS
	o        DoctorOptions
	report   *Report
	side     side
	patience time.Duration
}

func (d *doctor) examine(ctx context.Context) error {
	d.examineAlone()
	if err := d.examineWith(ctx, d.o.Start, d.side.dir, ""); err != nil {
		return err
	}
	switch {
	case d.o.Peer != nil:
		dir := filepath.Join(d.o.PeerDir, filepath.Base(d.side.dir))
		return d.examineWith(ctx, d.o.Peer, dir, d.o.PeerName)
	case d.report.FS.Shared:
		d.add(Check{Name: "other-host", Verdict: Note, Detail: "not tried: locks may hold on this host only"})
	}
	return nil
}

func (d *doctor) add(c Check) { d.report.Checks = append(d.report.Checks, c) }

// makeBench makes the directory to work in.
func (d *doctor) makeBench(dir string) (string, error) {
	for {
		bench := filepath.Join(dir, doctorPrefix+strings.ToLower(rand.Text()[:10]))
		err := vfs.Mkdir(d.fsys, bench)
		if !errors.Is(err, fs.ErrExist) {
			return bench, err
		}
	}
}

// removeStale removes what killed runs left, as far as that can be done.
func (d *doctor) removeStale(dir string) {
	list, err := d.fsys.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), doctorPrefix) {
			continue
		}
		if fi, err := e.Info(); err == nil && d.o.now().Sub(fi.ModTime()) > doctorStale {
			_ = removeBench(d.fsys, filepath.Join(dir, e.Name()))
		}
	}
}

// removeBench removes the directory and the files in it.
func removeBench(fsys vfs.FS, bench string) error {
	list, err := fsys.ReadDir(bench)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := fsys.Remove(filepath.Join(bench, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fsys.Remove(bench)
}
