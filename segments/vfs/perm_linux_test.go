package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klog-project/klog/segments/vfs"
)

// owned says who may do what with a file: "1:10 rw-rw----".
func owned(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	fi, err := fsys.Stat(name)
	must(t, err)
	uid, gid, ok := vfs.Owner(fi)
	if !ok {
		t.Fatalf("%s: no owner", name)
	}
	return fmt.Sprintf("%d:%d %s", uid, gid, fi.Mode())
}

// openDir is a directory below one that everybody may pass, with owner and mode.
func openDir(t *testing.T, uid, gid int, mode fs.FileMode) string {
	t.Helper()
	top, err := os.MkdirTemp("", "vfs")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	must(t, os.Chmod(top, 0o755))
	dir := filepath.Join(top, "d")
	must(t, os.Mkdir(dir, 0o700))
	if os.Geteuid() == 0 {
		must(t, os.Chown(dir, uid, gid))
	}
	must(t, os.Chmod(dir, mode))
	return dir
}

// umask sets the umask of the process until the test ends.
func umask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func TestNewFilesInheritWhateverTheUmask(t *testing.T) {
	me := fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid())
	for _, mask := range []int{0, 0o022, 0o077, 0o777} {
		umask(t, mask)
		for mode, want := range map[fs.FileMode][2]string{
			0o700:                 {" -rw-------", " drwx------"},
			0o750:                 {" -rw-r-----", " drwxr-x---"},
			0o770:                 {" -rw-rw----", " drwxrwx---"},
			0o755:                 {" -rw-r--r--", " drwxr-xr-x"},
			0o777 | fs.ModeSticky: {" -rw-rw-rw-", " drwxrwxrwx"},
			0o770 | fs.ModeSetgid: {" -rw-rw----", " dgrwxrwx---"},
		} {
			dir := openDir(t, os.Geteuid(), os.Getegid(), mode)
			f, err := vfs.OpenOrCreate(vfs.OS, filepath.Join(dir, "f"))
			must(t, err)
			must(t, f.Close())
			must(t, vfs.WriteFile(vfs.OS, filepath.Join(dir, "w"), []byte("x")))
			must(t, vfs.MkdirAll(vfs.OS, filepath.Join(dir, "a/b")))
			for name, bits := range map[string]string{"f": want[0], "w": want[0], "a": want[1], "a/b": want[1]} {
				if got := owned(t, vfs.OS, filepath.Join(dir, name)); got != me+bits {
					t.Errorf("umask %#o, directory %s: %s is %s, want %s", mask, mode, name, got, me+bits)
				}
			}
		}
	}
}

func TestRootGivesWhatItMakesToTheDirectorysOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := openDir(t, 1001, 2002, 0o770|fs.ModeSetgid)
	for name, want := range makeAll(t, vfs.OS, dir) {
		if got := owned(t, vfs.OS, filepath.Join(dir, name)); got != "1001:2002 "+want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// makeAll makes a file and a directory in a directory of mode 2770 and says what bits
// they must have.
func makeAll(t *testing.T, fsys vfs.FS, dir string) map[string]string {
	f, err := vfs.OpenOrCreate(fsys, filepath.Join(dir, "f"))
	if err != nil {
		t.Error(err)
		return nil
	}
	f.Close()
	if err := vfs.Mkdir(fsys, filepath.Join(dir, "s")); err != nil {
		t.Error(err)
	}
	if err := vfs.WriteFile(fsys, filepath.Join(dir, "w"), []byte("x")); err != nil {
		t.Error(err)
	}
	return map[string]string{"f": "-rw-rw----", "w": "-rw-rw----", "s": "dgrwxrwx---"}
}

func TestMemberOfTheGroupKeepsItsOwnNameAndSharesByGroup(t *testing.T) {
	for _, mode := range []fs.FileMode{0o770, 0o770 | fs.ModeSetgid} {
		dir := openDir(t, 1001, 2002, mode)
		umask(t, 0o077)
		asUser(t, 1003, []int{3003, 2002}, func() {
			f, err := vfs.OpenOrCreate(vfs.OS, filepath.Join(dir, "f"))
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		})
		if got := owned(t, vfs.OS, filepath.Join(dir, "f")); got != "1003:2002 -rw-rw----" {
			t.Errorf("in %s: %s", mode, got)
		}
		asUser(t, 1004, []int{4004, 2002}, func() {
			f, err := vfs.OpenOrCreate(vfs.OS, filepath.Join(dir, "f"))
			if err != nil {
				t.Errorf("another member: %v", err)
				return
			}
			f.Close()
		})
	}
}

func TestStrangerToTheGroupGrantsItsOwnGroupNoMoreThanOthers(t *testing.T) {
	dir := openDir(t, 1001, 2002, 0o775|0o002)
	asUser(t, 1005, []int{5005}, func() {
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		f, err := vfs.OpenOrCreate(vfs.OS, filepath.Join(dir, "f"))
		must(err)
		if err == nil {
			must(f.Close())
		}
		must(vfs.Mkdir(vfs.OS, filepath.Join(dir, "s")))
	})
	if got := owned(t, vfs.OS, filepath.Join(dir, "f")); got != "1005:5005 -rw-rw-rw-" {
		t.Error(got)
	}
	root := vfs.NewMem()
	must(t, root.Chmod("/", 0o773))
	must(t, root.Chown("/", 1001, 2002))
	f, err := vfs.OpenOrCreate(root.As(1005, 5005), "/f")
	must(t, err)
	must(t, f.Close())
	if got := owned(t, root, "/f"); got != "1005:5005 -rw--w--w-" {
		t.Error(got)
	}
}

func TestReplacedFileKeepsOwnerAndMode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := openDir(t, 1001, 2002, 0o770)
	name := filepath.Join(dir, "f")
	must(t, os.WriteFile(name, []byte("old"), 0o600))
	must(t, os.Chown(name, 1006, 6006))
	must(t, os.Chmod(name, 0o604))
	must(t, vfs.WriteFile(vfs.OS, name, []byte("new")))
	if got := owned(t, vfs.OS, name); got != "1006:6006 -rw----r--" {
		t.Errorf("replaced by root: %s", got)
	}
	// A member of the group may replace it and cannot give it away: the rest is kept.
	must(t, os.Chown(name, 1006, 2002))
	must(t, os.Chmod(name, 0o664))
	asUser(t, 1003, []int{3003, 2002}, func() {
		if err := vfs.WriteFile(vfs.OS, name, []byte("newer")); err != nil {
			t.Error(err)
		}
	})
	if got := owned(t, vfs.OS, name); got != "1003:2002 -rw-rw-r--" || get(vfs.OS, name) != "newer" {
		t.Errorf("replaced by a member: %s, %q", got, get(vfs.OS, name))
	}
	// Of another group: what others may do is all that is granted to the wrong one.
	must(t, os.Chown(name, 1006, 6006))
	must(t, os.Chmod(name, 0o660))
	asUser(t, 1003, []int{3003, 2002}, func() {
		if err := vfs.WriteFile(vfs.OS, name, []byte("newest")); err != nil {
			t.Error(err)
		}
	})
	if got := owned(t, vfs.OS, name); !strings.HasSuffix(got, " -rw-------") {
		t.Errorf("replaced with another group: %s", got)
	}
}

func TestRefusedChownAndChmodDoNotPreventCreation(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		m := vfs.NewMem()
		must(t, m.Chown("/", 5, 5))
		f := vfs.NewFault(m, func(c vfs.Call) error {
			if c.Kind == vfs.KindChmod || c.Kind == vfs.KindChown {
				return e
			}
			return nil
		})
		file, err := vfs.OpenOrCreate(f, "/f")
		if err != nil {
			t.Errorf("%v: create: %v", e, err)
			continue
		}
		must(t, file.Close())
		if err := vfs.Mkdir(f, "/d"); err != nil {
			t.Errorf("%v: mkdir: %v", e, err)
		}
		if err := vfs.WriteFile(f, "/w", nil); err != nil {
			t.Errorf("%v: write: %v", e, err)
		}
	}
}

func TestFileWhoseModeIsOnItsWayIsWaitedFor(t *testing.T) {
	// Another user's file, made and not yet given its mode; the mode comes while
	// OpenOrCreate is looking at it.
	root := vfs.NewMem()
	must(t, root.Chmod("/", 0o777))
	put(t, root.As(1).Umask(0o077), "/f", "")
	looks := 0
	f := vfs.NewFault(root.As(2), func(c vfs.Call) error {
		if c.Kind == vfs.KindOpen {
			if looks++; looks == 3 {
				return root.Chmod("/f", 0o666)
			}
		}
		return nil
	})
	file, err := vfs.OpenOrCreate(f, "/f")
	must(t, err)
	must(t, file.Close())
	// A file that has content is finished: refused at once.
	put(t, root.As(1), "/g", "x")
	looks = 10
	if _, err := vfs.OpenOrCreate(f, "/g"); !errors.Is(err, fs.ErrPermission) || looks != 11 {
		t.Errorf("%v after %d looks", err, looks-10)
	}
}

func TestStickyDirectoryWithProtectedRegular(t *testing.T) {
	const sysctl = "/proc/sys/fs/protected_regular"
	old, err := os.ReadFile(sysctl)
	must(t, err)
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if err := os.WriteFile(sysctl, []byte("2"), 0); err != nil {
		t.Skipf("needs a writable %s", sysctl)
	}
	t.Cleanup(func() { os.WriteFile(sysctl, old, 0) })
	dir := openDir(t, 0, 0, 0o777|fs.ModeSticky)
	name := filepath.Join(dir, "f")
	asUser(t, 1001, []int{1001}, func() {
		f, err := vfs.OpenOrCreate(vfs.OS, name)
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
	})
	if _, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0); !errors.Is(err, syscall.EACCES) {
		t.Fatalf("the kernel does not protect: %v", err)
	}
	f, err := vfs.OpenOrCreate(vfs.OS, name)
	must(t, err)
	must(t, f.Close())
	asUser(t, 1002, []int{1002}, func() {
		f, err := vfs.OpenOrCreate(vfs.OS, name)
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
	})
	held, err := vfs.TryLock(vfs.OS, name)
	must(t, err)
	must(t, held.Unlock())
}

func TestDescribePermission(t *testing.T) {
	root := vfs.NewMem()
	must(t, root.Chmod("/", 0o755))
	must(t, root.Mkdir("/d", 0o755))
	must(t, root.Chown("/d", 0, 54321))
	put(t, root, "/d/f", "")
	must(t, root.Chmod("/d/f", 0o640))
	user := root.As(77)
	_, openErr := user.OpenFile("/d/f", os.O_RDWR, 0)
	_, createErr := user.OpenFile("/d/new", os.O_RDWR|os.O_CREATE, 0o600)
	_, missingErr := user.OpenFile("/d/none", os.O_RDWR, 0)
	for _, c := range []struct {
		err  error
		want string
	}{
		{openErr, "/d/f is owned by root:root, mode -rw-r-----"},
		{fmt.Errorf("append: %w", openErr), "/d/f is owned by root:root, mode -rw-r-----"},
		{createErr, "/d is owned by root:54321, mode drwxr-xr-x"},
		{user.Rename("/d/f", "/d/g"), "/d is owned by root:54321, mode drwxr-xr-x"},
		{user.Remove("/d/f"), "/d is owned by root:54321, mode drwxr-xr-x"},
		{user.Mkdir("/d/s", 0o755), "/d is owned by root:54321, mode drwxr-xr-x"},
		{missingErr, ""},
		{fs.ErrPermission, ""},
		{nil, ""},
	} {
		if got := vfs.DescribePermission(user, c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
