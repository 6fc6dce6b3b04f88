package segments

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnknownVersion is returned by the parsers of checkpoints, snapshots and the like
// when the file says that it is of a version this program does not know. Such a file
// is not damaged; it is to be left alone.
var ErrUnknownVersion = errors.New("unknown version")

// Names of the checkpoint files of a log root. Each holds one offset a partition.
const (
	RecoveryPointName   = "recovery-point-offset-checkpoint"
	HighWatermarkName   = "replication-offset-checkpoint"
	LogStartName        = "log-start-offset-checkpoint"
	CleanerOffsetName   = "cleaner-offset-checkpoint"
	checkpointVersion   = 0
	checkpointSeparator = " \t\n\v\f\r"
)

// PartitionOffset is one line of an offset checkpoint.
type PartitionOffset struct {
	Topic     string
	Partition int32
	Offset    int64
}

// ParseOffsetCheckpoint reads an offset checkpoint:
//
//	0                     version
//	2                     number of lines that follow
//	orders 0 60           topic partition offset
//	my.topic_x-y 12 7
//
// An empty file holds no entries. As with Kafka a wrong number of lines, a line of
// another shape and another version are errors: ErrCorrupt, ErrUnknownVersion. Topics
// are what stands there; nothing says that they are valid names.
func ParseOffsetCheckpoint(data []byte) ([]PartitionOffset, error) {
	var entries []PartitionOffset
	err := parseCheckpoint(data, 3, func(f []string) error {
		p, err := strconv.ParseInt(f[1], 10, 32)
		if err != nil {
			return err
		}
		o, err := strconv.ParseInt(f[2], 10, 64)
		entries = append(entries, PartitionOffset{f[0], int32(p), o})
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// EncodeOffsetCheckpoint is the file that ParseOffsetCheckpoint reads.
func EncodeOffsetCheckpoint(entries []PartitionOffset) []byte {
	b := appendCheckpointHead(nil, len(entries))
	for _, e := range entries {
		b = append(append(b, e.Topic...), ' ')
		b = append(strconv.AppendInt(b, int64(e.Partition), 10), ' ')
		b = append(strconv.AppendInt(b, e.Offset, 10), '\n')
	}
	return b
}

func appendCheckpointHead(b []byte, n int) []byte {
	b = append(strconv.AppendInt(b, checkpointVersion, 10), '\n')
	return append(strconv.AppendInt(b, int64(n), 10), '\n')
}

// parseCheckpoint calls line with the fields of each entry of a text checkpoint.
func parseCheckpoint(data []byte, fields int, line func([]string) error) error {
	lines := splitLines(data)
	if len(lines) == 0 {
		return nil
	}
	version, err := strconv.ParseInt(lines[0], 10, 32)
	if err != nil {
		return malformedLine(1, lines[0])
	}
	if version != checkpointVersion {
		return fmt.Errorf("%w %d", ErrUnknownVersion, version)
	}
	if len(lines) == 1 {
		return nil
	}
	count, err := strconv.ParseInt(lines[1], 10, 32)
	if err != nil {
		return malformedLine(2, lines[1])
	}
	for i, text := range lines[2:] {
		f := splitFields(text)
		if len(f) != fields || line(f) != nil {
			return malformedLine(i+3, text)
		}
	}
	if got := len(lines) - 2; int64(got) != count {
		return fmt.Errorf("%w: %d entries where %d are announced", ErrCorrupt, got, count)
	}
	return nil
}

// splitLines cuts text as Java's readLine does: at LF, CR or both.
func splitLines(data []byte) []string {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	data = bytes.TrimSuffix(data, []byte("\n"))
	if len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// splitFields cuts a line at white space as Java's split does: a line that begins with
// white space has an empty first field, which no checkpoint allows.
func splitFields(s string) []string {
	f := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(checkpointSeparator, r) })
	if s != "" && strings.ContainsRune(checkpointSeparator, rune(s[0])) {
		f = append([]string{""}, f...)
	}
	return f
}

func malformedLine(n int, text string) error {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Errorf("%w: line %d: %q", ErrCorrupt, n, text)
}
