package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

type dumpOptions struct {
	tableOptions
	deep bool
}

func newDumpCommand(e *Env) *cli.Command {
	var o dumpOptions
	return &cli.Command{
		Name:      "dump",
		Category:  categoryUpkeep,
		Usage:     "show what is in the files of a log, decoded",
		ArgsUsage: "FILE|DIR...",
		Description: `Prints one row for each batch of a segment, each entry of an index, each line of a checkpoint, each producer of a snapshot. It reads files of klog and of Kafka, also those of a broker that runs, and changes nothing. A directory stands for the files in it and in the partitions below it, the name of a topic for the directories of its partitions.

    klog dump orders-0/00000000000000000000.log
    klog dump --deep -J orders-0 | jq .value
    klog dump /var/lib/kafka/recovery-point-offset-checkpoint

Bytes that are no good batch get a row too, with valid=false, the reason in the column error and, where their header can be read, what it says. The status is then 4, unless they are the end of an append that was never finished (torn tail) in the newest segment.

On a terminal each file has a table of its own with the most telling columns; -v shows them all. In a pipe the rows of all files follow each other, the file's name first; --headers writes a line of names where the kind of file changes.`,
		Flags: []cli.Flag{
			switchFlag(&o.deep, "deep", "", "one row for each record instead of each batch"),
			jsonFlag(&o.json),
			headersFlag(&o.headers),
		},
		Action: func(c *cli.Context) error {
			return runDump(c.Context, e, o, c.Args().Slice())
		},
	}
}

func runDump(ctx context.Context, e *Env, o dumpOptions, paths []string) error {
	d := &dumper{e: e, o: o}
	all := items{e: e}
	for _, p := range paths {
		err := d.path(ctx, p)
		if ctx.Err() != nil || outputFailed(err) {
			return err
		}
		all.done(err)
	}
	if err := d.finish(); err != nil {
		return err
	}
	if err := all.err(); err != nil {
		return err
	}
	if d.damaged > 0 {
		return status(ExitDamaged)
	}
	return nil
}

// path dumps a file or a directory that was named on the command line.
func (d *dumper) path(ctx context.Context, path string) error {
	st, err := vfs.OS.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.topic(ctx, path, err)
	case err != nil:
		return err
	case !st.IsDir():
		return d.file(ctx, path, kindOf(path, true))
	}
	return d.dir(ctx, path)
}

// topic dumps the partitions of a topic, for a word that names no file. If it names no
// topic either, the file is what is missing.
func (d *dumper) topic(ctx context.Context, name string, noFile error) error {
	noFile = withStatus(ExitNotFound, noFile)
	if segments.ValidTopicName(name) != nil {
		return noFile
	}
	root, err := d.e.openRoot()
	if err != nil {
		return noFile
	}
	topic, err := root.Topic(name)
	if err != nil {
		return noFile
	}
	for i := range topic.Partitions() {
		p, err := topic.Partition(int32(i))
		if err == nil {
			err = d.dir(ctx, p.Dir())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dir dumps the files in a directory.
func (d *dumper) dir(ctx context.Context, path string) error {
	files, err := filesBelow(path)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no file of a log in it", path)
	}
	var failed error
	for _, f := range files {
		err := d.file(ctx, f, kindOf(f, false))
		if errors.Is(err, fs.ErrNotExist) {
			continue // rolled or removed since the directory was read
		}
		if ctx.Err() != nil || outputFailed(err) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// file dumps one file.
func (d *dumper) file(ctx context.Context, path string, kind fileKind) error {
	if kind == unknownFile {
		return withHint(fmt.Errorf("%s: not named like a file of a log", path), "files are told apart by their names: N.log, N.index, leader-epoch-checkpoint")
	}
	f, err := vfs.OS.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold us up
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	d.name = path
	base, _, strict := segments.ParseSegmentName(segmentStem(filepath.Base(path)))
	src := dumpSource{File: f, size: st.Size(), base: base, strict: strict}
	err = d.decode(ctx, src, kind)
	if err == nil || outputFailed(err) || ctx.Err() != nil {
		return err
	}
	return inFile(path, err)
}

// dumpSource is a file that is dumped. base and strict are what its name says, if it is
// that of a segment.
type dumpSource struct {
	vfs.File
	size   int64
	base   int64
	strict bool
}

// inFile adds the file's name where an error does not begin with it.
func inFile(path string, err error) error {
	if strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), " "+path+":") {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// outputFailed reports whether err is about standard output and no file.
func outputFailed(err error) bool {
	var out *outputError
	return errors.As(err, &out) || errors.Is(err, errBrokenPipe)
}

// decode dumps a file by its kind.
func (d *dumper) decode(ctx context.Context, src dumpSource, kind fileKind) error {
	switch kind {
	case logFile:
		return d.log(ctx, src)
	case indexFile:
		return d.index(src)
	case timeIndexFile:
		return d.timeIndex(src)
	case txnIndexFile:
		return d.txnIndex(src)
	}
	data, err := src.whole()
	if err != nil {
		return err
	}
	switch kind {
	case snapshotFile:
		return d.snapshot(data)
	case producersFile:
		return d.producers(data)
	case listFile:
		return d.list(src)
	case epochsFile:
		return d.epochs(data)
	case checkpointFile:
		return d.checkpoint(data)
	case partitionMetaFile:
		return d.partitionMeta(data)
	case propertiesFile:
		return d.properties(data)
	case jsonFile:
		return d.json(data)
	case hintFile:
		return d.hint(data)
	case lockFile:
		return d.lock(data)
	case stateFile:
		return d.state(data)
	}
	return fmt.Errorf("file of kind %d", kind)
}

// mostWhole bounds a file that is read at once: snapshots and checkpoints of very many
// producers and partitions are far smaller.
const mostWhole = 64 << 20

// whole reads all of a file.
func (s dumpSource) whole() ([]byte, error) {
	if s.size > mostWhole {
		return nil, fmt.Errorf("%d bytes are too many for such a file", s.size)
	}
	return io.ReadAll(io.NewSectionReader(s, 0, s.size))
}
