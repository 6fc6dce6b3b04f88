package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/segments/vfs"
)

// A side is one of two processes at work in Doctor's directory. It does with files what
// klog does with those of a partition on a shared file system: nothing is kept open, no
// size is believed that may be cached. One goroutine at a time may use it.
type side struct {
	fsys  vfs.FS
	dir   string
	locks map[string]vfs.LockFile
}

func (s *side) path(name string) string { return filepath.Join(s.dir, name) }

// open opens the lock file name, making it where it is missing.
func (s *side) open(name string) (vfs.LockFile, error) {
	if l := s.locks[name]; l != nil {
		return l, nil
	}
	f, err := vfs.OpenOrCreate(s.fsys, s.path(name))
	if err != nil {
		return nil, err
	}
	f.Close()
	l, err := s.fsys.OpenLock(s.path(name))
	if err != nil {
		return nil, err
	}
	if s.locks == nil {
		s.locks = make(map[string]vfs.LockFile)
	}
	s.locks[name] = l
	return l, nil
}

func (s *side) lock(name string) error {
	l, err := s.open(name)
	if err != nil {
		return err
	}
	return l.Lock()
}

func (s *side) tryLock(name string) (bool, error) {
	l, err := s.open(name)
	if err != nil {
		return false, err
	}
	return l.TryLock()
}

func (s *side) unlock(name string) error {
	l, err := s.open(name)
	if err != nil {
		return err
	}
	return l.Unlock()
}

// close gives all locks up.
func (s *side) close() {
	for name, l := range s.locks {
		l.Close()
		delete(s.locks, name)
	}
}

// put makes the file name, which must not exist, and writes data into it.
func (s *side) put(name, data string) error {
	f, err := vfs.Create(s.fsys, s.path(name))
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(data), 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// get opens the file name anew and reads it whole.
func (s *side) get(name string) (string, error) {
	f, err := s.fsys.OpenFile(s.path(name), os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, err := vfs.FreshSize(f)
	if err != nil {
		return "", err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(b[:n]), err
}

// replace puts data at name by renaming a whole file over it.
func (s *side) replace(name, data string) error {
	err := vfs.WriteFile(s.fsys, s.path(name), []byte(data))
	if errors.Is(err, vfs.ErrNoDirSync) {
		return nil
	}
	return err
}

// stormSize is how long the files are that storm renames: more than a page.
const stormSize = 8192

// storm renames whole files of one letter over name, n times, as fast as it can.
func (s *side) storm(name string, n int) error {
	for i := range n {
		temp := name + ".tmp"
		if err := s.put(temp, strings.Repeat(string(rune('a'+i%2)), stormSize)); err != nil {
			return err
		}
		if err := s.fsys.Rename(s.path(temp), s.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// appends appends n lines, "tag from" and so on, to name, each under the lock lockName as
// a producer does: open anew, lock that file too, see where it ends, write, sync, close.
func (s *side) appends(lockName, name, tag string, from, n int) error {
	for i := from; i < from+n; i++ {
		if err := s.lock(lockName); err != nil {
			return err
		}
		err := s.appendLine(name, fmt.Sprintf("%s %d\n", tag, i))
		if uerr := s.unlock(lockName); err == nil {
			err = uerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *side) appendLine(name, line string) error {
	f, err := s.fsys.OpenLock(s.path(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Lock(); err != nil {
		return err
	}
	size, err := vfs.FreshSize(f)
	if err != nil {
		return err
	}
	last := make([]byte, 1)
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last[0] != '\n' {
			return errors.New("the last line is not as the process before wrote it")
		}
	}
	if _, err := f.WriteAt([]byte(line), size); err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !vfs.CannotSync(err) {
		return err
	}
	return nil
}
