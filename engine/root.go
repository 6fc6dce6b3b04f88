package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/klog-project/klog/segments/vfs"
)

// Root is a directory of topics, klog's own or a Kafka broker's log.dir. Its methods may
// be called concurrently. It holds no file open and needs no closing.
type Root struct {
	dir    string // as given, cleaned
	fs     vfs.FS
	o      Options
	writes bool // opened by Create: the version file is minded
	shared bool // opened by Create on a shared file system: appends take the careful path
	fsType func(path string) (vfs.Type, error)

	mu   sync.Mutex // guards what follows
	defs *defaults  // nil until they are needed
	told []string   // topics whose damaged entry was told
}

// Open opens the root dir for reading and creates nothing. The error is a *NoRootError if
// it is not there.
func Open(dir string, o Options) (*Root, error) {
	r := newRoot(dir, o)
	fi, err := r.fs.Stat(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoRootError{Dir: r.dir}
	}
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", r.dir)
	}
	return r, nil
}

// Create opens the root dir for writing and makes it, 0770, where it is missing. The
// error is a *TooNewError, *SharedFSError or, while a Kafka broker runs on it, a
// *LockedError where writing is not allowed.
func Create(dir string, o Options) (*Root, error) {
	return create(newRoot(dir, o))
}

func create(r *Root) (*Root, error) {
	r.writes = true
	if err := r.checkShared(); err != nil {
		return nil, err
	}
	if err := r.checkKafka(); err != nil {
		return nil, err
	}
	found, err := r.checkVersion()
	if err != nil {
		return nil, err
	}
	if !found {
		if err := r.establish(); err != nil {
			return nil, fmt.Errorf("create root %s: %w", r.dir, err)
		}
	}
	return r, nil
}

func newRoot(dir string, o Options) *Root {
	fsType := vfs.FSType
	if o.FS != nil && o.FS != vfs.OS {
		// Only the real file system can be a shared one.
		fsType = func(string) (vfs.Type, error) { return vfs.Type{Name: "memory"}, nil }
	}
	return newRootOn(dir, o, fsType)
}

func newRootOn(dir string, o Options, fsType func(string) (vfs.Type, error)) *Root {
	return &Root{dir: filepath.Clean(dir), fs: o.tolerantFS(), o: o, fsType: fsType}
}

// Dir is the root's directory as it was given.
func (r *Root) Dir() string { return r.dir }
