//go:build fuse && linux

package engine_test

import (
	"fmt"
	"testing"

	"github.com/klog-project/klog/engine"
)

// A follower on one host sees what another host appends, over rolls, although the
// caches between them tell of nothing: it polls, and opens files anew.
func TestFuseFollowerSeesWhatAnotherHostAppends(t *testing.T) {
	a, b := onTwoMounts(t, map[string]string{"segment.bytes": "1500"})
	w, err := a.OpenWriter(engine.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	put(t, w, 0)
	r, err := b.Reader(engine.ReaderOptions{Until: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := engine.NewFollower([]*engine.Reader{r}, engine.FollowOptions{Notice: func(s string) { t.Errorf("notice: %s", s) }})
	defer f.Close()
	take(t, f, 1)
	for i := int64(1); i < 60; i++ {
		put(t, w, i, i)
		if got := take(t, f, 2); got[0] != fmt.Sprint(i) || got[1] != fmt.Sprint(i) {
			t.Fatalf("append %d: got %v", i, got)
		}
	}
}
