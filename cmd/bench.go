package cmd

import (
	"context"
	"math"
	"time"

	"github.com/klog-project/klog/cmd/gauge"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/urfave/cli/v2"
)

// benchOptions are the flags of all three measurements.
type benchOptions struct {
	load       gauge.Load
	rate       value.Rate
	partitions value.Partitions
	dir        string
	table      tableOptions
}

// benchMost bounds the counts that a measurement takes.
const benchMost = math.MaxInt32

const benchText = `Measures in a throw-away root below the directory of --root, or below --dir, on the same
disk. Everything that was written is read back and compared before the figures are
printed; the root is removed at the end. The figures are those of one moment on this
machine: run it several times, and compare with a plain tool in the same minute.`

func newBenchCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:        "bench",
		Category:    categoryUpkeep,
		Usage:       "measure this machine's log, and verify what was read",
		Description: benchText,
		Subcommands: []*cli.Command{newBenchProduce(e), newBenchConsume(e), newBenchLatency(e)},
	}
}

func newBenchProduce(e *Env) *cli.Command {
	o := benchOptions{load: gauge.Load{Records: 1_000_000, Size: 100, Partitions: 1, Writers: 1}}
	return &cli.Command{
		Name:  "produce",
		Usage: "how fast records are appended",
		Description: `Appends records as produce does, from memory. With --batch 1 every record is an append
of its own; with --sync batch each append is on disk before the next begins.`,
		Flags:  append(loadFlags(&o), outputFlags(&o)...),
		Action: func(c *cli.Context) error { return runBenchProduce(c.Context, e, o) },
	}
}

func newBenchConsume(e *Env) *cli.Command {
	o := benchOptions{load: gauge.Load{Records: 1_000_000, Size: 100, Partitions: 1, Writers: 1}}
	return &cli.Command{
		Name:      "consume",
		Usage:     "how fast records are read",
		ArgsUsage: "[TOPIC]",
		Description: `With TOPIC: reads that topic up to its end, checking checksums, framing and offsets.
Without: reads records that it has written before, and compares each.`,
		Flags: append(append([]cli.Flag{
			flagOf(&o.partitions, "partition", "p", "only the partitions in `LIST` of TOPIC: 0, 0,3 or 2-5", value.ParsePartitions),
		}, loadFlags(&o)...), outputFlags(&o)...),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return runBenchTopic(c.Context, e, o, c.Args().First())
			}
			return runBenchConsume(c.Context, e, o)
		},
	}
}

func newBenchLatency(e *Env) *cli.Command {
	o := benchOptions{load: gauge.Load{Records: 1000, Size: 100, Partitions: 1, Writers: 1}, rate: value.Rate{Count: 500, Per: time.Second}}
	return &cli.Command{
		Name:  "latency",
		Usage: "how soon a follower has what was appended",
		Description: `Appends one record after the other while a reader follows, and prints the times, in
microseconds, from before a record was encoded until the reader had it: within which
half, 90, 99 and 99.9 percent of them arrived, and the longest.`,
		Flags: append([]cli.Flag{
			flagOf(&o.load.Records, "count", "n", "append `N` records (default 1000)", benchCount),
			sizeOf(&o.load.Size, "size", "a value is `SIZE` long (default 100B)", gauge.MinSize),
			flagOf(&o.rate, "rate", "", "append at `RATE` (default 500/s)", value.ParseRate),
			syncFlag(&o.load.Sync),
		}, outputFlags(&o)...),
		Action: func(c *cli.Context) error { return runBenchLatency(c.Context, e, o) },
	}
}

// loadFlags say what is appended.
func loadFlags(o *benchOptions) []cli.Flag {
	return []cli.Flag{
		flagOf(&o.load.Records, "count", "n", "append `N` records (default 1000000)", benchCount),
		sizeOf(&o.load.Size, "size", "a value is `SIZE` long (default 100B)", gauge.MinSize),
		intOf(&o.load.Writers, "workers", "P", "`N` writers at once (default 1)", 1<<12),
		intOf(&o.load.Partitions, "partitions", "", "into `N` partitions (default 1)", engine.MaxPartitions),
		intOf(&o.load.Batch, "batch", "", "`N` records in each append (default: half a MiB of them)", 1<<20),
		choiceOf(&o.load.Codec, "compress", "z", "compress with `CODEC`: none (default), gzip, snappy, lz4 or zstd",
			segments.ParseCodec, "none", "gzip", "snappy", "lz4", "zstd"),
		syncFlag(&o.load.Sync),
	}
}

// outputFlags say where the measurement is made and how it is told.
func outputFlags(o *benchOptions) []cli.Flag {
	return []cli.Flag{
		stringFlag(&o.dir, "dir", "", "measure below `DIR`, which exists"),
		jsonFlag(&o.table.json),
		headersFlag(&o.table.headers),
	}
}

func syncFlag(to *gauge.Sync) cli.Flag {
	return choiceOf(to, "sync", "", "when records must be on disk, `WHEN`: never (default), exit or batch", func(s string) (gauge.Sync, error) {
		for mode, name := range []string{"never", "exit", "batch"} {
			if s == name {
				return gauge.Sync(mode), nil
			}
		}
		return 0, usagef("%s: want never, exit or batch", quote(s))
	}, "never", "exit", "batch")
}

func benchCount(s string) (int64, error) {
	n, err := value.ParseCount(s)
	if err == nil && (n == 0 || n > benchMost) {
		return 0, usagef("%s: want 1 to %d", quote(s), int64(benchMost))
	}
	return n, err
}

// intOf is a flag with a number from 1 to most.
func intOf(to *int, name, alias, usage string, most int64) cli.Flag {
	return flagOf(to, name, alias, usage, func(s string) (int, error) {
		n, err := value.ParseCount(s)
		if err == nil && (n == 0 || n > most) {
			return 0, usagef("%s: want 1 to %d", quote(s), most)
		}
		return int(n), err
	})
}

// sizeOf is a flag with a size of at least so many bytes, which fits a record.
func sizeOf(to *int, name, usage string, least int) cli.Flag {
	const most = 512 << 20
	return flagOf(to, name, "", usage, func(s string) (int, error) {
		n, err := value.ParseSize(s)
		if err == nil && (n < int64(least) || n > most) {
			return 0, usagef("%s: want %d to %d bytes", quote(s), least, most)
		}
		return int(n), err
	})
}

func runBenchProduce(ctx context.Context, e *Env, o benchOptions) error {
	return e.inScratch(ctx, o, func(t *engine.Topic) error {
		res, err := gauge.Produce(ctx, t, o.load)
		if err != nil {
			return err
		}
		return o.printRate(e, "produce", res)
	})
}

func runBenchConsume(ctx context.Context, e *Env, o benchOptions) error {
	if o.partitions != nil {
		return usagef("-p chooses among the partitions of a TOPIC, and none is named")
	}
	return e.inScratch(ctx, o, func(t *engine.Topic) error {
		if err := gauge.Fill(ctx, t, o.load); err != nil {
			return err
		}
		res, err := gauge.ConsumeLoad(ctx, t, o.load)
		if err != nil {
			return err
		}
		return o.printRate(e, "consume", res)
	})
}

// runBenchTopic reads a topic that is there.
func runBenchTopic(ctx context.Context, e *Env, o benchOptions, name string) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	t, err := root.Topic(name)
	if err != nil {
		return err
	}
	numbers := t.Numbers()
	if o.partitions != nil {
		numbers = nil
		for n := range o.partitions.All() {
			if _, err := t.Partition(n); err != nil {
				return err
			}
			numbers = append(numbers, n)
		}
	}
	res, err := gauge.Consume(ctx, t, numbers)
	if err != nil {
		return err
	}
	return o.printRate(e, "consume", res)
}

func runBenchLatency(ctx context.Context, e *Env, o benchOptions) error {
	return e.inScratch(ctx, o, func(t *engine.Topic) error {
		took, err := gauge.Latency(ctx, t, o.load, o.rate.PerSecond())
		if err != nil {
			return err
		}
		table := newTable(e, o.table, columnsOf("bench", "records", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "verified")...)
		micros := func(q float64) int64 { return took.Quantile(q).Microseconds() }
		if err := table.row("latency", len(took), micros(0.5), micros(0.9), micros(0.99), micros(0.999), micros(1), len(took)); err != nil {
			return err
		}
		return table.close()
	})
}

// printRate prints what a measurement of many records came to.
func (o *benchOptions) printRate(e *Env, name string, res gauge.Result) error {
	columns := columnsOf("bench", "records", "bytes", "seconds", "records_per_second", "bytes_per_second", "verified")
	columns[2].kind, columns[5].kind = bytesColumn, bytesColumn
	table := newTable(e, o.table, columns...)
	seconds := max(res.Elapsed.Seconds(), 1e-6)
	per := func(n int64) int64 { return int64(float64(n) / seconds) }
	if err := table.row(name, res.Records, res.Bytes, math.Round(seconds*1e6)/1e6, per(res.Records), per(res.Bytes), res.Verified); err != nil {
		return err
	}
	return table.close()
}
