package engine

import (
	"errors"
	"fmt"
	"strings"
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

func decodeCheckpoint(b []byte) (map[TopicPartition]int64, error) {
	m := map[TopicPartition]int64{}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(b) == 0 {
		return m, nil
	}
	for _, l := range lines[min(2, len(lines)):] {
		var tp TopicPartition
		var off int64
		if _, err := fmt.Sscan(l, &tp.Topic, &tp.Partition, &off); err != nil {
			return nil, err
		}
		m[tp] = off
	}
	return m, nil
}

func encodeCheckpoint(m map[TopicPartition]int64) []byte {
	s := fmt.Sprintf("0\n%d\n", len(m))
	for _, tp := range sortedPartitions(m) {
		s += fmt.Sprintf("%s %d %d\n", tp.Topic, tp.Partition, m[tp])
	}
	return []byte(s)
}
