package segments

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Suffixes of the files of one segment. Kafka appends a second suffix to files that
// are on their way in or out: ".deleted", ".cleaned", ".swap".
const (
	LogSuffix       = ".log"
	IndexSuffix     = ".index"
	TimeIndexSuffix = ".timeindex"
	TxnIndexSuffix  = ".txnindex"
	SnapshotSuffix  = ".snapshot"

	DeletedSuffix = ".deleted"
	CleanedSuffix = ".cleaned"
	SwapSuffix    = ".swap"
)

// Names of the other files of a partition directory and of a root.
const (
	EpochsName        = "leader-epoch-checkpoint"
	PartitionMetaName = "partition.metadata"
)

const (
	baseDigits     = 20
	maxTopicName   = 249
	maxNameLength  = 255
	deletedDirKind = "-delete"
)

// SegmentName is the name of a segment's files without their suffix: the base offset
// in 20 digits. base must not be negative.
func SegmentName(base int64) string {
	var b [baseDigits]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = '0' + byte(base%10)
		base /= 10
	}
	return string(b[:])
}

// ParseSegmentName takes a segment's file name apart: exactly 20 digits that fit an
// int64, then one of the suffixes above, perhaps with a second one (".log.deleted").
// ok is false for every other name, however near.
func ParseSegmentName(file string) (base int64, suffix string, ok bool) {
	if len(file) <= baseDigits {
		return 0, "", false
	}
	for _, c := range []byte(file[:baseDigits]) {
		d := int64(c) - '0'
		if d < 0 || d > 9 || base > (math.MaxInt64-d)/10 {
			return 0, "", false
		}
		base = base*10 + d
	}
	suffix = file[baseDigits:]
	if !validSegmentSuffix(suffix) {
		return 0, "", false
	}
	return base, suffix, true
}

func validSegmentSuffix(s string) bool {
	for _, end := range [...]string{DeletedSuffix, CleanedSuffix, SwapSuffix} {
		if t, cut := strings.CutSuffix(s, end); cut {
			s = t
			break
		}
	}
	switch s {
	case LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix, SnapshotSuffix:
		return true
	}
	return false
}

// ParsePartitionDir takes the name of a partition directory apart, at the last '-'.
// ok is false for anything that is not a valid topic name and an unpadded partition
// number, so also for directories that Kafka renamed ("….<32 hex>-delete", "-future",
// "-stray").
func ParsePartitionDir(name string) (topic string, partition int32, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", 0, false
	}
	topic = name[:i]
	partition, ok = parsePartition(name[i+1:])
	if !ok || ValidTopicName(topic) != nil {
		return "", 0, false
	}
	return topic, partition, true
}

// parsePartition reads a partition number as Kafka writes it: no sign, no padding.
func parsePartition(s string) (int32, bool) {
	if s == "" || len(s) > 1 && s[0] == '0' || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err == nil
}

// PartitionDir is the name of a partition's directory.
func PartitionDir(topic string, partition int32) string {
	return topic + "-" + strconv.Itoa(int(partition))
}

// DeletedDirName is the name that a partition's directory takes when its topic is
// deleted: "<topic>-<partition>.<32 hex digits of id>-delete". A long topic name is
// cut so that the whole has at most 255 characters.
func DeletedDirName(topic string, partition int32, id [16]byte) string {
	tail := "-" + strconv.Itoa(int(partition)) + "." + hex.EncodeToString(id[:]) + deletedDirKind
	if room := maxNameLength - len(tail); len(topic) > room {
		topic = topic[:room]
	}
	return topic + tail
}

// ParseDeletedDirName takes a name made by DeletedDirName apart. The topic may have
// been cut.
func ParseDeletedDirName(name string) (topic string, partition int32, id [16]byte, ok bool) {
	s, ok := strings.CutSuffix(name, deletedDirKind)
	if !ok {
		return "", 0, id, false
	}
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 || len(s)-dot-1 != 2*len(id) {
		return "", 0, id, false
	}
	if _, err := hex.Decode(id[:], []byte(s[dot+1:])); err != nil {
		return "", 0, [16]byte{}, false
	}
	topic, partition, ok = ParsePartitionDir(s[:dot])
	return topic, partition, id, ok
}

// ValidTopicName returns nil if name may be a topic's name, else an error that names
// the rule: 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', not "." or "..".
func ValidTopicName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("topic name %q: must not be empty", name)
	case name == "." || name == "..":
		return fmt.Errorf("topic name %q: must not be \".\" or \"..\"", name)
	case len(name) > maxTopicName:
		return fmt.Errorf("topic name %q: %d characters, at most %d are allowed", name, len(name), maxTopicName)
	}
	for _, r := range name {
		if !topicRune(r) {
			return fmt.Errorf("topic name %q: character %q: want a-z, A-Z, 0-9, '.', '_' or '-'", name, r)
		}
	}
	return nil
}

func topicRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return true
	}
	return r == '.' || r == '_' || r == '-'
}
