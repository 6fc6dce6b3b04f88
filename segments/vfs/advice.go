package vfs

// Advice says how a range of a file will be used.
type Advice uint8

// The kinds of Advice.
const (
	Sequential Advice = iota + 1 // read once from front to back
	Random                       // read here and there
	WillNeed                     // read soon
	DontNeed                     // not read again soon: its clean pages may leave the cache
)

// noFd is what Fd returns where there is no descriptor.
const noFd = ^uintptr(0)

func statSize(f File) (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
