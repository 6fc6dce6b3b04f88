package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/klog-project/klog/segments"
)

// Verify checks what belongs to no single partition: the root's checkpoints and
// meta.properties, the topics' entries, and that no two topics have the same id. Of topics
// it names those in names, or all where that is nil. report is called with each finding; an error of it ends the run.
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
	if err := r.verifyMeta(report); err != nil {
		return err
	}
	if err := r.verifyEntries(names, report); err != nil {
		return err
	}
	return r.sharedIDs(ctx, names, report)
}

// verifyMeta reports a meta.properties that does not say whose the root is. A root may
// have none.
func (r *Root) verifyMeta(report func(VerifyFinding) error) error {
	m, err := r.Meta()
	what := ""
	switch {
	case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange):
		what = "the node id is no number"
	case err != nil:
		return err
	case m.NodeID < 0:
		if _, err := r.fs.Stat(r.path(metaFileName)); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		what = "no node id"
	default:
		return nil
	}
	return report(VerifyFinding{segments.AboutFile(r.path(metaFileName), what, segments.RepairNone), "", -1})
}

// sharedIDs reports topics with the id of another. Renaming a topic makes it so for a
// moment, so what is found is looked at once more.
func (r *Root) sharedIDs(ctx context.Context, names []string, report func(VerifyFinding) error) error {
	shared, err := r.DuplicateIDs(ctx)
	if err != nil || len(shared) == 0 {
		return err
	}
	again, err := r.DuplicateIDs(ctx)
	if err != nil {
		return err
	}
	for _, d := range shared {
		if !slices.ContainsFunc(again, func(now DuplicateID) bool { return now.ID == d.ID && slices.Equal(now.Topics, d.Topics) }) {
			continue
		}
		for i, name := range d.Topics {
			if names != nil && !slices.Contains(names, name) {
				continue
			}
			others := slices.Delete(slices.Clone(d.Topics), i, i+1)
			f := segments.AboutFile(r.partitionPath(name, 0), fmt.Sprintf("topic id %s is also that of %s", d.ID, strings.Join(others, ", ")), segments.RepairNone)
			if err := report(VerifyFinding{f, name, -1}); err != nil {
				return err
			}
		}
	}
	return nil
}
