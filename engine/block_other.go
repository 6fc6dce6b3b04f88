//go:build !linux

package engine

import (
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// mapPage reads the page: without a futex there is nothing to gain from mapping it.
func mapPage(f vfs.File) (mem []byte, mapped bool, err error) {
	mem, err = readPage(f)
	return mem, false, err
}

func unmapPage([]byte) {}

func (b *block) wait(uint32, time.Duration) { time.Sleep(time.Millisecond) }

func (b *block) wake() {}
