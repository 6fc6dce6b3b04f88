package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// filesBelow are the files of a log in dir and in the directories that belong to it.
// What klog and Kafka do not write is passed over.
func filesBelow(dir string) ([]string, error) {
	entries, err := vfs.OS.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.Type().IsRegular() && kindOf(path, false) != unknownFile:
			files = append(files, path)
		case entry.IsDir() && belongs(path):
			below, err := filesBelow(path)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		}
	}
	return files, nil
}

// belongs reports whether a directory below another is part of a log.
func belongs(path string) bool {
	name := filepath.Base(path)
	_, _, partition := segments.ParsePartitionDir(name)
	_, _, _, deleted := segments.ParseDeletedDirName(name)
	switch {
	case partition, deleted, name == ".klog":
		return true
	case filepath.Base(filepath.Dir(path)) == ".klog":
		return name != "quarantine" // raw bytes of logs
	}
	return false
}

// fileKind is how a file is decoded.
type fileKind int

const (
	unknownFile fileKind = iota
	logFile
	indexFile
	timeIndexFile
	txnIndexFile
	snapshotFile
	epochsFile
	checkpointFile
	partitionMetaFile
	propertiesFile
	jsonFile
	hintFile
	listFile
	producersFile
	lockFile
	stateFile
)

// kindOf tells a file's kind by its name. A file that the user named may have any stem
// before a segment's suffix; one found in a directory has a segment's whole name.
func kindOf(path string, named bool) fileKind {
	name := filepath.Base(path)
	if slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), ".klog") {
		return stateKind(name)
	}
	switch name {
	case segments.EpochsName:
		return epochsFile
	case segments.PartitionMetaName:
		return partitionMetaFile
	case segments.MetaPropertiesName:
		return propertiesFile
	case ".kafka_cleanshutdown", "quorum-state":
		return jsonFile
	case segments.RecoveryPointName, segments.HighWatermarkName, segments.LogStartName, segments.CleanerOffsetName:
		return checkpointFile
	case "bootstrap.checkpoint":
		return logFile
	}
	if named {
		return namedKind(name)
	}
	_, suffix, ok := segments.ParseSegmentName(name)
	if !ok {
		return unknownFile
	}
	return suffixKind(suffix)
}

// namedKind is the kind of a file that the user named, which may be a copy.
func namedKind(name string) fileKind {
	switch {
	case strings.HasSuffix(name, ".properties"):
		return propertiesFile
	case strings.HasSuffix(name, "-offset-checkpoint"):
		return checkpointFile
	case strings.HasSuffix(name, ".checkpoint"):
		return logFile // a snapshot of Kafka's metadata log
	}
	return suffixKind(filepath.Ext(segmentStem(name)))
}

// segmentStem is name without what marks a file that waits for its removal or is not
// yet in use.
func segmentStem(name string) string {
	for _, mark := range []string{".deleted", ".cleaned", ".swap"} {
		if stem, ok := strings.CutSuffix(name, mark); ok {
			return stem
		}
	}
	return name
}

func suffixKind(suffix string) fileKind {
	switch segmentStem(suffix) {
	case segments.LogSuffix:
		return logFile
	case segments.IndexSuffix:
		return indexFile
	case segments.TimeIndexSuffix:
		return timeIndexFile
	case segments.TxnIndexSuffix:
		return txnIndexFile
	case segments.SnapshotSuffix:
		return snapshotFile
	}
	return unknownFile
}

// stateKind is the kind of a file of klog's own.
func stateKind(name string) fileKind {
	switch {
	case name == "hint":
		return hintFile
	case name == filepath.Base(segments.ListName):
		return listFile
	case name == "producers":
		return producersFile
	case name == "lock":
		return lockFile
	case strings.HasSuffix(name, ".properties"):
		return propertiesFile
	case strings.HasSuffix(name, ".tmp"):
		return unknownFile
	}
	return stateFile
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

// dumper prints rows of files of different kinds.
type dumper struct {
	e       *Env
	o       dumpOptions
	name    string // of the file that is dumped
	columns []dumpColumn
	table   *table
	keep    []int // columns that are shown
	damaged int   // rows of damaged data
}

// dumpColumn is a column of a dump. An extra one is shown on a terminal only with -v.
type dumpColumn struct {
	column
	extra bool
}

// begin makes the rows that follow those of the current file, with these columns.
func (d *dumper) begin(columns []dumpColumn) error {
	screen := !d.o.json && d.e.IsTerminal(d.e.Stdout)
	if !screen && d.table != nil && slices.Equal(columns, d.columns) {
		return nil
	}
	if err := d.finish(); err != nil {
		return err
	}
	d.columns, d.keep = columns, d.keep[:0]
	shown := []column{{name: "file"}}
	if screen {
		shown = nil
		if _, err := d.e.Out().WriteString(oneLine(d.name) + ":\n"); err != nil {
			return err
		}
	}
	for i, c := range columns {
		if !screen || !c.extra || d.e.IsVerbose() {
			shown = append(shown, c.column)
			d.keep = append(d.keep, i)
		}
	}
	d.table = newTable(d.e, d.o.tableOptions, shown...)
	return nil
}

// row prints one row, without the file's name, which it adds.
func (d *dumper) row(cells ...any) error {
	if len(cells) != len(d.columns) {
		panic(fmt.Sprintf("a row of %d cells for %d columns", len(cells), len(d.columns)))
	}
	shown := make([]any, 0, len(cells)+1)
	if !d.table.screen {
		shown = append(shown, d.name)
	}
	for _, i := range d.keep {
		shown = append(shown, d.cell(d.columns[i].kind, cells[i]))
	}
	return d.table.row(shown...)
}

// longCell is how much of a text a table on a terminal shows.
const longCell = 40

// cell fits a cell to where it is shown: JSON has numbers as they lie on disk, rows
// have "-" for a time that is none, and a terminal the beginning of a long text.
func (d *dumper) cell(kind columnKind, c any) any {
	if n, ok := integer(c); ok && kind == timeColumn && n < 0 && !d.o.json {
		return nil
	}
	if s, ok := c.(string); ok && d.table.screen && len(s) > longCell {
		return strings.ToValidUTF8(s[:longCell], "") + "…"
	}
	return c
}

// finish ends the table of the last file.
func (d *dumper) finish() error {
	if d.table == nil {
		return nil
	}
	err := d.table.close()
	if err == nil && d.table.screen {
		_, err = d.e.Out().WriteString("\n")
	}
	d.table = nil
	return err
}
