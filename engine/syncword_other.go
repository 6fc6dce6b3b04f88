//go:build !linux

package engine

import (
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

func mapBlock(f vfs.LockFile) (mem []byte, mapped bool, err error) {
	mem, err = readBlock(f)
	return mem, false, err
}

func (w *syncWord) unmap() {}

func (w *syncWord) wait(uint32, time.Duration) { time.Sleep(time.Millisecond) }

func (w *syncWord) wake() {}
