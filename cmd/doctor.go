package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/klog-project/klog/engine"
)

type doctorOptions struct {
	enableShared bool
	newIdentity  bool
	upgrade      bool
	peer         string
	table        tableOptions
}

func newDoctorCommand(e *Env) *cli.Command {
	var o doctorOptions
	return &cli.Command{
		Name:     "doctor",
		Category: categoryUpkeep,
		Usage:    "examine whether the file system is fit for a root",
		Description: `Tries, in the root's directory and with another process, what klog relies on: locks that exclude and end with their process, rename, sync, files that grow under a reader, wake-ups, permissions and limits. One row for each, with the verdict: ok, note (klog copes, and you should know) or fails. What fails makes the status 1. Nothing of the root is changed. Where there is no root yet, the directory that it would be made in is examined.

--enable-shared allows writing on a network file system, once the trials have gone well: it is recorded in the root. Two hosts that write to one root over such a file system are tried only as far as one host can see.

--new-identity gives a root that was copied from another one ids of its own. --upgrade lets the root use what this version of klog knows; older ones cannot write to it afterwards.

    klog doctor
    klog -R /mnt/nfs/klog doctor --enable-shared`,
		Flags: []cli.Flag{
			switchFlag(&o.enableShared, "enable-shared", "", "allow writing on a shared file system if it is fit"),
			switchFlag(&o.newIdentity, "new-identity", "", "give a copied root ids of its own"),
			switchFlag(&o.upgrade, "upgrade", "", "let the root use what this klog knows"),
			hidden(stringFlag(&o.peer, "peer", "", "")),
			jsonFlag(&o.table.json), headersFlag(&o.table.headers),
		},
		Action: func(c *cli.Context) error {
			return runDoctor(c.Context, e, o)
		},
	}
}

// newDoctorHelperCommand is the other process of doctor.
func newDoctorHelperCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:   "__doctor",
		Hidden: true,
		Usage:  "be the other process of doctor",
		Action: func(*cli.Context) error {
			return engine.DoctorHelper(e.Stdin, e.Stdout)
		},
	}
}

func runDoctor(ctx context.Context, e *Env, o doctorOptions) error {
	if o.peer != "" {
		return usagef("--peer: other hosts cannot be reached yet; without it doctor tries what one host can see")
	}
	if err := changeRootByDoctor(ctx, e, o); err != nil {
		return err
	}
	dir, err := e.Root()
	if err != nil {
		return err
	}
	report, err := examine(ctx, e, dir, o)
	if err != nil {
		return err
	}
	if err := printReport(e, o.table, report); err != nil {
		return err
	}
	if report.Enabled {
		e.Notice("writing to " + report.Dir + " over " + report.FS.Name + " is enabled")
	}
	same, err := sameIDs(ctx, e, dir)
	if err != nil {
		return err
	}
	if !report.Fit() || same {
		return status(ExitFailure)
	}
	return nil
}

// changeRootByDoctor does what doctor is told to change in the root.
func changeRootByDoctor(ctx context.Context, e *Env, o doctorOptions) error {
	if !o.newIdentity && !o.upgrade {
		return nil
	}
	root, err := e.changeRoot()
	if err != nil {
		return err
	}
	if o.upgrade {
		if err := root.Upgrade(ctx); err != nil {
			return err
		}
		e.Notice(fmt.Sprintf("%s has format %d now", root.Dir(), engine.FormatVersion))
	}
	if o.newIdentity {
		m, err := root.NewIdentity(ctx)
		if err != nil {
			return err
		}
		e.Notice(fmt.Sprintf("%s is directory %s of cluster %s now", root.Dir(), m.DirectoryID, m.ClusterID))
	}
	return nil
}

func examine(ctx context.Context, e *Env, dir string, o doctorOptions) (engine.Report, error) {
	d := engine.DoctorOptions{Options: e.engineOptions(), Start: func(ctx context.Context) (*engine.Helper, error) {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c := exec.CommandContext(ctx, exe, "__doctor")
		c.Args[0] = "klog"
		c.Stderr = os.Stderr
		return engine.StartHelper(c)
	}}
	if o.enableShared {
		return engine.EnableShared(ctx, dir, d)
	}
	report, err := engine.Doctor(ctx, dir, d)
	for errors.Is(err, engine.ErrNoRoot) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		if report, err = engine.Doctor(ctx, dir, d); err == nil {
			e.Notice("there is no root yet: " + dir + " is examined")
		}
	}
	return report, err
}

func printReport(e *Env, o tableOptions, r engine.Report) error {
	t := newTable(e, o, columnsOf("check", "with", "verdict", "detail")...)
	for _, c := range r.Checks {
		var with any
		if c.With != "" {
			with = c.With
		}
		if err := t.row(c.Name, with, string(c.Verdict), c.Detail); err != nil {
			return err
		}
	}
	return t.close()
}

// sameIDs tells of topics of the root that have one id.
func sameIDs(ctx context.Context, e *Env, dir string) (found bool, err error) {
	root, err := engine.Open(dir, e.engineOptions())
	if errors.Is(err, engine.ErrNoRoot) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same, err := root.DuplicateIDs(ctx)
	for _, d := range same {
		e.Notice(fmt.Sprintf("topics %s have one id, %s: one was copied from the other; `klog topic adopt` gives a copy an id of its own", strings.Join(d.Topics, " and "), d.ID))
	}
	return len(same) > 0, err
}
