package engine

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/segments"
)

func parsePartitionMeta(b []byte) (TopicID, error) {
	for line := range strings.SplitSeq(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, "topic_id: "); ok {
			return ParseTopicID(v)
		}
	}
	return TopicID{}, errors.New("no topic_id")
}

func encodePartitionMeta(id TopicID) []byte { return []byte("version: 0\ntopic_id: " + id.String()) }

func parseProperties(b []byte) (map[string]string, error) {
	m := map[string]string{}
	for line := range strings.SplitSeq(string(b), "\n") {
		if k, v, ok := strings.Cut(line, "="); ok && line[0] != '#' {
			m[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return m, nil
}

func parsePartitionPath(s string) (topic string, partition int32, ok bool) {
	return segments.ParsePartitionDir(filepath.Base(s))
}
