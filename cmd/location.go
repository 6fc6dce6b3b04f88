package cmd

import (
	"path/filepath"
	"strconv"
	"strings"
)

// systemRoot is where root keeps its logs unless told otherwise.
const systemRoot = "/var/lib/klog"

// Root is the directory that holds the logs: --root, else KLOG_ROOT, else the default of
// the user. It need not exist.
func (e *Env) Root() (string, error) {
	if e.global.rootSet {
		return rootDir("--root", e.global.root)
	}
	if v := e.Getenv("KLOG_ROOT"); v != "" {
		return rootDir("KLOG_ROOT", v)
	}
	return e.defaultRoot()
}

// UsesDefaultRoot reports whether neither flag nor environment names the root.
func (e *Env) UsesDefaultRoot() bool {
	return !e.global.rootSet && e.Getenv("KLOG_ROOT") == ""
}

func (e *Env) defaultRoot() (string, error) {
	if e.Geteuid() == 0 {
		return systemRoot, nil
	}
	// The base directory specification has a relative XDG_DATA_HOME ignored.
	if d := e.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "klog"), nil
	}
	if d := e.Getenv("HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, ".local", "share", "klog"), nil
	}
	return "", &usageError{
		msg:  "no root: HOME and XDG_DATA_HOME are not set",
		hint: "say where the logs are with --root DIR or KLOG_ROOT",
	}
}

// rootDir turns what a user wrote into a directory. source names where it was written.
func rootDir(source, value string) (string, error) {
	scheme, rest, hasScheme := strings.Cut(value, "://")
	switch {
	case value == "":
		return "", usagef("%s: empty; it names the directory that holds the logs", source)
	case strings.ContainsRune(value, 0):
		return "", usagef("%s: a directory's name holds no NUL", source)
	case !hasScheme || strings.Contains(scheme, "/"):
		return filepath.Clean(value), nil
	case scheme == "file":
		return fileURL(source, rest)
	case scheme == "ssh":
		host, _, _ := strings.Cut(rest, "/")
		return "", &usageError{
			msg:  source + ": ssh:// roots are not built into this klog: it works on directories",
			hint: "run klog on that host: ssh " + sshTarget(host) + " klog …",
		}
	case scheme == "kafka":
		return "", &usageError{
			msg:  source + ": kafka:// roots are not built into this klog: it works on directories",
			hint: "on the broker's host, --root with the broker's log.dir reads its topics",
		}
	}
	return "", usagef("%s: %s: unknown kind of root; a directory or file:///directory is meant", source, quote(value))
}

// sshTarget is the host of an ssh:// root as an ssh command line wants it, or a
// placeholder when it holds anything that a shell or ssh might take for more.
func sshTarget(host string) string {
	host, _, _ = strings.Cut(host, ":")
	for i, r := range host {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '@' || r == '-' && i > 0
		if !ok {
			return "HOST"
		}
	}
	if host == "" {
		return "HOST"
	}
	return host
}

// fileURL is the path of what follows file://, percent signs decoded.
func fileURL(source, rest string) (string, error) {
	rest = strings.TrimPrefix(rest, "localhost")
	if !strings.HasPrefix(rest, "/") {
		return "", usagef("%s: file:// wants an absolute path: file:///srv/klog", source)
	}
	path, ok := unescape(rest)
	if !ok {
		return "", usagef("%s: bad %%-escape in %s", source, quote(rest))
	}
	return filepath.Clean(path), nil
}

func unescape(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+3 > len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || n == 0 {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}
