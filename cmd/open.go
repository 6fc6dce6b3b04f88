package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// openRoot opens the root for reading; it creates nothing.
func (e *Env) openRoot() (*engine.Root, error) {
	dir, err := e.Root()
	if err != nil {
		return nil, err
	}
	return engine.Open(dir, e.engineOptions())
}

// createRoot opens the root for writing and makes it where it is missing.
func (e *Env) createRoot() (*engine.Root, error) {
	dir, err := e.Root()
	if err != nil {
		return nil, err
	}
	return engine.Create(dir, e.engineOptions())
}

// errNoDirectory: the partition's directory is not there.
var errNoDirectory = errors.New("no such partition directory")

// openPartitionDir opens a partition by the path of its directory, for reading.
func (e *Env) openPartitionDir(dir string) (*engine.Partition, error) {
	p, err := engine.OpenPartitionDir(dir, e.engineOptions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withStatus(ExitNotFound, fmt.Errorf("%s: %w", dir, errNoDirectory))
	}
	return p, err
}

// dirHint helps a user who has named a partition's directory without its path.
func dirHint(err error, name string) string {
	if _, _, ok := segments.ParsePartitionDir(name); !ok || !errors.Is(err, engine.ErrUnknownTopic) {
		return ""
	}
	if _, err := engine.OpenPartitionDir(name, engine.Options{}); err != nil {
		return ""
	}
	return "a directory is named with its path: ." + string(filepath.Separator) + name
}

// engineOptions are the engine's options as flags and environment say.
func (e *Env) engineOptions() engine.Options {
	o := engine.Options{Notice: e.Notice, Now: e.Now, Program: e.program, Hold: e.hold}
	if timeout, set := e.LockTimeout(); set {
		o.LockTimeout = max(timeout, 1) // 0 means the default to the engine, not to the user
	}
	return o
}

// programLine is the command line as lock files show it.
func programLine(args []string) string {
	const longest = 200
	s := oneLine(strings.Join(append([]string{"klog"}, args...), " "))
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	return s
}

// missing reports whether err is about a root, topic or partition that is not there.
func missing(err error) bool {
	return errors.Is(err, engine.ErrNoRoot) || errors.Is(err, engine.ErrUnknownTopic) ||
		errors.Is(err, engine.ErrUnknownPartition) || errors.Is(err, engine.ErrTopicGone)
}

// engineHints are the lines that help with an error of the engine.
func (e *Env) engineHints(err error) []string {
	var all []string
	var topic *engine.UnknownTopicError
	if errors.As(err, &topic) && topic.Near != "" {
		all = append(all, "did you mean "+topic.Near+"?")
	}
	if missing(err) && e.UsesDefaultRoot() && e.Geteuid() == 0 && e.Getenv("SUDO_USER") != "" {
		all = append(all, "under sudo the logs are looked for in "+systemRoot+", not in those of "+oneLine(e.Getenv("SUDO_USER"))+"; -R DIR names them")
	}
	if errors.Is(err, engine.ErrSharedFS) {
		all = append(all, "klog doctor --enable-shared tries whether it is fit; or run klog on the host that has the disk")
	}
	if who := vfs.DescribePermission(vfs.OS, err); who != "" {
		all = append(all, who)
	}
	return all
}
