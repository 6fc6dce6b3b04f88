package engine

import "context"

// Sync makes all that is in the partition durable, whoever appended it: what Writer.Sync
// does, for who has no Writer. It looks at the end of the log under the
// append lock, for which it waits until ctx ends.
func (p *Partition) Sync(ctx context.Context) (err error) {
	w, err := p.OpenWriter(WriterOptions{LockTimeout: -1})
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := p.config(); err != nil { // it may be another topic's of the name
		return err
	}
	if err := w.enter(ctx); err != nil {
		return err
	}
	w.dur.end, w.dur.rolled = w.tail.next, w.tail.base > 0
	w.leave()
	return w.Sync(ctx)
}
