package cmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// drawn prints a listing of every kind of cell.
func drawn(t *testing.T, terminal bool, o tableOptions) string {
	t.Helper()
	e := testEnv(t)
	e.IsTerminal = func(*os.File) bool { return terminal }
	tab := newTable(e, o, column{name: "topic"}, column{name: "size_bytes", kind: bytesColumn}, column{name: "since", kind: timeColumn},
		column{name: "replicas"}, column{name: "config"}, column{name: "end"})
	rows := [][]any{
		{"orders", int64(1536), int64(1764547200123), []int32{1, 2}, pairs{{"a", "b"}, {"c", "d"}}, 7},
		{"t\ta\\b\n\x1b", 0, nil, []int32{}, pairs(nil), 12},
	}
	for _, r := range rows {
		if err := tab.row(r...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.close(); err != nil {
		t.Fatal(err)
	}
	if err := e.flush(); err != nil {
		t.Fatal(err)
	}
	return printed(t, e.Stdout)
}

func TestTableInAPipe(t *testing.T) {
	rows := "orders\t1536\t2025-12-01T00:00:00.123Z\t1,2\ta=b,c=d\t7\n" +
		`t\ta\\b\n\x1b` + "\t0\t-\t-\t-\t12\n"
	if got := drawn(t, false, tableOptions{}); got != rows {
		t.Errorf("got\n%s want\n%s", got, rows)
	}
	if got := drawn(t, false, tableOptions{headers: true}); got != "topic\tsize_bytes\tsince\treplicas\tconfig\tend\n"+rows {
		t.Errorf("with header: got\n%s", got)
	}
}

func TestTableOnATerminal(t *testing.T) {
	got := drawn(t, true, tableOptions{})
	want := strings.Join([]string{
		"TOPIC          SIZE BYTES  SINCE                     REPLICAS  CONFIG   END",
		"orders             1.5KiB  2025-12-01T00:00:00.123Z  1,2       a=b,c=d    7",
		`t\ta\\b\n\x1b          0B  -                         -         -         12`,
		"",
	}, "\n")
	if trimLines(got) != trimLines(want) {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestTableAsJSON(t *testing.T) {
	got := drawn(t, true, tableOptions{json: true})
	want := `{"topic":"orders","size_bytes":1536,"since":1764547200123,"replicas":[1,2],"config":{"a":"b","c":"d"},"end":7}` + "\n" +
		`{"topic":"t\ta\\b\n\u001b","size_bytes":0,"since":null,"replicas":[],"config":{},"end":12}` + "\n"
	if got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}

func TestJSONStringsAreValid(t *testing.T) {
	for _, s := range []string{"", "a\"b\\c", "\x00\x1f\x7f", "\u2028é", "\xff\xfe", "\r\n\t"} {
		b := appendJSONString(nil, s)
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Errorf("%q: %s: %v", s, b, err)
		}
		if text, ok := v.(string); ok && text != s {
			t.Errorf("%q: read back as %q", s, text)
		}
	}
}

func TestEmptyTablePrintsNothing(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		e := testEnv(t)
		e.IsTerminal = func(*os.File) bool { return terminal }
		if err := newTable(e, tableOptions{}, columnsOf("a")...).close(); err != nil {
			t.Fatal(err)
		}
		if err := e.flush(); err != nil {
			t.Fatal(err)
		}
		if got := printed(t, e.Stdout); got != "" {
			t.Errorf("got %q", got)
		}
	}
}

func TestScreenWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "orders": 6, "größe": 5, "e\u0301": 1, "日本語": 6, "한국": 4, "ｗ": 2, "📦x": 3, "a\u200bb": 2, "→…–": 3,
	} {
		if got := screenWidth(s); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
}

// TestWideCellsAreAligned has columns behind characters that take two.
func TestWideCellsAreAligned(t *testing.T) {
	e := testEnv(t)
	e.IsTerminal = func(*os.File) bool { return true }
	tab := newTable(e, tableOptions{}, columnsOf("name", "n", "text")...)
	for _, r := range [][]any{{"日本", 7, "x"}, {"abcdef", 12345, "longer"}} {
		if err := tab.row(r...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.close(); err != nil {
		t.Fatal(err)
	}
	if err := e.flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME    N      TEXT\n日本        7  x\nabcdef  12345  longer\n"
	if got := printed(t, e.Stdout); got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}
