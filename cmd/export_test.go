package cmd

import (
	"context"

	"github.com/urfave/cli/v2"
)

// What tests outside the package need of its inside.

// Finish is how Main ends.
func (e *Env) Finish(ctx context.Context, err error) int { return e.finish(ctx, err) }

// NewApp is the command tree.
func NewApp(e *Env) *cli.App { return newApp(e) }
