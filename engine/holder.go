package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// Holder is what is known of a process that holds a lock.
type Holder struct {
	PID     int       // 0: not known
	Host    string    // "": this one
	Command string    // "": not known
	Since   time.Time // when it first took the lock; zero: not known
	// LastKnown is set when the kernel did not name the holder and the words come from
	// the lock file: whoever wrote them may be gone.
	LastKnown bool
	// Foreign is set when the holder lives in another pid namespace or on another host:
	// its PID means nothing here and must never be signalled.
	Foreign bool
}

// String is the holder as a message names it.
func (h Holder) String() string {
	if h.PID == 0 && h.Host == "" && h.Command == "" {
		return "an unknown process"
	}
	s := "a process"
	if h.PID != 0 {
		s = fmt.Sprintf("pid %d", h.PID)
	}
	if h.Command != "" {
		s += " (" + h.Command + ")"
	}
	host := h.Host
	if host == "" && !h.Foreign {
		host, _ = os.Hostname()
	}
	if host != "" {
		s += " on " + host
	}
	if h.Foreign {
		s += " in another pid namespace"
	}
	if h.LastKnown {
		s += ", last known"
	}
	return s
}

// LockUser is a process that holds a lock or waits for it.
type LockUser struct {
	Holder
	Waiting bool
}

// holderSize is the size of the block in which a lock file names its holder: text,
// padded with spaces, so that one pwrite replaces the whole of it.
const holderSize = 256

// holderLine is what this process writes into a lock file that it holds: for people
// and for doctor. The lock alone decides who holds it.
func holderLine(pid int, ns, host, command string, since int64) []byte {
	s := fmt.Sprintf("pid=%d ns=%s since=%d host=%s command=%s", pid, ns, since, host, printable(command))
	if len(s) > holderSize-1 {
		s = s[:holderSize-1]
	}
	return []byte(s + strings.Repeat(" ", holderSize-1-len(s)) + "\n")
}

// nameHolder writes into a lock file that this process holds who holds it. A failure to
// write the words changes nothing.
func nameHolder(f vfs.File, program string) {
	host, _ := os.Hostname()
	_, _ = f.WriteAt(holderLine(os.Getpid(), pidNamespace(), host, cmp.Or(program, strings.Join(os.Args, " ")), time.Now().UnixMilli()), 0)
}

func parseHolderLine(b []byte) (h Holder, ns string, ok bool) {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	s := strings.TrimRight(string(line), " \x00")
	rest, command, found := strings.Cut(s, " command=")
	if !found {
		return h, "", false
	}
	for _, f := range strings.Fields(rest) {
		k, v, _ := strings.Cut(f, "=")
		switch k {
		case "pid":
			h.PID, _ = strconv.Atoi(v)
		case "ns":
			ns = v
		case "since":
			if ms, err := strconv.ParseInt(v, 10, 64); err == nil {
				h.Since = time.UnixMilli(ms)
			}
		case "host":
			h.Host = printable(v)
		}
	}
	h.Command = printable(command)
	return h, ns, h.PID > 0
}

// printable keeps a command line from another process from painting on a terminal.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:117], "") + "..."
	}
	return s
}

// pidNamespace names the pid namespace of this process, "" where there is none.
func pidNamespace() string {
	s, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "pid:["), "]")
}

// Types of locks in /proc/locks.
const (
	flockType = "FLOCK" // klog's
	posixType = "POSIX" // Kafka's
)

// lockKey is a file and a type of lock in the words of /proc/locks.
func lockKey(kind string, dev, ino uint64) string {
	return fmt.Sprintf("%s %02x:%02x:%d", kind, major(dev), minor(dev), ino)
}

// lockTable is all of /proc/locks by lockKey. It is empty where there is no such file.
func lockTable() map[string][]LockUser {
	b, err := vfs.ReadFile(vfs.OS, "/proc/locks")
	if err != nil {
		return nil
	}
	table := map[string][]LockUser{}
	for line := range strings.Lines(string(b)) {
		fs := strings.Fields(line)
		waiting := len(fs) > 1 && fs[1] == "->"
		if waiting {
			fs = fs[1:]
		}
		if len(fs) < 6 {
			continue
		}
		h := LockUser{Waiting: waiting}
		h.PID, _ = strconv.Atoi(fs[4])
		if h.PID <= 0 {
			h.PID, h.Foreign = 0, true
		}
		key := fs[1] + " " + fs[5]
		table[key] = append(table[key], h)
	}
	return table
}

// commandOf is the command line of a process on this host, "" when it cannot be read.
func commandOf(pid int) string {
	b, err := vfs.ReadFile(vfs.OS, fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return printable(string(bytes.ReplaceAll(bytes.TrimRight(b, "\x00"), []byte{0}, []byte{' '})))
}

// major and minor split a Linux device number as /proc/locks prints it.
func major(dev uint64) uint64 { return dev>>8&0xfff | dev>>32&^uint64(0xfff) }
func minor(dev uint64) uint64 { return dev&0xff | dev>>12&^uint64(0xff) }

// LockUsers names who holds and who waits for the lock file at path: from the
// kernel where it tells, completed by what the file itself says, marked LastKnown.
// It takes no lock.
func LockUsers(path string) ([]LockUser, error) {
	return lockUsers(lockTable(), flockType, path)
}

// lockUsers is LockUsers with the kernel's table read before.
func lockUsers(table map[string][]LockUser, kind, path string) ([]LockUser, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil
	}
	hs := slices.Clone(table[lockKey(kind, uint64(sys.Dev), sys.Ino)])
	if len(hs) == 0 {
		return nil, nil
	}
	b, _ := vfs.ReadFile(vfs.OS, path) // what it says only completes what the kernel says
	known, ns, ok := parseHolderLine(b)
	for i := range hs {
		if hs[i].PID > 0 {
			hs[i].Command = commandOf(hs[i].PID)
		}
		switch {
		case !ok || hs[i].Waiting:
		case hs[i].Foreign:
			hs[i].PID, hs[i].Host, hs[i].Command, hs[i].Since = known.PID, known.Host, known.Command, known.Since
			hs[i].Foreign = ns != pidNamespace()
			hs[i].LastKnown = true
		case hs[i].PID == known.PID:
			hs[i].Since = known.Since
		}
	}
	return hs, nil
}

// holderOf is the holder of the lock file at path as a message may name it.
func holderOf(path string) Holder {
	hs, _ := LockUsers(path)
	for _, h := range hs {
		if !h.Waiting {
			return h.Holder
		}
	}
	b, err := vfs.ReadFile(vfs.OS, path)
	if err != nil {
		return Holder{}
	}
	h, ns, ok := parseHolderLine(b)
	if !ok {
		return Holder{}
	}
	host, _ := os.Hostname()
	h.LastKnown = true
	h.Foreign = ns != pidNamespace() || h.Host != host
	return h
}
