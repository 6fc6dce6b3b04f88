package cmd_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/klog-project/klog/"

// layer is how high a package stands. It may import what stands lower, and what
// stands beside it if that is a part of the same thing. -1 is a package whose place is
// not known.
func layer(name string) int {
	for i, l := range [][]string{{"segments/vfs"}, {"segments"}, {"engine"}, {"cmd/value", "cmd/format", "cmd/lines", "cmd/logfile", "cmd/feed", "cmd/show", "cmd/gauge"}, {"cmd"}, {"cmd/klog"}} {
		if slices.Contains(l, name) {
			return i
		}
	}
	for i, above := range []string{"segments/vfs/", "segments/", "engine/"} {
		if strings.HasPrefix(name, above) {
			return i // helps its parent, in tests or inside
		}
	}
	return -1
}

// heavy are packages that cost every start of klog too much.
func heavy() []string {
	return []string{
		"net/http", "crypto/tls", "net", "log/slog", "html/template", "go/ast", "testing",
		"github.com/twmb/franz-go/pkg/kgo", "github.com/russross/blackfriday/v2", "github.com/cpuguy83/go-md2man/v2/md2man",
	}
}

type listedPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func goList(t *testing.T, args ...string) []listedPackage {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command(goTool, append([]string{"list", "-tags", "urfave_cli_no_docs", "-json=ImportPath,Imports,Deps"}, args...)...).Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %s", ee.Stderr)
		}
		t.Fatal(err)
	}
	var all []listedPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range goList(t, module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "cmd/internal/") {
			continue
		}
		if layer(name) < 0 {
			t.Errorf("%s: its place among the packages is not known", name)
		}
		for _, imp := range p.Imports {
			imp, ours := strings.CutPrefix(imp, module)
			if ours && (layer(imp) > layer(name) || layer(imp) < 0) {
				t.Errorf("%s imports %s", name, imp)
			}
		}
	}
}

func TestNothingHeavyIsLinked(t *testing.T) {
	for _, p := range goList(t, module+"cmd/klog") {
		for _, dep := range p.Deps {
			if slices.Contains(heavy(), dep) {
				t.Errorf("klog links %s", dep)
			}
		}
	}
}
