package cmd

import (
	_ "embed"
	"strings"
)

// manual is a hand-written page: its first line says what it is, lines in capitals are
// headings, the rest is as in a command's Description. It is also a help topic.
type manual struct{ name, section, text string }

func (m manual) file() string { return "klog-" + m.name + "." + m.section }

var (
	//go:embed manual/positions.txt
	positionsManual string
	//go:embed manual/format.txt
	formatManual string
	//go:embed manual/formats.txt
	formatsManual string
)

func manuals() []manual {
	return []manual{
		{"positions", "7", positionsManual},
		{"formats", "7", formatsManual},
		{"format", "5", formatManual},
	}
}

// programDescription is what klog.1 says before the list of commands.
const programDescription = `klog keeps topics, partitions and segments as plain files in Apache Kafka's format, and works on them with no broker to run: many processes append to one partition at once, readers take no lock and change nothing.

    tail -F app.log | klog produce app
    klog tail -f app | jq .
    klog cat app --since yesterday | wc -l

Standard output carries data only; what klog has to say goes to standard error. Listings are aligned tables on a terminal, tab-separated rows in a pipe (--headers adds a line of names) and JSON lines with -J. In rows null is -, lists are joined by commas, and tabs and newlines in values are escaped.

Flags stand before or after the arguments, short ones combine and may carry their value (-Jn2), -- ends them.
`

// topicText is the page as a help topic shows it.
func (m manual) topicText() string {
	about, body, _ := strings.Cut(m.text, "\n")
	return "klog " + m.name + ": " + about + "\n" + body
}
