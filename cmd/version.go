package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// Version is the version of klog. Programs that share a root may differ in it: what
// they must agree on is the version of the root's format.
const Version = "0.1.0"

type versionOptions struct {
	json bool
}

func newVersionCommand(e *Env) *cli.Command {
	var o versionOptions
	return &cli.Command{
		Name:     "version",
		Category: categoryHelp,
		Usage:    "print the version",
		Flags:    []cli.Flag{jsonFlag(&o.json)},
		Action: func(*cli.Context) error {
			return runVersion(e, o)
		},
	}
}

func runVersion(e *Env, o versionOptions) error {
	return printVersion(e, o.json)
}

func printVersion(e *Env, asJSON bool) error {
	if asJSON {
		t := newTable(e, tableOptions{json: true}, columnsOf("version", "commit", "go", "os", "arch")...)
		var revision any
		if c := commit(); c != "" {
			revision = c
		}
		return t.row(Version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	built := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	if c := commit(); c != "" {
		built = c + ", " + built
	}
	_, err := e.Out().WriteString("klog " + Version + " (" + built + ")\n")
	return err
}

// commit is the revision that this program was built from, "" when that is not known.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision[:min(12, len(revision))] + modified
}
