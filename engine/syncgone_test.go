package engine_test

import (
	"errors"
	"testing"

	"github.com/klog-project/klog/engine"
)

func TestSyncAfterTheTopicIsGone(t *testing.T) {
	for name, away := range map[string]func(r *engine.Root) error{
		"deleted": func(r *engine.Root) error { _, err := r.DeleteTopic(t.Context(), "t", false); return err },
		"renamed": func(r *engine.Root) error { _, err := r.RenameTopic(t.Context(), "t", "u"); return err },
	} {
		for _, synced := range []bool{false, true} {
			r := newRoot(t)
			mustCreate(t, r, "t", engine.TopicSpec{})
			w := openWriter(t, mustTopic(t, r, "t"))
			if _, err := w.Append(t.Context(), batch(t, "x")); err != nil {
				t.Fatal(err)
			}
			if synced {
				if err := w.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := away(reopen(t, r)); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(t.Context()); !errors.Is(err, engine.ErrTopicGone) {
				t.Errorf("%s, synced before: %v: got %v, want ErrTopicGone", name, synced, err)
			}
		}
	}
}
