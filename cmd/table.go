package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/klog-project/klog/cmd/value"
)

// columnKind says how the values of a column are shown.
type columnKind int

const (
	plainColumn columnKind = iota // text left, numbers right
	bytesColumn                   // an integer: human on a terminal, exact elsewhere
	timeColumn                    // milliseconds: RFC 3339 in rows, a number in JSON
)

// column is one field of a listing. Its name is that of the JSON field.
type column struct {
	name string
	kind columnKind
}

// pairs is a cell of names and values, in order: k=v,k=v in rows, an object in JSON.
type pairs [][2]string

// cellValue is a cell of a kind that one command alone has.
type cellValue interface {
	text() string // in rows, escaped
	appendJSON(b []byte) []byte
}

// tableOptions are the flags of a listing.
type tableOptions struct {
	json    bool // JSON lines
	headers bool // column names also in a pipe
}

// table prints a listing: aligned columns with a header on a terminal, tab-separated
// rows in a pipe, JSON lines with -J. Cells may be string, bool, integers, float64,
// []string, []int32, pairs, cellValue, or nil for null. Rows in a pipe are printed as they come,
// on a terminal at the end.
type table struct {
	e       *Env
	o       tableOptions
	columns []column
	rows    [][]string // kept for the terminal
	screen  bool
	begun   bool
}

// newTable begins a listing of the given columns.
func newTable(e *Env, o tableOptions, columns ...column) *table {
	return &table{e: e, o: o, columns: columns, screen: !o.json && e.IsTerminal(e.Stdout)}
}

// columnsOf are plain columns of these names.
func columnsOf(names ...string) []column {
	cs := make([]column, len(names))
	for i, n := range names {
		cs[i].name = n
	}
	return cs
}

// row adds a row with one cell for each column.
func (t *table) row(cells ...any) error {
	if len(cells) != len(t.columns) {
		panic(fmt.Sprintf("a row of %d cells for %d columns", len(cells), len(t.columns)))
	}
	if t.o.json {
		_, err := t.e.Out().Write(t.appendJSON(t.e.Out().AvailableBuffer(), cells))
		return err
	}
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = t.text(t.columns[i].kind, c)
	}
	if t.screen {
		t.rows = append(t.rows, texts)
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	return t.line(strings.Join(texts, "\t"))
}

// close ends the listing.
func (t *table) close() error {
	switch {
	case t.o.json:
		return nil
	case !t.screen:
		return t.begin()
	case len(t.rows) == 0 && !t.o.headers:
		return nil
	}
	return t.draw()
}

// begin writes the header of tab-separated rows, once, if it was asked for.
func (t *table) begin() error {
	if t.begun || !t.o.headers {
		return nil
	}
	t.begun = true
	return t.line(strings.Join(t.names(), "\t"))
}

func (t *table) line(text string) error {
	_, err := t.e.Out().WriteString(text + "\n")
	return err
}

func (t *table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// draw writes the aligned table: two spaces between columns, nothing behind the last.
func (t *table) draw() error {
	header := t.names()
	for i, name := range header {
		header[i] = strings.ToUpper(strings.ReplaceAll(name, "_", " "))
	}
	widths, right := make([]int, len(header)), make([]bool, len(header))
	for i, c := range t.columns {
		right[i] = c.kind == bytesColumn || c.kind == plainColumn && t.numeric(i)
		widths[i] = screenWidth(header[i])
		for _, r := range t.rows {
			widths[i] = max(widths[i], screenWidth(r[i]))
		}
	}
	if err := t.line(aligned(header, widths, make([]bool, len(header)))); err != nil {
		return err
	}
	for _, r := range t.rows {
		if err := t.line(aligned(r, widths, right)); err != nil {
			return err
		}
	}
	return nil
}

// aligned are the cells of one row as a line.
func aligned(cells []string, widths []int, right []bool) string {
	var b strings.Builder
	for i, c := range cells {
		gap := strings.Repeat(" ", widths[i]-screenWidth(c))
		switch {
		case right[i]:
			b.WriteString(gap + c)
		case i+1 < len(cells):
			b.WriteString(c + gap)
		default:
			b.WriteString(c)
		}
		if i+1 < len(cells) {
			b.WriteString("  ")
		}
	}
	return b.String()
}

func (t *table) numeric(col int) bool {
	found := false
	for _, r := range t.rows {
		if r[col] == "-" {
			continue
		}
		if _, err := strconv.ParseFloat(r[col], 64); err != nil {
			return false
		}
		found = true
	}
	return found
}

// text is a cell as rows show it.
func (t *table) text(kind columnKind, cell any) string {
	if n, ok := integer(cell); ok {
		switch {
		case kind == bytesColumn && t.screen:
			return value.FormatSize(n)
		case kind == timeColumn:
			return value.FormatTime(n, t.e.Location)
		}
		return strconv.FormatInt(n, 10)
	}
	switch c := cell.(type) {
	case nil:
		return "-"
	case string:
		return escapeCell(c)
	case bool:
		return strconv.FormatBool(c)
	case float64:
		return strconv.FormatFloat(c, 'g', -1, 64)
	case []string:
		return joinCell(len(c), func(i int) string { return escapeCell(c[i]) })
	case []int32:
		return joinCell(len(c), func(i int) string { return strconv.Itoa(int(c[i])) })
	case pairs:
		return joinCell(len(c), func(i int) string { return escapeCell(c[i][0] + "=" + c[i][1]) })
	case cellValue:
		return c.text()
	}
	panic(fmt.Sprintf("a table cell of type %T", cell))
}

// joinCell is n parts with commas between; a list of nothing shows as "-".
func joinCell(n int, part func(int) string) string {
	if n == 0 {
		return "-"
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(part(i))
	}
	return b.String()
}

// integer is the value of any kind of integer cell.
func integer(cell any) (int64, bool) {
	switch n := cell.(type) {
	case int:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// escapeCell keeps a value inside its cell: tabs, newlines and what would move a
// terminal's cursor are written as escapes, the backslash twice.
func escapeCell(s string) string {
	return oneLine(strings.ReplaceAll(s, `\`, `\\`))
}
