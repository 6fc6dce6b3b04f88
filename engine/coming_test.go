package engine_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments/vfs"
)

// Whoever sees a directory of a topic that is just being made finds the topic: there is
// no moment at which `ls` shows it and a reader says that there is none.
func TestTopicIsThereWithItsDirectories(t *testing.T) {
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) {
			name := map[string]string{"create": "orders", "undelete": "orders", "rename": "bills", "adopt in the root": "orders", "adopt from outside": "orders"}[c.name]
			if name == "" {
				t.Skip("makes no topic")
			}
			mem := freshDisk(t, c)
			reader, err := engine.Open(sweepRoot, engine.Options{FS: mem})
			if err != nil {
				t.Fatal(err)
			}
			var readers sync.WaitGroup
			looks := 0
			fault := vfs.NewFault(mem, func(call vfs.Call) error {
				if _, err := mem.Stat(sweepRoot + "/" + name + "-0"); err != nil || !durably(call) || strings.Contains(call.Name, ".klog/lock") {
					return nil
				}
				looks++
				readers.Go(func() {
					if _, err := reader.Topic(name); err != nil {
						t.Errorf("before %v %s: %v", call.Kind, call.Name, err)
					}
				})
				return nil
			})
			if err := c.do(t.Context(), openSweepUnkilled(t, fault)); err != nil {
				t.Fatal(err)
			}
			readers.Wait()
			if looks == 0 {
				t.Error("nobody looked while the directories were there")
			}
		})
	}
}
