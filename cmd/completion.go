package cmd

import (
	_ "embed"

	"github.com/urfave/cli/v2"
)

// The scripts know nothing of klog's commands: they ask `klog __complete`.
var (
	//go:embed shell/klog.bash
	bashCompletion string
	//go:embed shell/klog.zsh
	zshCompletion string
	//go:embed shell/klog.fish
	fishCompletion string
)

func newCompletionCommand(e *Env) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Category:  categoryHelp,
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `The script completes commands, flags, topics and the names of configs. make install puts it in place; by hand:

    bash   . <(klog completion bash)                     in ~/.bashrc
    zsh    . <(klog completion zsh)                      in ~/.zshrc, after compinit
    fish   klog completion fish > ~/.config/fish/completions/klog.fish`,
		Action: func(c *cli.Context) error {
			return runCompletion(e, c.Args().First())
		},
	}
}

func runCompletion(e *Env, shell string) error {
	script, ok := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[shell]
	if !ok {
		return usagef("%s: want bash, zsh or fish", quote(shell))
	}
	_, err := e.Out().WriteString(script)
	return err
}
