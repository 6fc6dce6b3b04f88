package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/urfave/cli/v2"
)

type verifyOptions struct {
	table tableOptions
	deep  bool
}

func newVerifyCommand(e *Env) *cli.Command {
	var o verifyOptions
	return &cli.Command{
		Name:      "verify",
		Category:  categoryUpkeep,
		Usage:     "check the files of topics for damage",
		ArgsUsage: "[TOPIC|DIR...]",
		Description: `Reads every batch of the topics, all where none is named, or of the partition
directories named with their paths, ./orders-0, also those that Kafka wrote, and
prints a line for each thing that is wrong: damaged batches, offsets out of order,
indexes that do not fit their log, missing segments, checkpoints and other small
files that cannot be read, two topics with one id. Status 4 if there is any.

Nothing is changed and no lock taken: writers and readers go on meanwhile. What was
there when the command started is checked. A torn tail of the newest segment, which a
killed writer leaves and the next one cuts off, is no finding. Files that cannot be
read for lack of permission or of a working disk are errors, status 1.

Without anything wrong nothing is said unless a person looks on, or with -v. The last
column is what repairing would do: quarantine takes damaged bytes out and keeps them
aside, rebuild derives a file anew from the log, forget strikes a missing segment off
the list, advance raises the leader epoch and goes on behind what was acknowledged.`,
		Flags: []cli.Flag{
			switchFlag(&o.deep, "deep", "", "also decompress and decode every record"),
			jsonFlag(&o.table.json),
			headersFlag(&o.table.headers),
		},
		Action: func(c *cli.Context) error {
			return runVerify(c.Context, e, o, c.Args().Slice())
		},
	}
}

func runVerify(ctx context.Context, e *Env, o verifyOptions, names []string) error {
	t, err := e.verifyTargets(ctx, names)
	if err != nil {
		return err
	}
	v := &verifying{e: e, o: o, table: newTable(e, o.table,
		column{name: "topic"}, column{name: "partition"}, column{name: "file"}, column{name: "position"},
		column{name: "size", kind: bytesColumn}, column{name: "first_offset"}, column{name: "last_offset"},
		column{name: "what"}, column{name: "repair"})}
	v.progress = e.startProgress(-1)
	err = v.run(ctx, t)
	v.progress.stop()
	if cerr := v.table.close(); err == nil {
		err = cerr
	}
	// Status 4 says that there are rows: they must have arrived.
	if ferr := e.Out().Flush(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	if v.failed == ExitOK && e.Talks() {
		e.Notice(v.summary())
	}
	switch {
	case v.findings > 0:
		return status(ExitDamaged)
	default:
		return status(v.failed)
	}
}

// verifyTargets is what a command line asks to verify.
type verifyTargets struct {
	root       *engine.Root // nil if only directories are named
	topics     []string     // of the root; nil means all
	partitions []*engine.Partition
}

func (e *Env) verifyTargets(ctx context.Context, names []string) (t verifyTargets, err error) {
	var topics []string
	for _, name := range names {
		if !strings.ContainsRune(name, filepath.Separator) {
			topics = append(topics, name)
			continue
		}
		p, err := e.openPartitionDir(name)
		if err != nil {
			return t, err
		}
		t.partitions = append(t.partitions, p)
	}
	if len(names) > 0 && len(topics) == 0 {
		return t, nil
	}
	if t.root, err = e.openRoot(); err != nil {
		return t, err
	}
	if t.topics = topics; len(names) == 0 {
		if topics, err = t.root.Topics(ctx); err != nil {
			return t, err
		}
	}
	for _, name := range topics {
		ps, err := e.partitionsOf(t.root, name)
		if errors.Is(err, engine.ErrUnknownTopic) && len(names) == 0 {
			continue // deleted since it was listed
		}
		if err != nil {
			return t, withHint(err, dirHint(err, name))
		}
		t.partitions = append(t.partitions, ps...)
	}
	return t, nil
}

// partitionsOf opens all partitions of a topic.
func (e *Env) partitionsOf(root *engine.Root, name string) ([]*engine.Partition, error) {
	topic, err := root.Topic(name)
	if err != nil {
		return nil, err
	}
	var all []*engine.Partition
	for _, n := range topic.Numbers() {
		p, err := topic.Partition(n)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// verifying is a run of verify.
type verifying struct {
	e        *Env
	o        verifyOptions
	table    *table
	progress *progress
	findings int
	segments int
	bytes    int64
	count    int // partitions
	failed   int // exit status of the first error, which has been told
}

// verifyWorkers bounds how many partitions are read at once, and so memory and open
// files.
const verifyWorkers = 4

// run verifies the root and the partitions. Several partitions are read at once; what
// is found is printed in their order.
func (v *verifying) run(ctx context.Context, t verifyTargets) error {
	if t.root != nil {
		if err := v.take(t.root.Verify(ctx, t.topics, v.row)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := v.start(ctx, t.partitions)
	for _, p := range t.partitions {
		j, ok := <-jobs
		if !ok {
			return context.Cause(ctx)
		}
		if err := v.print(p, j); err != nil {
			return err
		}
	}
	return nil
}

// verifyJob is one partition that is verified.
type verifyJob struct {
	found chan engine.VerifyFinding // closed when it is done
	res   segments.VerifyResult     // valid then
	err   error
}

// start verifies the partitions in the background and returns them in their order, each
// when it is its turn to begin. All has ended when the channel is closed.
func (v *verifying) start(ctx context.Context, all []*engine.Partition) <-chan *verifyJob {
	const waiting = 64 // findings of a partition whose turn to be printed has not come
	jobs := make(chan *verifyJob, min(verifyWorkers, runtime.NumCPU())-1)
	go func() {
		defer close(jobs)
		for _, p := range all {
			j := &verifyJob{found: make(chan engine.VerifyFinding, waiting)}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
			go func() {
				defer close(j.found)
				j.res, j.err = p.Verify(ctx, engine.VerifyOptions{Deep: v.o.deep, Read: v.progress.add}, j.send(ctx))
			}()
		}
	}()
	return jobs
}

func (j *verifyJob) send(ctx context.Context) func(engine.VerifyFinding) error {
	return func(f engine.VerifyFinding) error {
		select {
		case j.found <- f:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// print prints what a partition's job finds, until it is done.
func (v *verifying) print(p *engine.Partition, j *verifyJob) error {
	for f := range j.found {
		if err := v.row(f); err != nil {
			return err
		}
	}
	if j.err == nil {
		v.count++
		v.segments += j.res.Segments
		v.bytes += j.res.Bytes
		v.e.Verbose(partitionLine(p, j.res))
	}
	return v.take(j.err)
}

// take takes the outcome of a part of the work: an error is told, and the rest done.
func (v *verifying) take(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), silent(err):
		return err
	}
	var out *outputError
	if errors.As(err, &out) {
		return err
	}
	code := v.e.report(err)
	if v.failed == ExitOK {
		v.failed = code
	}
	return nil
}

// row prints a finding.
func (v *verifying) row(f engine.VerifyFinding) error {
	v.findings++
	cells := []any{f.Topic, f.Partition, f.File, f.Position, f.Size, f.FirstOffset, f.LastOffset, f.What, string(f.Repair)}
	for i, c := range cells {
		n, isNumber := integer(c)
		if c == "" || isNumber && n < 0 {
			cells[i] = nil
		}
	}
	return v.table.row(cells...)
}

func partitionLine(p *engine.Partition, res segments.VerifyResult) string {
	s := fmt.Sprintf("%s: %s, %s", p, counted(res.Segments, "segment"), value.FormatSize(res.Bytes))
	if res.Start >= 0 && res.End > res.Start {
		s += fmt.Sprintf(", offsets %d to %d", res.Start, res.End-1)
	}
	return s + ": " + foundText(res.Findings)
}

func (v *verifying) summary() string {
	return fmt.Sprintf("%s, %s, %s: %s", counted(v.count, "partition"), counted(v.segments, "segment"),
		value.FormatSize(v.bytes), foundText(v.findings))
}

func foundText(n int) string {
	if n == 0 {
		return "nothing wrong"
	}
	return counted(n, "finding")
}
