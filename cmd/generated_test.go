package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFilesAreCurrent compares what is committed with what the command tree
// makes.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	want := map[string]string{
		"completions/klog.bash": bashCompletion,
		"completions/klog.zsh":  zshCompletion,
		"completions/klog.fish": fishCompletion,
	}
	for name, text := range manPages(newApp(testEnv(t))) {
		want[filepath.Join("man", name)] = text
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Errorf("%v: make generate makes it", err)
		} else if string(got) != text {
			t.Errorf("%s is not what the command tree makes: make generate", name)
		}
	}
	for _, dir := range []string{"man", "completions"} {
		entries, err := os.ReadDir(filepath.Join("..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range entries {
			if _, ok := want[filepath.Join(dir, d.Name())]; !ok {
				t.Errorf("%s/%s is of no command: git rm it", dir, d.Name())
			}
		}
	}
}

func TestRoff(t *testing.T) {
	for s, want := range map[string]string{
		`a\n-x`: `a\en\-x`, ".TH\n'br": "\\&.TH\n\\&'br", "a…": "a...",
	} {
		if got := roff(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestManText(t *testing.T) {
	got := manText(manual{"x", "7", "about x\n\nONE\n\nA paragraph\ngoes on.\n\n    an example\n\n    and more\nTWO\nLast.\n"})
	want := strings.Join([]string{
		".SH NAME", `klog\-x \- about x`,
		".SH ONE", "A paragraph goes on.", ".PP", ".RS 4", ".nf", "an example", "", "and more", ".fi", ".RE",
		".SH TWO", "Last.", "",
	}, "\n")
	if _, body, _ := strings.Cut(got, "\n.SH NAME"); ".SH NAME"+body != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
