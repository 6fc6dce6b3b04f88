package cmd

import (
	"context"

	"github.com/klog-project/klog/cmd/feed"
)

func runFollow(ctx context.Context, e *Env, o produceOptions, f feed.Options) error { return usagef("--follow: not in this build") }
