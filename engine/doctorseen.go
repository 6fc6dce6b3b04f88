package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/klog-project/klog/segments/vfs"
)

// checkRename reads a file all the time while the other side renames others over it.
func (p *pair) checkRename(ctx context.Context) (Verdict, string) {
	name := p.marker + "rename"
	if err := p.side.storm(name, 1); err != nil {
		return bad(err)
	}
	for range renameRounds / renamePart {
		wrong, err := p.readInStorm(ctx, name)
		switch {
		case err != nil:
			return bad(err)
		case wrong != "":
			return Bad, wrong
		}
	}
	return Good, "shows the old file or the new one"
}

// readInStorm says what was wrong with the file while the other side replaced it
// renamePart times; "" for nothing.
func (p *pair) readInStorm(ctx context.Context, name string) (wrong string, err error) {
	if err := p.other.send("storm", name, strconv.Itoa(renamePart)); err != nil {
		return "", err
	}
	done := make(chan error, 1)
	go func() {
		_, err := p.other.answer(ctx)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			return wrong, err
		default:
		}
		got, err := p.side.get(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = "a file that is being replaced is missing for a moment"
		case err != nil:
			wrong = "a file that is being replaced: " + err.Error()
		case len(got) != stormSize || strings.Trim(got, "a") != "" && strings.Trim(got, "b") != "":
			wrong = "a file that is being replaced shows neither the old content nor the new"
		}
	}
}

// checkReplaced tries whether each side sees at once what the other put in place.
func (p *pair) checkReplaced(ctx context.Context) (Verdict, string) {
	name := p.marker + "replaced"
	for i := range replaceRounds {
		want := "other " + strconv.Itoa(i)
		if _, err := p.other.ask(ctx, "replace", name, want); err != nil {
			return bad(err)
		}
		here, err := p.side.get(name)
		if err != nil {
			return bad(err)
		}
		if here != want {
			return Bad, "a file that another process replaced is still the old one"
		}
		want = "mine " + strconv.Itoa(i)
		if err := p.side.replace(name, want); err != nil {
			return bad(err)
		}
		there, err := p.other.ask(ctx, "get", name)
		if err != nil {
			return bad(err)
		}
		if there != want {
			return Bad, "a file that this process replaced is still the old one in another"
		}
	}
	return Good, "is seen at once"
}

// checkNew tries whether a file that was looked for in vain is found once it is there.
func (p *pair) checkNew(ctx context.Context) (Verdict, string) {
	for i := range createRounds {
		name := p.marker + "new-" + strconv.Itoa(i)
		if _, err := p.side.get(name); !errors.Is(err, fs.ErrNotExist) {
			return Bad, fmt.Sprintf("a file that does not exist: %v", err)
		}
		if _, err := p.other.ask(ctx, "put", name, "x"); err != nil {
			return bad(err)
		}
		got, err := p.side.get(name)
		if err != nil {
			return Bad, "a file that another process made: " + err.Error()
		}
		if got != "x" {
			return Bad, "a file that another process made is empty"
		}
	}
	return Good, "is seen at once"
}

// checkInotify waits for the news of a file that the other side makes. Without it readers
// poll, so nothing here is Bad.
func (p *pair) checkInotify(ctx context.Context) (Verdict, string) {
	const polls = ", followers look for new records several times a second"
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return Note, err.Error() + polls
	}
	defer w.Close()
	if err := w.Add(p.side.dir); err != nil {
		return Note, err.Error() + polls
	}
	name := p.marker + "event"
	if _, err := p.other.ask(ctx, "put", name, "x"); err != nil {
		return Note, err.Error()
	}
	t := time.NewTimer(min(p.patience, 2*time.Second))
	defer t.Stop()
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return Note, "the watch has ended" + polls
			}
			if filepath.Base(e.Name) == name {
				return Good, "tells of new records" + inotifyLimit()
			}
		case err := <-w.Errors:
			return Note, err.Error() + polls
		case <-t.C:
			return Note, "no event comes" + polls
		case <-ctx.Done():
			return Note, context.Cause(ctx).Error()
		}
	}
}

// inotifyLimit says how many processes of one user may follow before they have to poll.
func inotifyLimit() string {
	b, err := vfs.ReadFile(vfs.OS, "/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		return ""
	}
	return "; at most " + strings.TrimSpace(string(b)) + " followers of user " + strconv.Itoa(os.Getuid())
}
