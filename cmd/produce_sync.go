package cmd

import (
	"math"
	"time"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
)

// syncMode is the value of --sync. The zero value is exit.
type syncMode struct {
	never bool
	batch bool
	every time.Duration // 0: no such limit
}

// While a run with --sync exit goes on, no more than this is not on disk.
const (
	exitSyncBytes = 64 << 20
	exitSyncEvery = 5 * time.Second
)

func parseSync(s string) (syncMode, error) {
	switch s {
	case "exit":
		return syncMode{}, nil
	case "never":
		return syncMode{never: true}, nil
	case "batch":
		return syncMode{batch: true}, nil
	}
	d, err := value.ParseDuration(s)
	if err != nil || d == 0 {
		return syncMode{}, usagef("%s: want never, exit, batch or a duration as 1s", quote(s))
	}
	return syncMode{every: d}, nil
}

// takeSync takes KLOG_SYNC where --sync is not given.
func (o *produceOptions) takeSync(e *Env) error {
	v := e.Getenv("KLOG_SYNC")
	if o.sync != nil || v == "" {
		return nil
	}
	m, err := parseSync(v)
	if err != nil {
		return usagef("KLOG_SYNC: %v", err)
	}
	o.sync = &m
	return nil
}

// policy is the mode together with what the topic wants.
func (m syncMode) policy(c *engine.Config) feed.Sync {
	var s feed.Sync
	switch {
	case m.never:
	case m.batch:
		s = feed.Sync{Exit: true, Batch: true}
	case m.every > 0:
		s = feed.Sync{Exit: true, Every: m.every}
	default:
		s = feed.Sync{Exit: true, Bytes: exitSyncBytes, Every: exitSyncEvery}
	}
	if c.FlushMessages < math.MaxInt64 {
		s.Messages = c.FlushMessages
	}
	if c.FlushMs < math.MaxInt64/int64(time.Millisecond) {
		flush := max(time.Duration(c.FlushMs)*time.Millisecond, 1)
		if s.Every == 0 || flush < s.Every {
			s.Every = flush
		}
	}
	return s
}
