package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// ROOT/.klog/shared says that writing over a shared file system was tried and is allowed.
// It is lines of key=value; keys that this program does not know are carried through.
const (
	sharedTypesKey  = "file.systems" // names, separated by commas: one of each kind of host
	sharedTestedKey = "tested"       // RFC 3339, when it was tried last
	sharedPeerKey   = "peer"         // the other host that took part last, "" for none
)

// SharedAllowed reports whether the record in the root dir allows writing while the root
// is seen through a shared file system of the type fsName: a root that was moved to
// another one must be tried anew.
func SharedAllowed(fsys vfs.FS, dir, fsName string) (bool, error) {
	r := &Root{dir: filepath.Clean(dir), fs: fsys}
	lines, err := r.readShared()
	if err != nil {
		return false, err
	}
	return slices.Contains(sharedTypes(lines), fsName), nil
}

// EnableShared examines with Doctor whether the root dir may be written to over the
// shared file system it lies on and, where the report is Fit, records in the root that it
// may. The root's directory is made where it is missing. On a local file system there is
// nothing to record: the report says what there is to say, and Enabled is false.
func EnableShared(ctx context.Context, dir string, o DoctorOptions) (Report, error) {
	r := newRoot(dir, o.Options)
	if err := r.checkKafka(); err != nil {
		return Report{Dir: r.dir}, err
	}
	if _, err := r.checkVersion(); err != nil {
		return Report{Dir: r.dir}, err
	}
	if err := r.makeDir(); err != nil {
		return Report{Dir: r.dir}, err
	}
	report, err := Doctor(ctx, r.dir, o)
	if err != nil || !report.Fit() || !report.FS.Shared {
		return report, err
	}
	if err := r.recordShared(ctx, report, o); err != nil {
		return report, fmt.Errorf("record that %s may be written to: %w", r.dir, err)
	}
	report.Enabled = true
	return report, nil
}

func (r *Root) recordShared(ctx context.Context, report Report, o DoctorOptions) error {
	if err := vfs.MkdirAll(r.fs, r.statePath()); err != nil {
		return err
	}
	unlock, err := r.lockRoot(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	lines, err := r.readShared()
	if err != nil {
		return err
	}
	types := sharedTypes(lines)
	if !slices.Contains(types, report.FS.Name) {
		types = append(types, report.FS.Name)
	}
	peer := ""
	if o.Peer != nil {
		peer = o.PeerName
	}
	lines = setLine(lines, sharedTypesKey, strings.Join(types, ","))
	lines = setLine(lines, sharedTestedKey, o.now().UTC().Format(time.RFC3339))
	lines = setLine(lines, sharedPeerKey, peer)
	err = vfs.WriteFile(r.fs, r.statePath(sharedFileName), []byte(strings.Join(lines, "\n")+"\n"))
	if errors.Is(err, vfs.ErrNoDirSync) {
		return nil // the report says it
	}
	return err
}

// readShared reads the lines of the record; none where there is no record.
func (r *Root) readShared() ([]string, error) {
	b, err := vfs.ReadFile(r.fs, r.statePath(sharedFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(b), func(c rune) bool { return c == '\n' }), nil
}

func sharedTypes(lines []string) []string {
	for _, l := range lines {
		if v, ok := strings.CutPrefix(l, sharedTypesKey+"="); ok && v != "" {
			return strings.Split(v, ",")
		}
	}
	return nil
}

// setLine sets key in lines, in its place or at the end.
func setLine(lines []string, key, value string) []string {
	for i, l := range lines {
		if strings.HasPrefix(l, key+"=") {
			lines[i] = key + "=" + value
			return lines
		}
	}
	return append(lines, key+"="+value)
}
