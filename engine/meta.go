package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// Meta is what meta.properties says of a root.
type Meta struct {
	NodeID      int    // 1 unless something else was set; -1 where there is no file
	ClusterID   string // "" where not known
	DirectoryID string // "" where not known
}

// Meta reads the root's meta.properties.
func (r *Root) Meta() (Meta, error) {
	path := r.path(metaFileName)
	b, err := vfs.ReadFile(r.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Meta{NodeID: -1}, nil
	}
	if err != nil {
		return Meta{}, err
	}
	props := segments.ParseProperties(b)
	m := Meta{NodeID: -1}
	m.ClusterID, _ = props.Get("cluster.id")
	m.DirectoryID, _ = props.Get("directory.id")
	node, ok := props.Get("node.id")
	if !ok {
		node, ok = props.Get("broker.id")
	}
	if ok {
		if m.NodeID, err = strconv.Atoi(node); err != nil {
			return Meta{}, fmt.Errorf("%s: node id %q: %w", path, node, err)
		}
	}
	return m, nil
}

// DuplicateID tells of topics that have one id: one was copied from the other.
type DuplicateID struct {
	ID     TopicID
	Topics []string // two or more, sorted
}

// DuplicateIDs finds topics that have one id, and so would share what is kept by id.
func (r *Root) DuplicateIDs(ctx context.Context) ([]DuplicateID, error) {
	names, err := r.Topics(ctx)
	if err != nil {
		return nil, err
	}
	var order []TopicID
	byID := map[TopicID][]string{}
	for _, name := range names {
		t, _, err := r.findTopic(name)
		if err != nil {
			return nil, err
		}
		if t == nil || t.id.IsZero() {
			continue // gone meanwhile, or of an old broker
		}
		if byID[t.id] == nil {
			order = append(order, t.id)
		}
		byID[t.id] = append(byID[t.id], name)
	}
	var found []DuplicateID
	for _, id := range order {
		if topics := byID[id]; len(topics) > 1 {
			found = append(found, DuplicateID{ID: id, Topics: topics})
		}
	}
	return found, nil
}
