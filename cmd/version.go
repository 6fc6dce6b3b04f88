package cmd

import (
	"encoding/json"
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
	commit := commit()
	out := e.Out()
	if asJSON {
		line, err := json.Marshal(struct {
			Version string `json:"version"`
			Commit  string `json:"commit"`
			Go      string `json:"go"`
			OS      string `json:"os"`
			Arch    string `json:"arch"`
		}{Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH})
		if err != nil {
			return err
		}
		_, err = out.Write(append(line, '\n'))
		return err
	}
	_, err := out.WriteString("klog " + Version + " (" + commit + ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")\n")
	return err
}

// commit is the revision that this program was built from.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
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
		return "unknown"
	}
	return revision[:min(12, len(revision))] + modified
}
