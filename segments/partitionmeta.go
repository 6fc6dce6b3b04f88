package segments

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// ParsePartitionMeta reads a partition.metadata file, which says to which topic a
// partition directory belongs:
//
//	version: 0
//	topic_id: XV3hyvkxTk6VpuKVyCQnQg
//
// As Kafka does, it takes any version from 0 on and does not look at the names. Errors
// are ErrCorrupt and ErrUnknownVersion.
func ParsePartitionMeta(data []byte) (topicID [16]byte, err error) {
	lines := splitLines(data)
	if len(lines) < 2 {
		return topicID, fmt.Errorf("%w: %d lines, want version and topic_id", ErrCorrupt, len(lines))
	}
	version, ok := metaValue(lines[0])
	v, err := strconv.ParseInt(version, 10, 32)
	if !ok || err != nil {
		return topicID, malformedLine(1, lines[0])
	}
	if v < 0 {
		return topicID, fmt.Errorf("%w %d", ErrUnknownVersion, v)
	}
	text, ok := metaValue(lines[1])
	if !ok {
		return topicID, malformedLine(2, lines[1])
	}
	topicID, err = ParseUUID(text)
	if err == nil && topicID == [16]byte{} {
		err = fmt.Errorf("%w: topic id is zero", ErrCorrupt)
	}
	return topicID, err
}

// metaValue returns what stands behind the colon and white space of a line.
func metaValue(line string) (string, bool) {
	_, v, ok := strings.Cut(line, ":")
	t := strings.TrimLeft(v, checkpointSeparator)
	return t, ok && len(t) < len(v) && t != ""
}

// EncodePartitionMeta is the file that ParsePartitionMeta reads. Like Kafka's it has no
// newline at its end.
func EncodePartitionMeta(topicID [16]byte) []byte {
	return []byte("version: 0\ntopic_id: " + FormatUUID(topicID))
}

// FormatUUID writes a UUID as Kafka does: 22 characters of URL-safe base64.
func FormatUUID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseUUID reads what FormatUUID writes, with or without the padding that other
// encoders add. The error is ErrCorrupt.
func ParseUUID(s string) (id [16]byte, err error) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(s, "=="))
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%w: id %q: want 22 characters of URL-safe base64", ErrCorrupt, s)
	}
	return [16]byte(b), nil
}
