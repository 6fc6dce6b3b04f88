package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// Doctor and its helper speak in lines: a request is a verb and quoted arguments, an
// answer "ok" and a quoted result, or "error" and a quoted text. helperHello comes first
// and unasked; what a login prints before it is skipped.
const helperHello = "klog-doctor 1"

// helperNoise bounds the lines that may come before helperHello.
const helperNoise = 200

// DoctorHelper is the other process of a Doctor: it does in one directory what it is told
// on in and answers on out, until in ends. It works only in a directory that a Doctor has
// made, and touches only files in it.
func DoctorHelper(in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintln(out, helperHello); err != nil {
		return err
	}
	s := &side{fsys: vfs.OS}
	defer s.close()
	requests := bufio.NewReader(in)
	for {
		line, err := requests.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := s.serve(strings.TrimSuffix(line, "\n"))
		if err != nil {
			_, err = fmt.Fprintf(out, "error %q\n", err.Error())
		} else {
			_, err = fmt.Fprintf(out, "ok %q\n", answer)
		}
		if err != nil {
			return err
		}
	}
}

// serve does one request.
func (s *side) serve(line string) (string, error) {
	verb, args, err := parseRequest(line)
	if err != nil {
		return "", err
	}
	if verb == "enter" && len(args) == 1 {
		return "", s.enter(args[0])
	}
	if s.dir == "" {
		return "", errors.New("no directory entered")
	}
	if len(args) == 0 || !plainName(args[0]) {
		return "", fmt.Errorf("request %q names no file", line)
	}
	switch name := args[0]; {
	case verb == "lock" && len(args) == 1:
		return "", s.lock(name)
	case verb == "trylock" && len(args) == 1:
		ok, err := s.tryLock(name)
		return strconv.FormatBool(ok), err
	case verb == "unlock" && len(args) == 1:
		return "", s.unlock(name)
	case verb == "put" && len(args) == 2:
		return "", s.put(name, args[1])
	case verb == "get" && len(args) == 1:
		return s.get(name)
	case verb == "replace" && len(args) == 2:
		return "", s.replace(name, args[1])
	case verb == "storm" && len(args) == 2:
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return "", err
		}
		return "", s.storm(name, n)
	case verb == "appends" && len(args) == 5 && plainName(args[1]):
		from, err := strconv.Atoi(args[3])
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(args[4])
		if err != nil {
			return "", err
		}
		return "", s.appends(name, args[1], args[2], from, n)
	}
	return "", fmt.Errorf("unknown request %q", line)
}

// enter goes into a directory that a Doctor has made.
func (s *side) enter(dir string) error {
	if !strings.HasPrefix(filepath.Base(dir), doctorPrefix) {
		return fmt.Errorf("%s is no directory of doctor's", dir)
	}
	fi, err := s.fsys.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return &fs.PathError{Op: "enter", Path: dir, Err: errors.New("not a directory")}
	}
	s.dir = dir
	return nil
}

// plainName reports whether name is a file in the directory itself.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}

func parseRequest(line string) (verb string, args []string, err error) {
	verb, rest, _ := strings.Cut(line, " ")
	for rest != "" {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", nil, fmt.Errorf("request %q: %w", line, err)
		}
		arg, err := strconv.Unquote(quoted)
		if err != nil {
			return "", nil, fmt.Errorf("request %q: %w", line, err)
		}
		args = append(args, arg)
		rest = strings.TrimPrefix(rest[len(quoted):], " ")
	}
	return verb, args, nil
}

// A Helper is a process that runs DoctorHelper: its standard input and output, and how to
// end it at once, with SIGKILL, and wait until it is gone. Kill may be called again.
type Helper struct {
	In   io.WriteCloser
	Out  io.Reader
	Kill func() error
}

// StartHelper starts cmd, which must run DoctorHelper on its standard input and output.
func StartHelper(cmd *exec.Cmd) (*Helper, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	kill := func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // that it was killed is no news
		return err
	}
	return &Helper{In: in, Out: out, Kill: kill}, nil
}

// caller is Doctor's end of the talk with a helper.
type caller struct {
	h        *Helper
	lines    chan string // closed when the helper has ended
	patience time.Duration
}

// refusal is an error that the helper met.
type refusal struct{ text string }

func (e *refusal) Error() string { return "in the other process: " + e.text }

// call takes a helper that was just started up to the point where it takes requests.
func call(ctx context.Context, h *Helper, dir string, patience time.Duration) (*caller, error) {
	c := &caller{h: h, lines: make(chan string, helperNoise), patience: patience}
	go func() {
		defer close(c.lines)
		for sc := bufio.NewScanner(h.Out); sc.Scan(); {
			c.lines <- sc.Text()
		}
	}()
	for range helperNoise {
		line, err := c.next(ctx)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(line) == helperHello {
			_, err := c.ask(ctx, "enter", dir)
			return c, err
		}
	}
	return nil, errors.New("the other process does not speak as klog does")
}

// next waits for a line.
func (c *caller) next(ctx context.Context) (string, error) {
	t := time.NewTimer(c.patience)
	defer t.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			return "", errors.New("the other process has ended")
		}
		return line, nil
	case <-t.C:
		return "", fmt.Errorf("the other process did not answer within %v", c.patience)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ask sends a request and waits for the answer. What the helper refused is a *refusal.
func (c *caller) ask(ctx context.Context, verb string, args ...string) (string, error) {
	if err := c.send(verb, args...); err != nil {
		return "", err
	}
	return c.answer(ctx)
}

func (c *caller) send(verb string, args ...string) error {
	line := verb
	for _, a := range args {
		line += " " + strconv.Quote(a)
	}
	_, err := io.WriteString(c.h.In, line+"\n")
	return err
}

func (c *caller) answer(ctx context.Context) (string, error) {
	line, err := c.next(ctx)
	if err != nil {
		return "", err
	}
	verdict, args, err := parseRequest(line)
	switch {
	case err != nil:
		return "", err
	case verdict == "ok" && len(args) == 1:
		return args[0], nil
	case verdict == "error" && len(args) == 1:
		return "", &refusal{args[0]}
	}
	return "", fmt.Errorf("the other process answered %q", line)
}

// end ends the helper.
func (c *caller) end() {
	c.h.In.Close()
	_ = c.h.Kill()
	for range c.lines {
	}
}
