package cmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// confirm asks before something is destroyed. what is a sentence for people, like
// `delete topic "orders": 3 partitions, 1.5GiB`. With yes it is done without asking;
// on a terminal the user is asked; elsewhere what would be done is printed and the
// error is a usage error: nobody is there to ask. A no is an error without a message.
func (e *Env) confirm(ctx context.Context, yes bool, what string) error {
	switch {
	case yes:
		return nil
	case !e.IsTerminal(e.Stdin) || !e.IsTerminal(e.Stderr):
		e.say("would " + what)
		return &usageError{msg: "nothing was done: nobody can be asked", hint: "-y does it"}
	}
	answer, err := e.ask(ctx, e.prefix()+oneLine(what)+"? [y/N] ")
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	e.Notice("nothing was done")
	return status(ExitFailure)
}

// ask prints a question on standard error and reads one line.
func (e *Env) ask(ctx context.Context, question string) (string, error) {
	e.write(question)
	in := NewInput(ctx, e.Stdin)
	defer in.Close()
	line, err := bufio.NewReaderSize(in, 16).ReadString('\n')
	if errors.Is(err, io.EOF) {
		e.write("\n")
		return line, nil
	}
	return line, err
}
