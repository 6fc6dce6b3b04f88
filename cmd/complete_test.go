package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

// offered completes a command line; its last word is what is typed so far.
func offered(t *testing.T, e *Env, line string) ([]string, directive) {
	t.Helper()
	var got toyOptions
	app := toyApp(e, &got)
	app.Commands = append(app.Commands, &cli.Command{
		Name:      "alter",
		ArgsUsage: "TOPIC",
		Flags: []cli.Flag{
			stringsFlag(&got.configs, "config", "", "set `CONFIG=VALUE`"),
			stringsFlag(&got.configs, "unset", "", "unset `CONFIG`"),
			stringFlag(&got.keyDel, "tee", "T", "to `FILE`"),
		},
	})
	found, then := completeWords(e, app, strings.Split(line, " "))
	var words []string
	for _, c := range found {
		words = append(words, c.word)
	}
	return words, then
}

// rootedEnv is an Env whose root is dir.
func rootedEnv(t testing.TB, dir string) *Env {
	e := nullEnv(t)
	e.global.root, e.global.rootSet = dir, true
	return e
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	root, err := engine.Create(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orders", "other", "payments", "-rf"} {
		if _, err := root.CreateTopic(t.Context(), name, engine.TopicSpec{Partitions: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line, want string // the words, or the first of many followed by …
		then       directive
	}{
		{"ta", "tail", asWords},
		{"topic ", "create", asWords},
		{"tail ", "orders other payments", asWords},
		{"tail or", "orders", asWords},
		{"tail x", "", asWords},
		{"tail --count 5 o", "orders other", asWords},
		{"tail -n 5 o", "orders other", asWords},
		{"tail -n5 o", "orders other", asWords},
		{"tail -Jn 5 o", "orders other", asWords},
		{"tail -J o", "orders other", asWords},
		{"tail --nosuch o", "orders other", asWords},
		{"tail -- ", "-rf orders other payments", asWords},
		{"tail ./or", "", asFolder},
		{"tail -n ", "", asWords},
		{"tail --compress ", "none gzip", asWords},
		{"tail -z g", "gzip", asWords},
		{"tail --compress=g", "--compress=gzip", asWords},
		{"tail --off", "--offset", asWords},
		{"tail orders --off", "--offset", asWords},
		{"tail --offset ", "earliest latest", asWords},
		{"tail -o ear", "earliest", asWords},
		{"tail --json --j", "", asWords},
		{"tail --qui", "--quiet", asWords},
		{"--ro", "--root", asWords},
		{"alter --config segment.b", "segment.bytes=", noSpace},
		{"alter --config=segment.b", "--config=segment.bytes=", noSpace},
		{"alter --unset segment.b", "segment.bytes", asWords},
		{"alter --config a=b --con", "--config", asWords},
		{"alter -T ", "", asFiles},
		{"alter orders ", "", asWords},
		{"-R /nowhere tail ", "", asWords},
		{"--root=/nowhere tail ", "", asWords},
		{"help ta", "tail", asWords},
		{"help topic ", "create", asWords},
		{"help exit", "exit-status", asWords},
		{"completion ", "bash zsh fish", asWords},
		{"nosuch ", "help version …", asWords},
		{"__", "", asWords},
	} {
		got, then := offered(t, rootedEnv(t, dir), c.line)
		want, open := strings.CutSuffix(c.want, " …")
		words := strings.Fields(want)
		if open {
			got = got[:min(len(words), len(got))]
		}
		if !slices.Equal(got, words) || then != c.then {
			t.Errorf("%q: got %q %s, want %q %s", c.line, got, then, c.want, c.then)
		}
	}
}

func FuzzComplete(f *testing.F) {
	f.Add("tail\n-n\n5\n--\nx")
	f.Add("help\n")
	f.Add("--root=\n-\xff")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		e := rootedEnv(t, dir)
		completeWords(e, newApp(e), strings.Split(s, "\n"))
	})
}
