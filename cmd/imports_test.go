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

// mayImport is the direction of imports: a package may import those named, and those
// below its own directory. What is no library is left out.
func mayImport() map[string][]string {
	return map[string][]string{
		"segments/vfs":          {},
		"segments/segmentstest": {"segments", "segments/vfs"},
		"segments":              {"segments/vfs"},
		"engine":                {"segments", "segments/vfs"},
		"cmd/value":             {},
		"cmd/lines":             {},
		"cmd/format":            {"cmd/value", "segments"},
		"cmd":                   {"engine", "segments", "segments/vfs", "cmd/value", "cmd/format", "cmd/lines"},
		"cmd/klog":              {"cmd"},
	}
}

// heavy are packages that cost every start of klog too much.
func heavy() []string {
	return []string{"net/http", "crypto/tls", "net", "log/slog", "html/template", "go/ast", "testing",
		"github.com/twmb/franz-go/pkg/kgo", "github.com/russross/blackfriday/v2", "github.com/cpuguy83/go-md2man/v2/md2man"}
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
	allowed := mayImport()
	for _, p := range goList(t, module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		may, known := allowed[name]
		for _, imp := range p.Imports {
			imp, ours := strings.CutPrefix(imp, module)
			inside := strings.HasPrefix(imp, name+"/internal/")
			if ours && !inside && known && !slices.Contains(may, imp) {
				t.Errorf("%s imports %s", name, imp)
			}
		}
		if !known && !strings.Contains(name, "/internal/") {
			t.Errorf("%s: which packages it may import is not written here", name)
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
