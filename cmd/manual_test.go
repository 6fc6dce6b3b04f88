package cmd_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/format"
	"github.com/klog-project/klog/cmd/value"
)

func manual(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("manual/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each format in an example can be written, and read where the example reads.
func TestManualFormatsAreValid(t *testing.T) {
	found := 0
	for _, m := range regexp.MustCompile(`klog (\w+) \w+ -F '([^']+)'`).FindAllStringSubmatch(manual(t, "formats.txt"), -1) {
		found++
		if _, err := format.Compile(m[2], time.UTC); err != nil {
			t.Error(err)
		}
		if m[1] == "produce" {
			if _, err := format.CompileInput(m[2], format.Options{}); err != nil {
				t.Error(err)
			}
		}
	}
	if found < 6 {
		t.Errorf("%d examples", found)
	}
}

// Each directive of strftime that the page names is known, and no other letter is.
func TestManualNamesAllOfStrftime(t *testing.T) {
	text := manual(t, "formats.txt")
	_, line, ok := strings.Cut(text, "strftime knows ")
	if !ok {
		t.Fatal("no line about strftime")
	}
	line, _, _ = strings.Cut(line, ",")
	for c := byte('A'); c <= 'z'; c++ {
		if c > 'Z' && c < 'a' {
			continue
		}
		_, err := format.Compile("%d{strftime[%"+string(c)+"]}", time.UTC)
		if named := strings.Contains(line+" ", "%"+string(c)+" "); named != (err == nil) {
			t.Errorf("%%%c: named %v, %v", c, named, err)
		}
	}
}

// Each time and position in the lists of the page is taken.
func TestManualTimesAreValid(t *testing.T) {
	_, times, ok := strings.Cut(manual(t, "positions.txt"), "\nTIMES\n\n")
	if !ok {
		t.Fatal("no list of times")
	}
	found := 0
	for line := range strings.Lines(times) {
		if line == "\n" {
			break
		}
		const column = 34 // where the explanations begin
		for s := range strings.SplitSeq(line[:min(column, len(line)-1)], "   ") {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			found++
			if _, err := value.ParseTime(s, time.Now(), time.UTC); err != nil {
				t.Error(err)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d times", found)
	}
}
