// Command klog is Kafka for the shell: topics, partitions and segments as plain files.
package main

import (
	"os"

	"github.com/klog-project/klog/cmd"
)

func main() {
	deepen()
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	code := cmd.Main(ctx, e, os.Args)
	signals.Raise() // does not return when a signal ended the command
	os.Exit(code)
}

// deepen makes the stack as large as a command needs it, at once: it would double four
// times otherwise, deep in calls, and each time all frames are looked up and moved, which
// takes a twentieth of the life of a short command.
//
//go:noinline
func deepen() byte {
	var frame [20 << 10]byte
	return frame[len(os.Args)]
}
