package engine

import (
	"encoding/hex"
	"math/rand/v2"

	"github.com/klog-project/klog/segments"
)

// TopicID tells a topic from an earlier or later one of the same name. Zero means
// that no id is known, as with directories of Kafka before 2.8.
type TopicID [16]byte

// newID makes an id that is not one of those Kafka keeps for itself and whose text
// does not begin with '-', so that it can stand as an argument.
func newID() TopicID {
	for {
		var id TopicID
		hi, lo := rand.Uint64(), rand.Uint64()
		for i := range 8 {
			id[i], id[8+i] = byte(hi>>(8*i)), byte(lo>>(8*i))
		}
		id[6] = id[6]&0x0f | 0x40 // version 4
		id[8] = id[8]&0x3f | 0x80 // variant
		if id.String()[0] != '-' {
			return id
		}
	}
}

// ParseTopicID reads the 22 characters that String writes.
func ParseTopicID(s string) (TopicID, error) {
	return segments.ParseUUID(s)
}

// String is the id as Kafka writes it: URL-safe base64 without padding.
func (id TopicID) String() string { return segments.FormatUUID(id) }

// IsZero reports whether no id is known.
func (id TopicID) IsZero() bool { return id == TopicID{} }

// hex is the form that directory names of deleted partitions carry.
func (id TopicID) hex() string { return hex.EncodeToString(id[:]) }
