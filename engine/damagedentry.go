package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klog-project/klog/segments"
)

// maxEntry bounds the size of a topic's entry, in bytes.
const maxEntry = 16 << 20

// damagedEntryError is returned for an entry that tells nothing. Its topic is one without
// an entry to whoever reads or appends; who would take something away because an entry
// does not speak of it must not go on.
type damagedEntryError struct {
	path string
	err  error
}

func (e *damagedEntryError) Error() string { return fmt.Sprintf("%s: topic entry: %v", e.path, e.err) }

func (e *damagedEntryError) Unwrap() error { return e.err }

// tolerate turns the error of reading a topic's entry into none where the entry is there
// and damaged. That is told once.
func (r *Root) tolerate(topic string, err error) error {
	var damaged *damagedEntryError
	if !errors.As(err, &damaged) {
		return err
	}
	r.mu.Lock()
	told := slices.Contains(r.told, topic)
	if !told {
		r.told = append(r.told, topic)
	}
	r.mu.Unlock()
	if !told {
		r.o.notice(fmt.Sprintf("%v (damaged: the topic has default configs until klog topic alter %s writes it anew)", damaged, topic))
	}
	return nil
}

// verifyEntries reports the topics in names, or all where that is nil, whose entry is
// damaged.
func (r *Root) verifyEntries(names []string, report func(VerifyFinding) error) error {
	if names == nil {
		files, err := readDir(r.fs, r.statePath(topicsDirName))
		if err != nil {
			return err
		}
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Name(), entrySuffix); ok && segments.ValidTopicName(name) == nil {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		var damaged *damagedEntryError
		_, err := r.readEntry(name)
		if err == nil {
			continue
		}
		if !errors.As(err, &damaged) {
			return err
		}
		f := segments.AboutFile(damaged.path, fmt.Sprintf("topic entry: %v", damaged.err), segments.RepairRebuild)
		if err := report(VerifyFinding{f, name, -1}); err != nil {
			return err
		}
	}
	return nil
}
