package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/klog-project/klog/segments/vfs"
)

// entry is what ROOT/.klog/topics/TOPIC holds: all that an append needs to know of a
// topic, in one small file that is only ever replaced whole, by rename, under the root's
// lock. A topic is there for readers from the moment its entry is, and gone with it.
//
//	{"version":1,"topic_id":"kfj9rNkhTOCOp3sQBa40zA","partitions":3,"configs":{"retention.ms":"604800000"}}
//
// Fields and configs that this program does not know are carried through.
type entry struct {
	id         TopicID
	partitions int
	configs    map[string]string // normalised
	others     map[string]json.RawMessage
}

// entryVersion is what this program writes. A reader takes any: what a newer program
// adds are further fields; what an older one must not write beside is said by the root's
// version file.
const entryVersion = 1

func (e *entry) encode() ([]byte, error) {
	m := maps.Clone(e.others)
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	if _, ok := m["version"]; !ok {
		m["version"] = json.RawMessage(fmt.Sprint(entryVersion))
	}
	for name, v := range map[string]any{"topic_id": e.id.String(), "partitions": e.partitions, "configs": e.configs} {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		m[name] = b
	}
	if e.configs == nil {
		m["configs"] = json.RawMessage("{}")
	}
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

func decodeEntry(b []byte) (*entry, error) {
	e := &entry{}
	if err := json.Unmarshal(b, &e.others); err != nil {
		return nil, err
	}
	var id string
	for name, to := range map[string]any{"topic_id": &id, "partitions": &e.partitions, "configs": &e.configs} {
		raw, ok := e.others[name]
		if !ok {
			return nil, fmt.Errorf("%s is missing", name)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		delete(e.others, name)
	}
	var err error
	if e.id, err = ParseTopicID(id); err != nil {
		return nil, err
	}
	if e.partitions < 1 || e.partitions > MaxPartitions {
		return nil, fmt.Errorf("partitions: %d is not from 1 to %d", e.partitions, MaxPartitions)
	}
	return e, nil
}

// readEntry returns nil and no error where the topic has no entry.
func (r *Root) readEntry(topic string) (*entry, error) {
	e, _, err := r.readEntryStamp(topic)
	return e, err
}

// writeEntry makes the topic's entry the given one, durably. The root's lock is held.
func (r *Root) writeEntry(topic string, e *entry) error {
	b, err := e.encode()
	if err != nil {
		return fmt.Errorf("topic entry of %s: %w", topic, err)
	}
	return vfs.WriteFile(r.fs, r.entryPath(topic), b)
}

// writeRawEntry makes the topic's entry one that was kept elsewhere meanwhile.
func (r *Root) writeRawEntry(topic string, raw json.RawMessage) error {
	return vfs.WriteFile(r.fs, r.entryPath(topic), append(bytes.TrimSpace(raw), '\n'))
}

// removeEntry takes the topic's entry away, durably. One that is not there is no error.
func (r *Root) removeEntry(topic string) error {
	err := r.fs.Remove(r.entryPath(topic))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.fs.SyncDir(r.statePath(topicsDirName))
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
