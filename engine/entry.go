package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

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

// encode writes the fields in the order in which plainEntry reads them, then others.
func (e *entry) encode() ([]byte, error) {
	version := json.RawMessage(strconv.Itoa(entryVersion))
	if v, ok := e.others["version"]; ok {
		version = v
	}
	configs := e.configs
	if configs == nil {
		configs = map[string]string{}
	}
	known, err := json.Marshal(struct {
		Version    json.RawMessage   `json:"version"`
		ID         string            `json:"topic_id"`
		Partitions int               `json:"partitions"`
		Configs    map[string]string `json:"configs"`
	}{version, e.id.String(), e.partitions, configs})
	if err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(known, []byte("}"))
	for _, name := range sortedKeys(e.others) {
		if name == "version" {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(append(b, ','), key...), ':'), e.others[name]...)
	}
	return append(b, "}\n"...), nil
}

func decodeEntry(b []byte) (*entry, error) {
	e := plainEntry(b)
	if e == nil {
		var err error
		if e, err = anyEntry(b); err != nil {
			return nil, err
		}
	}
	if e.partitions < 1 || e.partitions > MaxPartitions {
		return nil, fmt.Errorf("partitions: %d is not from 1 to %d", e.partitions, MaxPartitions)
	}
	return e, nil
}

// anyEntry reads any JSON object that has the fields.
func anyEntry(b []byte) (*entry, error) {
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
	e.id, err = ParseTopicID(id)
	return e, err
}

// plainEntry reads an entry that is written as encode writes it and has nothing unknown in
// it, and returns nil for any other. A one-line produce starts with it: the general way
// costs it a twentieth of its time, nearly all in touching the code for the first time.
func plainEntry(b []byte) *entry {
	s := entryScanner{rest: string(b)}
	e := &entry{configs: map[string]string{}}
	s.word(`{"version":1,"topic_id":`)
	id := s.quoted()
	s.word(`,"partitions":`)
	e.partitions = s.number()
	s.word(`,"configs":{`)
	for !s.bad && !strings.HasPrefix(s.rest, "}") {
		if len(e.configs) > 0 {
			s.word(",")
		}
		name := s.quoted()
		s.word(":")
		e.configs[name] = s.quoted()
	}
	s.word("}}\n")
	var err error
	if e.id, err = ParseTopicID(id); err != nil || s.bad || s.rest != "" {
		return nil
	}
	return e
}

// entryScanner takes a plain entry apart from the front.
type entryScanner struct {
	rest string
	bad  bool // something else stood there
}

func (s *entryScanner) word(w string) {
	rest, ok := strings.CutPrefix(s.rest, w)
	s.rest, s.bad = rest, s.bad || !ok
}

// quoted takes a string without escapes.
func (s *entryScanner) quoted() string {
	s.word(`"`)
	v, rest, ok := strings.Cut(s.rest, `"`)
	s.rest, s.bad = rest, s.bad || !ok || strings.IndexFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) >= 0
	return v
}

func (s *entryScanner) number() int {
	n := strings.IndexFunc(s.rest, func(r rune) bool { return r < '0' || r > '9' })
	if n < 1 || s.rest[0] == '0' {
		s.bad = true
		return 0
	}
	v, err := strconv.Atoi(s.rest[:n])
	s.rest, s.bad = s.rest[n:], s.bad || err != nil
	return v
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
