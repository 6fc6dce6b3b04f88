package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TopicSpec says what a new topic is like.
type TopicSpec struct {
	// Partitions is their number; 0 means the root's num.partitions.
	Partitions int
	// Config is what to set, values with units or without.
	Config map[string]string
}

// CreateTopic makes a topic: wholly, or, also when it is killed, not at all. The error is
// a *TopicExistsError if the name is taken or collides with another one, an *InvalidError
// or *ConfigError if the topic is not to be had that way.
func (r *Root) CreateTopic(ctx context.Context, name string, spec TopicSpec) (*Topic, error) {
	if err := checkNewTopicName(name); err != nil {
		return nil, err
	}
	e, err := r.newEntry(spec)
	if err != nil {
		return nil, err
	}
	unlock, err := r.change(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := r.settle(ctx, name); err != nil {
		return nil, err
	}
	if err := r.checkFree(name); err != nil {
		return nil, err
	}
	if err := r.create(ctx, name, e); err != nil {
		return nil, fmt.Errorf("create topic %s: %w", name, err)
	}
	return r.Topic(name)
}

// change takes the root's lock for a change and looks again whether changes are allowed.
func (r *Root) change(ctx context.Context) (unlock func(), err error) {
	unlock, err = r.lockRoot(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = r.checkVersion(); err == nil {
		err = r.checkKafka()
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// newEntry checks what a topic is to be like.
func (r *Root) newEntry(spec TopicSpec) (*entry, error) {
	set, err := parseConfigs(spec.Config)
	if err != nil {
		return nil, err
	}
	d, err := r.defaults()
	if err != nil {
		return nil, err
	}
	c, err := newConfig(d.values, set)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	n := spec.Partitions
	if n == 0 {
		n = int(c.NumPartitions)
	}
	if err := checkPartitions(n); err != nil {
		return nil, err
	}
	return &entry{id: newID(), partitions: n, configs: set}, nil
}

func checkPartitions(n int) error {
	if n < 1 || n > MaxPartitions {
		return &InvalidError{Reason: fmt.Sprintf("%d partitions: want 1 to %d", n, MaxPartitions)}
	}
	return nil
}

// internalTopics are Kafka's own; nobody may make one by hand.
var internalTopics = [...]string{"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"}

// checkNewTopicName is checkTopicName for a topic that is to be made.
func checkNewTopicName(name string) error {
	if err := checkTopicName(name); err != nil {
		return err
	}
	if slices.Contains(internalTopics[:], name) {
		return &InvalidError{Reason: fmt.Sprintf("topic name %q: is reserved for Kafka itself", name)}
	}
	return nil
}

// CheckNewTopic returns the error that a topic of that name would meet, looking away from
// those called but. Another process may take the name meanwhile.
func (r *Root) CheckNewTopic(name string, but ...string) error {
	if err := checkNewTopicName(name); err != nil {
		return err
	}
	return r.checkFree(name, but...)
}

// checkFree returns a *TopicExistsError if there is a topic of that name, or of one that
// Kafka would take for it and that is none of but.
func (r *Root) checkFree(name string, but ...string) error {
	names, err := r.topicNames()
	if err != nil {
		return err
	}
	flat := strings.ReplaceAll(name, ".", "_")
	for _, n := range names {
		if n == name {
			return &TopicExistsError{Name: name}
		}
	}
	for _, n := range names {
		if strings.ReplaceAll(n, ".", "_") == flat && !slices.Contains(but, n) {
			return &TopicExistsError{Name: name, Other: n}
		}
	}
	return nil
}

// create makes the topic. The order on disk:
//
//  1. the intent
//  2. all partitions, each with all its files, in a hidden directory of the root
//  3. their names in the root
//  4. the entry: from here on the topic is there
//  5. the intent goes
//
// each synced before the next. Killed before 4, settleCreate undoes it.
func (r *Root) create(ctx context.Context, name string, e *entry) error {
	b, err := e.encode()
	if err != nil {
		return err
	}
	in := &intent{Op: opCreate, Topic: name, ID: e.id.String(), Entry: json.RawMessage(b)}
	for n := range e.partitions {
		in.Partitions = append(in.Partitions, int32(n))
	}
	if err := r.begin(in); err != nil {
		return err
	}
	if err = r.setTopicCheckpoints(name, nil); err == nil {
		err = r.addPartitions(ctx, in, name, e.id)
	}
	if err == nil {
		err = r.writeEntry(name, e)
	}
	if err != nil {
		return errors.Join(err, r.undoCreate(in))
	}
	return r.end(in)
}

// undoCreate takes back a create that cannot go on. Where it fails too, the intent stays
// for whoever comes next.
func (r *Root) undoCreate(in *intent) error {
	e, err := r.readEntry(in.Topic)
	if err != nil {
		return err
	}
	if e != nil && e.id.String() == in.ID {
		// It was written, but could not be made durable.
		if err := r.removeEntry(in.Topic); err != nil {
			return err
		}
	}
	return r.undoPartitions(in)
}

// settleCreate looks whether a create got as far as its entry.
func (r *Root) settleCreate(in *intent) (finished bool, err error) {
	e, err := r.readEntry(in.Topic)
	if err != nil {
		return false, err
	}
	if e != nil && e.id.String() == in.ID {
		return true, r.dropStage(in)
	}
	return false, r.undoPartitions(in)
}
