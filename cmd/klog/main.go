// Command klog is Kafka for the shell: topics, partitions and segments as plain files.
package main

import (
	"os"

	"github.com/klog-project/klog/cmd"
)

func main() {
	e := cmd.OSEnv()
	ctx, signals := cmd.Signals(e)
	code := cmd.Main(ctx, e, os.Args)
	signals.Raise() // does not return when a signal ended the command
	os.Exit(code)
}
