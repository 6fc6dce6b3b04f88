package engine

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// An intent says in ROOT/.klog/intents what is about to be done to several directories,
// before the first of them is touched. It is removed when all is done. Whoever takes the
// root's lock next finds what a killed process left and finishes or undoes it (settle).
// Until then the topics it names are there only for those who find their entry, which is
// the first thing to go and the last to come: no reader sees a topic half made.
type intent struct {
	Version    int             `json:"version"`
	Op         intentOp        `json:"op"`
	Topic      string          `json:"topic"`        // the topic as it is called before
	To         string          `json:"to,omitempty"` // as it is called after, if that differs
	ID         string          `json:"topic_id,omitempty"`
	Partitions []int32         `json:"partitions,omitempty"`
	Entry      json.RawMessage `json:"entry,omitempty"` // the topic's entry: the one to write, or the one that is removed
	Trash      *trashRecord    `json:"trash,omitempty"`
	Sources    []string        `json:"sources,omitempty"` // adopt: a directory for each partition, relative to the root
	// Checkpoints is what the root's checkpoints are to say of the topic in the end.
	Checkpoints topicCheckpoints `json:"checkpoints,omitempty"`

	name string // of its file
}

type intentOp string

const (
	opCreate   intentOp = "create"   // undone, unless the entry is there
	opGrow     intentOp = "grow"     // undone, unless the entry has the partitions
	opDelete   intentOp = "delete"   // finished
	opUndelete intentOp = "undelete" // finished
	opRename   intentOp = "rename"   // finished
	opAdopt    intentOp = "adopt"    // finished
	opStage    intentOp = "stage"    // undone, once nobody is at it any more
)

// intentVersion is the version of the intents that this program writes and can finish.
const intentVersion = 1

// check looks at what becomes part of a path, or is relied on to be there.
func (in *intent) check() error {
	if in.Op == opStage {
		return nil
	}
	for _, name := range []string{in.Topic, cmp.Or(in.To, in.Topic)} {
		if err := checkTopicName(name); err != nil {
			return err
		}
	}
	for _, s := range in.Sources {
		if !filepath.IsLocal(s) {
			return fmt.Errorf("%q is outside the root", s)
		}
	}
	if in.Trash != nil {
		return in.Trash.check()
	}
	if in.Op == opDelete || in.Op == opUndelete {
		return errors.New("no trash record")
	}
	if len(in.Partitions) == 0 || in.Op == opAdopt && len(in.Sources) != len(in.Partitions) {
		return errors.New("no partitions")
	}
	return nil
}

// topics are the names that the intent hides from whoever finds directories only.
func (in *intent) topics() []string {
	switch in.Op {
	case opGrow, opStage:
		return nil
	}
	names := []string{in.Topic}
	if in.To != "" {
		names = append(names, in.To)
	}
	for _, s := range in.Sources {
		if topic, _, ok := segments.ParsePartitionDir(s); ok {
			names = append(names, topic)
		}
	}
	return names
}

// makes is the name of the topic that is there once the intent is done, "" where the
// intent brings none.
func (in *intent) makes() string {
	switch in.Op {
	case opCreate, opUndelete, opRename, opAdopt:
		return cmp.Or(in.To, in.Topic)
	}
	return ""
}

func (r *Root) intentPath(name string) string { return r.statePath(intentsDirName, name) }

// begin records the intent durably. The root's lock is held.
func (r *Root) begin(in *intent) error {
	in.Version = intentVersion
	if in.name == "" {
		in.name = newID().hex()
	}
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(r.fs, r.intentPath(in.name), append(b, '\n')); err != nil {
		// It may be there, if only its name could not be made durable: then nobody
		// shall find it and do what is reported as not done.
		_ = r.fs.Remove(r.intentPath(in.name))
		return fmt.Errorf("record what is to be done: %w", err)
	}
	return nil
}

// end forgets an intent that is done or undone.
func (r *Root) end(in *intent) error {
	err := r.fs.Remove(r.intentPath(in.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.fs.SyncDir(r.statePath(intentsDirName))
}

// intents reads what is pending, in no order that matters: no two concern one topic.
func (r *Root) intents() ([]*intent, error) {
	files, err := readDir(r.fs, r.statePath(intentsDirName))
	if err != nil {
		return nil, err
	}
	var all []*intent
	for _, f := range files {
		if b, err := hex.DecodeString(f.Name()); err != nil || len(b) != len(TopicID{}) {
			continue
		}
		path := r.intentPath(f.Name())
		b, err := vfs.ReadFile(r.fs, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // done meanwhile
		}
		if err != nil {
			return nil, err
		}
		in := &intent{name: f.Name()}
		if err := json.Unmarshal(b, in); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := in.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, in)
	}
	return all, nil
}

// pending is what the directories in the root say nothing about.
type pending struct {
	topics     map[string]bool         // hidden from those who find directories only
	partitions map[TopicPartition]bool // not yet part of their topic
	coming     map[string][]int32      // by topic that is being made: its partitions
}

// pending reads what is half done.
func (r *Root) pending() (pending, error) {
	all, err := r.intents()
	if err != nil || len(all) == 0 {
		return pending{}, err
	}
	p := pending{map[string]bool{}, map[TopicPartition]bool{}, map[string][]int32{}}
	for _, in := range all {
		for _, name := range in.topics() {
			p.topics[name] = true
		}
		if name := in.makes(); name != "" {
			p.coming[name] = in.Partitions
		}
		if in.Op == opGrow {
			for _, n := range in.Partitions {
				p.partitions[TopicPartition{in.Topic, n}] = true
			}
		}
	}
	return p, nil
}

// settle finishes or undoes what a killed process left. What concerns none of the given
// topics and cannot be done now, because a writer holds a partition, stays as it is. It
// returns the intents that were finished. The root's lock is held.
func (r *Root) settle(ctx context.Context, topics ...string) (done []*intent, err error) {
	if err := r.sweepIntents(); err != nil {
		return nil, err
	}
	all, err := r.intents()
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		mine := slices.ContainsFunc(append(in.topics(), in.Topic), func(t string) bool { return slices.Contains(topics, t) })
		wait := time.Duration(1) // as good as not at all
		if mine {
			wait = r.o.timeout(lockWait)
		}
		finished, err := r.settleOne(ctx, in, wait)
		if err != nil && mine {
			return done, fmt.Errorf("finish the interrupted %s of topic %s: %w", in.Op, in.Topic, err)
		}
		if finished && err == nil {
			done = append(done, in)
		}
	}
	return done, nil
}

// sweepIntents removes intents that were not written to the end, and so say nothing.
func (r *Root) sweepIntents() error {
	files, err := readDir(r.fs, r.statePath(intentsDirName))
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), tempSuffix) {
			if err := r.fs.Remove(r.intentPath(f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (r *Root) settleOne(ctx context.Context, in *intent, wait time.Duration) (finished bool, err error) {
	if in.Version > intentVersion {
		return false, &TooNewError{Path: r.intentPath(in.name), Need: in.Version}
	}
	switch in.Op {
	case opCreate:
		return r.settleCreate(in)
	case opGrow:
		return r.settleGrow(in)
	case opDelete:
		return true, r.finishDelete(ctx, in, wait)
	case opUndelete:
		return true, r.finishUndelete(in)
	case opRename:
		return true, r.finishRename(ctx, in, wait)
	case opAdopt:
		return true, r.finishAdopt(ctx, in, wait)
	case opStage:
		return false, r.undoStage(in)
	}
	return false, fmt.Errorf("%s: unknown operation %q", r.intentPath(in.name), in.Op)
}
