package cmd

import (
	"fmt"
	"slices"
	"strings"
)

// dumper prints rows of files of different kinds.
type dumper struct {
	e       *Env
	o       dumpOptions
	name    string // of the file that is dumped
	columns []dumpColumn
	table   *table
	keep    []int // columns that are shown
	damaged int   // rows of damaged data
}

// dumpColumn is a column of a dump. An extra one is shown on a terminal only with -v.
type dumpColumn struct {
	column
	extra bool
}

// begin makes the rows that follow those of the current file, with these columns.
func (d *dumper) begin(columns []dumpColumn) error {
	screen := !d.o.json && d.e.IsTerminal(d.e.Stdout)
	if !screen && d.table != nil && slices.Equal(columns, d.columns) {
		return nil
	}
	if err := d.finish(); err != nil {
		return err
	}
	d.columns, d.keep = columns, d.keep[:0]
	shown := []column{{name: "file"}}
	if screen {
		shown = nil
		if _, err := d.e.Out().WriteString(oneLine(d.name) + ":\n"); err != nil {
			return err
		}
	}
	for i, c := range columns {
		if !screen || !c.extra || d.e.IsVerbose() {
			shown = append(shown, c.column)
			d.keep = append(d.keep, i)
		}
	}
	d.table = newTable(d.e, d.o.tableOptions, shown...)
	return nil
}

// row prints one row, without the file's name, which it adds.
func (d *dumper) row(cells ...any) error {
	if len(cells) != len(d.columns) {
		panic(fmt.Sprintf("a row of %d cells for %d columns", len(cells), len(d.columns)))
	}
	shown := make([]any, 0, len(cells)+1)
	if !d.table.screen {
		shown = append(shown, d.name)
	}
	for _, i := range d.keep {
		shown = append(shown, d.cell(d.columns[i].kind, cells[i]))
	}
	return d.table.row(shown...)
}

// longCell is how much of a text a table on a terminal shows.
const longCell = 40

// cell fits a cell to where it is shown: JSON has numbers as they lie on disk, rows
// have "-" for a time that is none, and a terminal the beginning of a long text.
func (d *dumper) cell(kind columnKind, c any) any {
	if n, ok := integer(c); ok && kind == timeColumn && n < 0 && !d.o.json {
		return nil
	}
	if s, ok := c.(string); ok && d.table.screen && len(s) > longCell {
		return strings.ToValidUTF8(s[:longCell], "") + "…"
	}
	return c
}

// finish ends the table of the last file.
func (d *dumper) finish() error {
	if d.table == nil {
		return nil
	}
	err := d.table.close()
	if err == nil && d.table.screen {
		_, err = d.e.Out().WriteString("\n")
	}
	d.table = nil
	return err
}
