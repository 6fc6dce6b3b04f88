package cmd

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/urfave/cli/v2"
)

// produceOptions are the flags of produce. Pointers are nil where a flag is not given.
type produceOptions struct {
	topic string
	files []string

	partition     int64 // -1: not given
	partitioner   engine.PartitionerKind
	keepPartition bool

	key           *string
	keyDelimiter  []byte
	keyJSON       string
	keyRegexp     *regexp.Regexp
	timestamp     *time.Time
	timestampJSON string
	headers       []segments.Header

	json      bool
	format    *string
	delimiter []byte // nil: a newline
	null      bool
	emptyNull bool
	whole     bool
	follow    string

	codec     *segments.Codec
	linger    time.Duration
	batchSize int64
	rate      value.Rate
	oversize  feed.Oversize
	acks      acks
	sync      *syncMode
	timeout   *time.Duration

	printOffset bool
	tee         bool
	noCreate    bool
}

func newProduceCommand(e *Env) *cli.Command {
	o := produceOptions{partition: -1, batchSize: defaultBatchSize}
	return &cli.Command{
		Name:        "produce",
		Category:    categoryRecords,
		Usage:       "append records from standard input or files",
		ArgsUsage:   "TOPIC [FILE...]",
		Description: produceText,
		Flags:       produceFlags(e, &o),
		Action: func(c *cli.Context) error {
			o.topic, o.files = c.Args().First(), c.Args().Tail()
			return runProduce(c.Context, e, o)
		},
	}
}

func runProduce(ctx context.Context, e *Env, o produceOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.takeSync(e); err != nil {
		return err
	}
	f, err := o.feedOptions(e)
	if err != nil {
		return err
	}
	if o.timestamp != nil {
		e.tellTime("--timestamp", *o.timestamp)
	}
	if o.follow != "" {
		return runFollow(ctx, e, o, f)
	}
	if f.Inputs, err = o.inputs(e); err != nil {
		return err
	}
	t, err := openTarget(ctx, e, o)
	if err != nil {
		return err
	}
	t.configure(e, &o, &f)
	ctx, done := o.output(ctx, e, &f)
	defer done()
	watch := watchFeed(e, &f, inputSize(f.Inputs))
	defer watch.stop()
	res, err := feed.Run(ctx, f)
	return watch.end(res, err)
}

// feedWatch tells the user of a run what goes on and what came of it.
type feedWatch struct {
	e        *Env
	progress atomic.Pointer[progress]
}

// watchFeed lets a run over total bytes tell, -1 when nobody knows. Progress begins when the run first waits, or has more to
// do than a moment's work: before that nobody would see it.
func watchFeed(e *Env, f *feed.Options, total int64) *feedWatch {
	w := &feedWatch{e: e}
	f.Notice = func(how feed.Oversize, line string) {
		if how == feed.Skip {
			e.Notice(line)
		} else {
			e.Verbose(line)
		}
	}
	f.Begun = func() {
		e.suspendInOrder()
		// Of a pipe nobody knows how long it is, and a terminal is being typed on.
		w.progress.Store(e.startCounting(total, total >= 0))
	}
	f.Progress = func(n int64) {
		if p := w.progress.Load(); p != nil {
			p.add(n)
		}
	}
	return w
}

// stop ends the progress line.
func (w *feedWatch) stop() {
	if p := w.progress.Swap(nil); p != nil {
		p.stop()
	}
}

// end says what a run has come to and makes the status of it.
func (w *feedWatch) end(res feed.Result, err error) error {
	w.stop()
	e := w.e
	if res.Changed > 0 {
		e.Notice(plural(res.Changed, "record was", "records were") + " over max.message.bytes and changed as --oversize says")
	}
	var stop *feed.StopError
	if errors.As(err, &stop) {
		return w.stopped(stop)
	}
	if err != nil {
		return err
	}
	e.Verbose(plural(res.Safe, "record", "records") + ", " + value.FormatSize(res.Bytes) + " appended")
	switch {
	case res.LeftOut == 0:
		return nil
	case res.Safe == 0:
		return status(ExitFailure)
	}
	return status(ExitPartial)
}

// stopped is the error of a run that did not come to its end. A signal ends klog
// without a word, so the count is said here.
func (w *feedWatch) stopped(stop *feed.StopError) error {
	if silent(stop.Err) && !errors.Is(stop.Err, errBrokenPipe) {
		w.e.say(stop.Err.Error() + ": " + stop.Count())
	}
	var sync *feed.SyncError
	switch {
	case errors.Is(stop.Err, engine.ErrTopicGone) && stop.Safe > 0:
		return withHint(stop, "what is counted is where the topic is now: klog topic undelete brings back a deleted one")
	case errors.As(stop.Err, &sync):
		return withHint(stop, "the records are in the log, but a power failure may take those that are not on disk")
	}
	return stop
}

// plural is "1 record" or "2 records".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}
