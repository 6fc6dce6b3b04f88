package cmd

import (
	"time"

	"github.com/klog-project/klog/cmd/value"
	"github.com/urfave/cli/v2"
)

// newGlobalFlags are the flags of every command. They may stand anywhere before "--".
func newGlobalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "root", Aliases: []string{"R"}, Usage: "where the logs are: a `DIR` or file:///DIR"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say nothing but errors"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say more"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours, also on a terminal"},
		&cli.StringFlag{Name: "lock-timeout", Usage: "wait at most `DURATION` for a lock, then end with status 5"},
	}
}

// takeGlobals moves the global flags, and the environment behind them, into the Env.
func (e *Env) takeGlobals(c *cli.Context) error {
	g := &e.global
	g.root, g.rootSet = c.String("root"), c.IsSet("root")
	g.quiet, g.verbose, g.noColor = c.Bool("quiet"), c.Bool("verbose"), c.Bool("no-color")
	if !c.IsSet("quiet") {
		g.quiet = e.Getenv("KLOG_QUIET") != "" && !g.verbose
	}
	if e.Getenv("KLOG_PROFILE") != "" {
		return usagef("KLOG_PROFILE: profiles hold settings for ssh:// and kafka:// roots, which are not built into this klog; unset it")
	}
	source, text := "--lock-timeout", c.String("lock-timeout")
	if !c.IsSet("lock-timeout") {
		source, text = "KLOG_LOCK_TIMEOUT", e.Getenv("KLOG_LOCK_TIMEOUT")
		if text == "" {
			return nil
		}
	}
	d, err := value.ParseDuration(text)
	if err != nil {
		return usagef("%s: %v", source, err)
	}
	g.lockTimeout, g.lockSet = d, true
	return nil
}

// LockTimeout is how long to wait for a lock; set tells whether the user said it.
func (e *Env) LockTimeout() (d time.Duration, set bool) {
	return e.global.lockTimeout, e.global.lockSet
}
