package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/klog-project/klog/segments"
)

// Verify checks what belongs to no single partition: the root's checkpoints, and that
// no two topics have the same id. Of topics it names those in names, or all where that
// is nil. report is called with each finding; an error of it ends the run.
func (r *Root) Verify(ctx context.Context, names []string, report func(VerifyFinding) error) error {
	for _, kind := range checkpointKinds() {
		_, err := r.Checkpoints(kind)
		repair := segments.RepairRebuild
		if errors.Is(err, segments.ErrUnknownVersion) {
			repair = segments.RepairNone
		} else if err != nil && !errors.Is(err, segments.ErrCorrupt) {
			return err
		}
		if err == nil {
			continue
		}
		f := segments.AboutFile(r.path(string(kind)), segments.ParseReason(errors.Unwrap(err)), repair)
		if err := report(VerifyFinding{f, "", -1}); err != nil {
			return err
		}
	}
	return r.sharedIDs(ctx, names, report)
}

// sharedIDs reports topics with the id of another. Renaming a topic makes it so for a
// moment, so what is found is looked at once more.
func (r *Root) sharedIDs(ctx context.Context, names []string, report func(VerifyFinding) error) error {
	shared, err := r.topicsByID(ctx)
	if err != nil || len(shared) == 0 {
		return err
	}
	again, err := r.topicsByID(ctx)
	if err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(shared), func(a, b TopicID) int { return slices.Compare(a[:], b[:]) }) {
		topics := shared[id]
		if !slices.Equal(topics, again[id]) {
			continue
		}
		for i, name := range topics {
			if names != nil && !slices.Contains(names, name) {
				continue
			}
			others := slices.Delete(slices.Clone(topics), i, i+1)
			f := segments.AboutFile(r.partitionPath(name, 0), fmt.Sprintf("topic id %s is also that of %s", id, strings.Join(others, ", ")), segments.RepairNone)
			if err := report(VerifyFinding{f, name, -1}); err != nil {
				return err
			}
		}
	}
	return nil
}

// topicsByID returns the names of the topics that share an id, by id.
func (r *Root) topicsByID(ctx context.Context) (map[TopicID][]string, error) {
	all, err := r.Topics(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[TopicID][]string{}
	for _, name := range all {
		t, err := r.Topic(name)
		if errors.Is(err, ErrUnknownTopic) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if t.id != (TopicID{}) {
			byID[t.id] = append(byID[t.id], name)
		}
	}
	for id, names := range byID {
		if len(names) < 2 {
			delete(byID, id)
		}
	}
	return byID, nil
}
