package cmd

import (
	"context"

	"github.com/klog-project/klog/cmd/feed"
)

// output connects standard output to a run that writes to it. The context that is
// returned ends when the reader of standard output goes away: the run then stops in
// order, as for a signal.
func (o *produceOptions) output(ctx context.Context, e *Env, f *feed.Options) (context.Context, func()) {
	switch {
	case o.printOffset:
		f.Offsets = e.Out()
	case o.tee:
		f.Tee = e.Out()
	default:
		return ctx, func() {}
	}
	f.Flush = e.Out().Flush
	ctx, cancel := context.WithCancelCause(ctx)
	e.watchReader(func() { cancel(errBrokenPipe) })
	return ctx, func() { cancel(nil) }
}
