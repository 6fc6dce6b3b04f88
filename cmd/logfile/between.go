package logfile

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// between finds the file that came after the one that is open and was rotated too before
// anybody looked: the name of its path is "". It is told from what else may lie there, as
// backups, by all of
//
//	its name       begins as the path's, and not with the end of a compressed file's
//	its birth      lies between those of the open file and the one at the path
//	its last change is not before the open file's
//	its content    is not a copy of one that was born before it
//
// Where the file system keeps no times of birth nothing is found.
func (r *Reader) between() string {
	mine, ok := r.itself()
	last, found := look(r.path)
	if !ok || !found {
		return ""
	}
	var all []candidate
	for _, name := range siblings(r.path) {
		if c, ok := look(name); ok && c.size > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.born.Compare(b.born), a.changed.Compare(b.changed))
	})
	for i, c := range all {
		if c.is(mine) || c.is(last) || c.born.Before(mine.born) || c.born.After(last.born) || c.changed.Before(mine.changed) {
			continue
		}
		if !slices.ContainsFunc(all[:i], c.copies) && !c.copies(last) {
			return c.name
		}
	}
	return ""
}

// candidate is a file that may have been at the path.
type candidate struct {
	name          string
	inode         uint64
	device        uint64
	size          int64
	born, changed time.Time
}

func (c candidate) is(o candidate) bool { return c.inode == o.inode && c.device == o.device }

// siblings are the files whose name begins as the path's.
func siblings(path string) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) && e.Type().IsRegular() && !compressed(e.Name()) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

func compressed(name string) bool {
	switch filepath.Ext(name) {
	case ".gz", ".bz2", ".xz", ".zst", ".lz4", ".lzma", ".Z", ".zip":
		return true
	}
	return false
}

// itself is what is known of the open file, under the name that it has now.
func (r *Reader) itself() (candidate, bool) {
	for _, name := range siblings(r.path) {
		if c, ok := look(name); ok && c.inode == r.id.Inode && c.device == r.id.Device {
			return c, true
		}
	}
	return candidate{}, false
}

// copies reports whether c begins with all of the other file, or the other with all of
// c, as far as it is worth to look.
func (c candidate) copies(o candidate) bool {
	const most = 64 << 10
	x, y := beginning(c.name, most), beginning(o.name, most)
	n := min(len(x), len(y))
	return n > 0 && bytes.Equal(x[:n], y[:n])
}

func beginning(name string, n int64) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, n))
	return b
}
