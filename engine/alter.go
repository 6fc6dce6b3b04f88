package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// ErrFewerPartitions is returned when a topic is to have fewer partitions than it has.
var ErrFewerPartitions = errors.New("the number of partitions can only grow")

// Alteration says what to change about a topic.
type Alteration struct {
	Partitions int               // how many there shall be; 0 leaves them
	Set        map[string]string // configs, values with units or without
	Unset      []string          // configs that shall have their default again
}

// AlterTopic changes a topic: all that is asked for or, also when it is killed, nothing.
// A topic without an entry, or with a damaged one, gets one, whatever is asked for.
func (r *Root) AlterTopic(ctx context.Context, name string, a Alteration) (*Topic, error) {
	set, err := parseConfigs(a.Set)
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
	t, err := r.Topic(name)
	if err != nil {
		return nil, err
	}
	e, err := r.altered(t, a.Partitions, set, a.Unset)
	if err != nil {
		return nil, err
	}
	if err := r.alter(ctx, t, e); err != nil {
		return nil, fmt.Errorf("alter topic %s: %w", name, err)
	}
	return r.Topic(name)
}

// altered is the entry that the topic shall have.
func (r *Root) altered(t *Topic, partitions int, set map[string]string, unset []string) (*entry, error) {
	e, err := r.readEntry(t.name)
	if err = r.tolerate(t.name, err); err != nil {
		return nil, err
	}
	if e == nil {
		e = &entry{id: t.id, partitions: t.count}
		if e.id.IsZero() {
			e.id = newID()
		}
	}
	if partitions != 0 {
		if err := checkPartitions(partitions); err != nil {
			return nil, err
		}
		if partitions < e.partitions {
			return nil, fmt.Errorf("topic %s has %d partitions: %w", t.name, e.partitions, ErrFewerPartitions)
		}
		e.partitions = partitions
	}
	configs := maps.Clone(e.configs)
	if configs == nil {
		configs = map[string]string{}
	}
	for _, name := range unset {
		if _, ok := configs[name]; !ok && findConfig(name) == nil {
			return nil, unknownConfig(name)
		}
		delete(configs, name)
	}
	maps.Copy(configs, set)
	e.configs = configs
	d, err := r.defaults()
	if err != nil {
		return nil, err
	}
	c, err := newConfig(d.values, configs)
	if err != nil {
		return nil, err
	}
	return e, c.check()
}

// alter makes e the topic's entry, and before that the partitions it lacks: killed in
// between, settleGrow takes them away again.
func (r *Root) alter(ctx context.Context, t *Topic, e *entry) error {
	here := map[int32]bool{}
	for _, n := range t.Numbers() {
		here[n] = true
	}
	in := &intent{Op: opGrow, Topic: t.name, ID: e.id.String()}
	for n := range int32(e.partitions) {
		if !here[n] {
			in.Partitions = append(in.Partitions, n)
		}
	}
	if !t.entry {
		if err := r.identify(t, e.id); err != nil {
			return err
		}
	}
	if len(in.Partitions) == 0 {
		return r.writeEntry(t.name, e)
	}
	b, err := e.encode()
	if err != nil {
		return err
	}
	in.Entry = json.RawMessage(b)
	if err := r.begin(in); err != nil {
		return err
	}
	if err = r.addPartitions(ctx, in, t.name, e.id); err == nil {
		err = r.writeEntry(t.name, e)
	}
	if err != nil {
		// An entry that is written and could not be made durable counts.
		_, serr := r.settleGrow(in)
		return errors.Join(err, serr)
	}
	return r.end(in)
}

// identify writes the topic's id into partitions that have none, as those of old brokers.
func (r *Root) identify(t *Topic, id TopicID) error {
	if !t.id.IsZero() {
		return nil
	}
	for _, n := range t.Numbers() {
		path := filepath.Join(r.partitionPath(t.name, n), segments.PartitionMetaName)
		if err := vfs.WriteFile(r.fs, path, segments.EncodePartitionMeta(id)); err != nil {
			return err
		}
	}
	return nil
}

// settleGrow looks whether a topic has got the partitions that were made for it.
func (r *Root) settleGrow(in *intent) (finished bool, err error) {
	e, err := r.readEntry(in.Topic)
	if err != nil {
		return false, err
	}
	if e != nil && e.partitions > int(in.Partitions[len(in.Partitions)-1]) {
		return true, r.dropStage(in)
	}
	return false, r.undoPartitions(in)
}
