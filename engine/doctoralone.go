package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/klog-project/klog/segments/vfs"
)

// examineAlone looks at what one process can see.
func (d *doctor) examineAlone() {
	d.add(d.checkType())
	for _, c := range []struct {
		name string
		look func() (Verdict, string)
	}{
		{"permissions", d.checkPermissions},
		{"file-numbers", d.checkNumbers},
		{"truncate", d.checkTruncate},
		{"fsync", d.checkSync},
		{"fsync-directory", d.checkSyncDir},
		{"open-files", checkOpenFiles},
	} {
		verdict, detail := c.look()
		d.add(Check{Name: c.name, Verdict: verdict, Detail: detail})
	}
}

// checkType judges by the file system's name, and by mount options that switch off what
// the trials of one host cannot miss.
func (d *doctor) checkType() Check {
	t := d.report.FS
	c := Check{Name: "file-system", Verdict: Good, Detail: t.Name + ", local"}
	if t.Name == "overlay" {
		c.Verdict, c.Detail = Note, "overlay, local: other containers have locks and files of their own"
	}
	if !t.Shared {
		return c
	}
	c.Verdict, c.Detail = Note, t.Name+", shared: other hosts may write here too"
	for o := range strings.SplitSeq(t.Options, ",") {
		switch o {
		case "nolock", "local_lock=all", "local_lock=flock", "localflock", "nobrl":
			c.Verdict, c.Detail = Bad, fmt.Sprintf("%s, mounted with %s: locks do not reach other hosts", t.Name, o)
		}
	}
	return c
}

func bad(err error) (Verdict, string) { return Bad, err.Error() }

// checkPermissions tries whether modes can be set and are kept.
func (d *doctor) checkPermissions() (Verdict, string) {
	f, err := vfs.OpenOrCreate(d.fsys, d.side.path("mode"))
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	for _, mode := range []os.FileMode{0o640, 0o660} {
		err := f.Chmod(mode)
		if err == nil {
			fi, serr := d.fsys.Stat(d.side.path("mode"))
			if serr != nil {
				return bad(serr)
			}
			if fi.Mode().Perm() == mode {
				continue
			}
			err = fmt.Errorf("mode %s became %s", mode, fi.Mode().Perm())
		}
		return Note, "permissions cannot be set, users cannot share: " + err.Error()
	}
	return Good, "are kept"
}

// checkNumbers tries whether device and inode say which file is open: by them a writer
// proves that what it locked is what is there.
func (d *doctor) checkNumbers() (Verdict, string) {
	path := d.side.path("number")
	f, err := vfs.OpenOrCreate(d.fsys, path)
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	for range 3 {
		mine, err := f.Stat()
		if err != nil {
			return bad(err)
		}
		there, err := d.fsys.Stat(path)
		if err != nil {
			return bad(err)
		}
		if !vfs.SameFile(mine, there) {
			return Bad, "a file has one inode number when open and another by its name"
		}
	}
	return Good, "say which file is open"
}

// checkTruncate tries whether a torn tail can be cut and comes not back.
func (d *doctor) checkTruncate() (Verdict, string) {
	const whole, cut, next = 10_000, 5000, 6000
	f, err := vfs.OpenOrCreate(d.fsys, d.side.path("cut"))
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("x", whole)), 0); err != nil {
		return bad(err)
	}
	if err := f.Truncate(cut); err != nil {
		return bad(err)
	}
	if _, err := f.WriteAt([]byte("y"), next); err != nil {
		return bad(err)
	}
	got, err := d.side.get("cut")
	if err != nil {
		return bad(err)
	}
	if got != strings.Repeat("x", cut)+strings.Repeat("\x00", next-cut)+"y" {
		return Bad, "what was cut off a file came back"
	}
	return Good, "cuts a file"
}

func (d *doctor) checkSync() (Verdict, string) {
	f, err := vfs.OpenOrCreate(d.fsys, d.side.path("sync"))
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		return bad(err)
	}
	err = f.Sync()
	switch {
	case vfs.CannotSync(err):
		return Bad, "not supported, nothing is safe from a power failure: " + err.Error()
	case err != nil:
		return bad(err)
	}
	return Good, "works"
}

func (d *doctor) checkSyncDir() (Verdict, string) {
	err := d.fsys.SyncDir(d.side.dir)
	switch {
	case errors.Is(err, vfs.ErrNoDirSync):
		return Note, "not supported: new segments and topics may be lost on power failure"
	case err != nil:
		return bad(err)
	}
	return Good, "works"
}

// fewFiles is what one partition takes with its indexes, a hundred times over.
const fewFiles = 512

// checkOpenFiles looks at how many files a process may have open: a follower needs about
// three for each partition it is in.
func checkOpenFiles() (Verdict, string) {
	n, err := maxOpenFiles()
	if err != nil {
		return Note, "limit unknown: " + err.Error()
	}
	if n < fewFiles {
		return Note, fmt.Sprintf("%d for one process, few for more than %d partitions at once", n, n/4)
	}
	return Good, fmt.Sprintf("%d for one process", n)
}
