package cmd

import "context"

// What tests outside the package need of its inside.

// Finish is how Main ends.
func (e *Env) Finish(ctx context.Context, err error) int { return e.finish(ctx, err) }

// Confirm asks before something is destroyed.
func (e *Env) Confirm(ctx context.Context, yes bool, what string) error {
	return e.confirm(ctx, yes, what)
}

// StartProgress shows that done of total bytes are done, until stop is called.
func (e *Env) StartProgress(total, done int64) (stop func()) {
	p := e.startProgress(total)
	p.add(done)
	return p.stop
}
