package engine

import "github.com/klog-project/klog/segments/vfs"

// FS is the file system that a root is on.
func FS(r *Root) vfs.FS { return r.fs }
