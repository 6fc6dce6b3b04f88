package vfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// DescribePermission says for an error that is a refusal (EACCES, EPERM) what stands
// in the way: path, owner and mode of the file it names or, where that does not exist
// or cannot be looked at, of the directory above it: "/srv/klog is owned by
// root:kafka, mode drwxr-xr-x". Empty for any other error.
func DescribePermission(fsys FS, err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	name := errorPath(err)
	if name == "" {
		return ""
	}
	for {
		if fi, err := fsys.Lstat(name); err == nil {
			return describe(name, fi)
		}
		parent := filepath.Dir(name)
		if parent == name {
			return ""
		}
		name = parent
	}
}

// errorPath is the path that err is about. Of a rename or link it is the directory of
// the new name, which is the one that has to be written to.
func errorPath(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		switch pe.Op {
		case "remove", "unlink", "rmdir", "unlinkat", "mkdir":
			return filepath.Dir(pe.Path)
		}
		return pe.Path
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return filepath.Dir(le.New)
	}
	return ""
}

func describe(name string, fi fs.FileInfo) string {
	uid, gid, ok := Owner(fi)
	if !ok {
		return fmt.Sprintf("%s has mode %s", name, fi.Mode())
	}
	return fmt.Sprintf("%s is owned by %s:%s, mode %s", name,
		accountName("/etc/passwd", uid), accountName("/etc/group", gid), fi.Mode())
}

// accountName looks an id up in a file of the form name:password:id:…, and is the
// number where it is not there. Package os/user would bring in cgo, or a resolver
// that asks the network, for the sake of one word in a message.
func accountName(file string, id int) string {
	number := strconv.Itoa(id)
	b, err := ReadFile(OS, file)
	if err != nil {
		return number
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		f := strings.SplitN(sc.Text(), ":", 4)
		if len(f) >= 3 && f[2] == number && f[0] != "" {
			return f[0]
		}
	}
	return number
}
