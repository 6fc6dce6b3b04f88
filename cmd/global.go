package cmd

import (
	"strconv"
	"time"

	"github.com/klog-project/klog/cmd/value"
	"github.com/urfave/cli/v2"
)

// newGlobalFlags are the flags of every command. They may stand anywhere before "--".
func newGlobalFlags(e *Env) []cli.Flag {
	g := &e.global
	quiet := flagOf(&g.quiet, "quiet", "q", "say nothing but errors", func(s string) (bool, error) {
		g.quietSet = true
		return strconv.ParseBool(s)
	})
	quiet.bare = true
	return []cli.Flag{
		flagOf(&g.root, "root", "R", "where the logs are: a `DIR` or file:///DIR", func(s string) (string, error) {
			g.rootSet = true
			return s, nil
		}),
		quiet,
		switchFlag(&g.verbose, "verbose", "v", "say more"),
		switchFlag(&g.noColor, "no-color", "", "no colours, also on a terminal"),
		flagOf(&g.lockTimeout, "lock-timeout", "", "wait at most `DURATION` for a lock, then end with status 5", func(s string) (time.Duration, error) {
			g.lockSet = true
			return value.ParseDuration(s)
		}),
	}
}

// takeEnvironment takes what the environment says where no flag says otherwise.
func (e *Env) takeEnvironment() error {
	g := &e.global
	if !g.quietSet {
		g.quiet = e.Getenv("KLOG_QUIET") != "" && !g.verbose
	}
	if e.Getenv("KLOG_PROFILE") != "" {
		return usagef("KLOG_PROFILE: profiles hold settings for ssh:// and kafka:// roots, which are not built into this klog; unset it")
	}
	text := e.Getenv("KLOG_LOCK_TIMEOUT")
	if g.lockSet || text == "" {
		return nil
	}
	d, err := value.ParseDuration(text)
	if err != nil {
		return usagef("KLOG_LOCK_TIMEOUT: %v", err)
	}
	g.lockTimeout, g.lockSet = d, true
	return nil
}

// LockTimeout is how long to wait for a lock; set tells whether the user said it.
func (e *Env) LockTimeout() (d time.Duration, set bool) {
	return e.global.lockTimeout, e.global.lockSet
}
