package cmd

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klog-project/klog/engine"
	"github.com/urfave/cli/v2"
)

// toyOptions is what the toy commands below were told.
type toyOptions struct {
	count   int64
	offset  string
	keyDel  string
	json    bool
	follow  bool
	configs []string
	codec   string
	args    []string
}

// toyApp is a tree with every kind of flag: tail, and topic create.
func toyApp(e *Env, got *toyOptions) *cli.App {
	app := newApp(e)
	app.Commands = []*cli.Command{newHelpCommand(e), newVersionCommand(e), newCompletionCommand(e)}
	action := func(c *cli.Context) error {
		got.args = c.Args().Slice()
		return nil
	}
	app.Commands = append(app.Commands, &cli.Command{
		Name:      "tail",
		ArgsUsage: "TOPIC [MORE...]",
		Flags: []cli.Flag{
			countFlag(&got.count, "count", "n", "`N` records"),
			stringFlag(&got.offset, "offset", "o", "from `EXPR`"),
			flagOf(&got.keyDel, "key-delimiter", "K", "between key and value", anyText),
			choiceFlag(&got.codec, "compress", "z", "with `CODEC`", "none", "gzip"),
			switchFlag(&got.json, "json", "J", "JSON"),
			switchFlag(&got.follow, "follow", "f", "go on"),
		},
		Action: action,
	}, &cli.Command{
		Name: "topic",
		Subcommands: []*cli.Command{{
			Name:      "create",
			ArgsUsage: "NAME",
			Flags:     []cli.Flag{stringsFlag(&got.configs, "config", "", "`K=V`")},
			Action:    action,
		}},
	})
	return app
}

// runToy runs one command line against the toy tree.
func runToy(t testing.TB, args ...string) (toyOptions, *Env, error) {
	t.Helper()
	var got toyOptions
	e := nullEnv(t)
	err := run(t.Context(), e, toyApp(e, &got), args)
	return got, e, err
}

func TestFlagsInAnyOrder(t *testing.T) {
	tail := func(o toyOptions, args ...string) toyOptions {
		o.args = args
		return o
	}
	for line, want := range map[string]toyOptions{
		"tail orders -n 5":                        tail(toyOptions{count: 5}, "orders"),
		"tail -n 5 orders":                        tail(toyOptions{count: 5}, "orders"),
		"tail orders -n5":                         tail(toyOptions{count: 5}, "orders"),
		"tail --count=5 orders":                   tail(toyOptions{count: 5}, "orders"),
		"tail orders --count 5":                   tail(toyOptions{count: 5}, "orders"),
		"tail -n 5 -- orders":                     tail(toyOptions{count: 5}, "orders"),
		"-R /x tail orders -n 5":                  tail(toyOptions{count: 5}, "orders"),
		"tail -q orders --root=/x -n 5":           tail(toyOptions{count: 5}, "orders"),
		"--root=/x -q tail orders -n 5":           tail(toyOptions{count: 5}, "orders"),
		"tail orders -Jn2":                        tail(toyOptions{count: 2, json: true}, "orders"),
		"tail orders -fJn 2":                      tail(toyOptions{count: 2, json: true, follow: true}, "orders"),
		"tail orders -qJ":                         tail(toyOptions{json: true}, "orders"),
		"tail orders -o -5":                       tail(toyOptions{offset: "-5"}, "orders"),
		"tail orders -o-5":                        tail(toyOptions{offset: "-5"}, "orders"),
		"tail orders --offset -5":                 tail(toyOptions{offset: "-5"}, "orders"),
		"tail orders -K=":                         tail(toyOptions{keyDel: "="}, "orders"),
		"tail orders --key-delimiter=":            tail(toyOptions{}, "orders"),
		"tail orders -n 1 -n 2 --count 3":         tail(toyOptions{count: 3}, "orders"),
		"tail - orders":                           tail(toyOptions{}, "-", "orders"),
		"tail -- -rf -n 5":                        tail(toyOptions{}, "-rf", "-n", "5"),
		"tail a -- -- b":                          tail(toyOptions{}, "a", "--", "b"),
		"tail --json=false a":                     tail(toyOptions{}, "a"),
		"tail --json=true a":                      tail(toyOptions{json: true}, "a"),
		"tail -z gzip a":                          tail(toyOptions{codec: "gzip"}, "a"),
		"tail help":                               tail(toyOptions{}, "help"),
		"tail count -n 1":                         tail(toyOptions{count: 1}, "count"),
		"topic create x --config a=b --config c=": tail(toyOptions{configs: []string{"a=b", "c="}}, "x"),
		"topic --quiet create --config p=a,b x":   tail(toyOptions{configs: []string{"p=a,b"}}, "x"),
		"topic create -- -rf":                     tail(toyOptions{}, "-rf"),
		"-- topic create x":                       tail(toyOptions{}, "x"),
		"topic -- create -x":                      tail(toyOptions{}, "-x"),
	} {
		got, _, err := runToy(t, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(toyOptions{})); d != "" {
			t.Errorf("%s: (-want +got)\n%s", line, d)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for line, want := range map[string][2]string{
		"tali":                     {`unknown command "tali"`, "did you mean tail?"},
		"zzzzzz":                   {`unknown command "zzzzzz"`, "there are: "},
		"topic creat x":            {`unknown command "creat"`, "did you mean create?"},
		"topic":                    {"which command?", "there are: create"},
		"tail orders --nosuch":     {`unknown flag "--nosuch"`, "klog help tail lists its flags"},
		"tail orders --cuont 5":    {`unknown flag "--cuont"`, "did you mean --count?"},
		"tail orders -Q":           {`unknown flag "-Q"`, "klog help tail lists its flags"},
		"tail orders -count 5":     {`unknown flag "-c"`, "did you mean --count?"},
		"tail -5 orders":           {`unknown flag "-5"`, "did you mean -n 5?"},
		"-n 5 tail orders":         {`unknown flag "-n"`, "the flags of a command stand behind its name"},
		"tail orders -n":           {"-n: it needs a value", ""},
		"tail orders --count":      {"--count: it needs a value", ""},
		"tail orders -n x":         {`--count: count "x": `, ""},
		"tail orders -n=5":         {`--count: count "=5": `, ""},
		"tail orders --json=maybe": {"--json: it is on or off and takes no value", ""},
		"tail orders -z brotli":    {`--compress: "brotli": want none or gzip`, ""},
		"tail":                     {"missing argument TOPIC", "klog help tail"},
		"topic create":             {"missing argument NAME", ""},
		"topic create a b":         {`unexpected argument "b"`, ""},
		"tail ---json a":           {`unknown flag "---json"`, "did you mean --json?"},
		"tail --j a":               {`unknown flag "--j"`, ""},
		"tail --=x a":              {`unknown flag "--"`, ""},
	} {
		_, _, err := runToy(t, strings.Fields(line)...)
		var usage *usageError
		if !errors.As(err, &usage) || exitCode(err) != ExitUsage {
			t.Errorf("%s: %v is no usage error", line, err)
			continue
		}
		if !strings.HasPrefix(usage.msg, want[0]) || !strings.Contains(usage.hint, want[1]) {
			t.Errorf("%s: got %q, hint %q, want %q", line, usage.msg, usage.hint, want)
		}
	}
}

func TestArgsBeforeDash(t *testing.T) {
	for line, want := range map[string]int{
		"tail a b":             -1,
		"tail a -- b -c":       1,
		"tail -- a":            0,
		"tail a b -n 1 -- c d": 2,
	} {
		_, e, err := runToy(t, strings.Fields(line)...)
		if got := e.ArgsBeforeDash(); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", line, got, err, want)
		}
	}
}

// FuzzFlags: any argument vector is run or refused, but never a fault.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{
		"tail\norders\n-Jn2", "tail\n--count=5\n--\n-x", "topic\ncreate\n--config\na=b", "-R\n/x\nhelp", "--help",
		"tail\n-", "tail\n---", "tail\n-\xff", "--version", "tail\n-n\n", "help\ntopic", "tail\n-h", "topic\n-é=é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args := strings.Split(s, "\n")
		if _, _, err := runToy(t, args...); err != nil && exitCode(err) != ExitUsage {
			t.Errorf("%q: %v is no usage error", args, err)
		}
	})
}

func TestEntriesHaveTheNamesOfTheirCommands(t *testing.T) {
	for _, c := range entries() {
		if got := c.construct(testEnv(t)).Name; got != c.name {
			t.Errorf("the entry %s makes a command %s", c.name, got)
		}
	}
}

// TestTreeIsSound holds every command against the rules of doc.go.
func TestTreeIsSound(t *testing.T) {
	app := newApp(testEnv(t))
	global := map[string]bool{"help": true, "h": true, "version": true}
	for _, f := range app.Flags {
		for _, n := range f.Names() {
			global[n] = true
		}
	}
	walkCommands(app.Commands, nil, func(path []*cli.Command) {
		c, name := path[len(path)-1], fullName(path)
		if c.Usage == "" || strings.HasSuffix(c.Usage, ".") {
			t.Errorf("%s: usage %q: want a line without a full stop", name, c.Usage)
		}
		if len(path) == 1 && c.Category == "" && !c.Hidden {
			t.Errorf("%s: no category", name)
		}
		if len(c.Subcommands) > 0 {
			if len(c.Flags) > 0 || c.Action != nil {
				t.Errorf("%s: a command with subcommands has no flags and no action", name)
			}
			return
		}
		if c.Action == nil {
			t.Errorf("%s: no action", name)
		}
		seen := map[string]bool{}
		for _, f := range c.Flags {
			d, ok := describeFlag(f)
			if ok && (d.usage == "" || d.long == "" || d.value == "VALUE") {
				t.Errorf("%s: flag %v: want a long name, a text and a name for its value", name, f.Names())
			}
			for _, n := range f.Names() {
				if global[n] || seen[n] {
					t.Errorf("%s: flag %s: the name is taken", name, n)
				}
				seen[n] = true
			}
		}
	})
}

func TestNearest(t *testing.T) {
	for typed, want := range map[string]string{
		"ordres": "orders", "order": "orders", "odrers": "orders", "paymnets": "payments", "x": "", "entirely": "", "": "",
	} {
		if got := engine.Nearest(typed, []string{"orders", "payments"}); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
