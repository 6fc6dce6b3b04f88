package vfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	bootIDFile = "/proc/sys/kernel/random/boot_id"
	statFile   = "/proc/stat"
)

// BootID is an identifier of this boot of the kernel, another after each reboot. A
// container may have been given one of its own: only together with a change of
// BootTime does another one mean a reboot.
func BootID() (string, error) {
	f, err := openFile(bootIDFile, os.O_RDONLY, 0) // every writer asks: without the poller
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b [64]byte
	n, err := f.Read(b[:])
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b[:n])), nil
}

// BootTime is when the kernel says it was booted, to the second. It moves with the
// wall clock when that is set. It costs some milliseconds on machines with many
// processors: ask only when BootID has changed.
func BootTime() (time.Time, error) {
	b, err := ReadFile(OS, statFile)
	if err != nil {
		return time.Time{}, err
	}
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte("btime "))
		if !ok {
			continue
		}
		sec, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("%s: btime: %w", statFile, err)
		}
		return time.Unix(sec, 0), nil
	}
	return time.Time{}, &fs.PathError{Op: "find btime in", Path: statFile, Err: fs.ErrNotExist}
}
