package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// How often the trials with another process are made. Those of which many are made are
// asked for in parts, so that a slow disk is not taken for a process that hangs.
const (
	appendRounds  = 50
	appendPart    = 10
	renameRounds  = 300
	renamePart    = 30
	replaceRounds = 10
	createRounds  = 10
)

// pair is Doctor together with another process.
type pair struct {
	*doctor
	start  func(context.Context) (*Helper, error)
	dir    string // Doctor's directory as the other process sees it
	with   string
	other  *caller
	marker string // makes the names of files this pair's own
}

// examineWith looks at what shows only between two processes. The error is for a process
// that could not be started; one that hangs or ends fails the trial it is in.
func (d *doctor) examineWith(ctx context.Context, start func(context.Context) (*Helper, error), dir, with string) error {
	p := &pair{doctor: d, start: start, dir: dir, with: with, marker: "one-"}
	if with != "" {
		p.marker = "two-"
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer func() { p.other.end() }()
	for _, c := range []struct {
		name string
		look func(context.Context) (Verdict, string)
	}{
		{"locks", p.checkLocks},
		{"lock-of-killed", p.checkKill},
		{"append", p.checkAppend},
		{"rename", p.checkRename},
		{"replaced-file", p.checkReplaced},
		{"new-file", p.checkNew},
		{"inotify", p.checkInotify},
	} {
		verdict, detail := c.look(ctx)
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		d.add(Check{Name: c.name, With: with, Verdict: verdict, Detail: detail})
		if verdict != Bad {
			continue
		}
		// What went wrong may have left it waiting for something.
		d.side.close()
		p.other.end()
		if err := p.begin(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin starts the other process.
func (p *pair) begin(ctx context.Context) error {
	h, err := p.start(ctx)
	if err != nil {
		return fmt.Errorf("start another process: %w", err)
	}
	p.other, err = call(ctx, h, p.dir, p.patience)
	if err != nil {
		h.In.Close()
		_ = h.Kill()
		return fmt.Errorf("talk to the other process: %w", err)
	}
	return nil
}

// granted waits for the lock that the other process has given up.
func (p *pair) granted(ctx context.Context, name string) error {
	l, err := p.side.open(name)
	if err != nil {
		return err
	}
	got := make(chan error, 1)
	go func() { got <- l.Lock() }()
	return p.wait(ctx, got)
}

// wait waits for something that a file system may never let happen.
func (p *pair) wait(ctx context.Context, done <-chan error) error {
	t := time.NewTimer(p.patience)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return fmt.Errorf("nothing happens within %v", p.patience)
	}
}

func (p *pair) checkLocks(ctx context.Context) (Verdict, string) {
	name := p.marker + "lock"
	if _, err := p.other.ask(ctx, "lock", name); err != nil {
		return bad(err)
	}
	switch ok, err := p.side.tryLock(name); {
	case err != nil:
		return bad(err)
	case ok:
		return Bad, "two processes hold one lock at the same time"
	}
	if _, err := p.other.ask(ctx, "unlock", name); err != nil {
		return bad(err)
	}
	if err := p.granted(ctx, name); err != nil {
		return Bad, "a lock that was given up: " + err.Error()
	}
	switch ok, err := p.other.ask(ctx, "trylock", name); {
	case err != nil:
		return bad(err)
	case ok != "false":
		return Bad, "two processes hold one lock at the same time"
	}
	if err := p.side.unlock(name); err != nil {
		return bad(err)
	}
	return Good, "exclude the other process"
}

func (p *pair) checkKill(ctx context.Context) (Verdict, string) {
	name := p.marker + "kill"
	if _, err := p.other.ask(ctx, "lock", name); err != nil {
		return bad(err)
	}
	p.other.end()
	if err := p.granted(ctx, name); err != nil {
		// examineWith ends the other process once more, which does no harm.
		return Bad, "the lock of a killed process: " + err.Error()
	}
	if err := p.side.unlock(name); err != nil {
		return bad(err)
	}
	if err := p.begin(ctx); err != nil {
		return bad(err)
	}
	return Good, "is free at once"
}

// checkAppend lets both sides append to one file as fast as they can.
func (p *pair) checkAppend(ctx context.Context) (Verdict, string) {
	lock, name := p.marker+"append-lock", p.marker+"append"
	if err := p.side.put(name, ""); err != nil {
		return bad(err)
	}
	for from := 0; from < appendRounds; from += appendPart {
		if err := p.appendBoth(ctx, lock, name, from); err != nil {
			return bad(err)
		}
	}
	here, err := p.side.get(name)
	if err != nil {
		return bad(err)
	}
	there, err := p.other.ask(ctx, "get", name)
	if err != nil {
		return bad(err)
	}
	if lost := missingLines(here); lost > 0 {
		return Bad, fmt.Sprintf("of %d lines that two processes appended %d are lost", 2*appendRounds, lost)
	}
	if here != there {
		return Bad, "two processes see one file differently"
	}
	return Good, "no line of two processes is lost"
}

// appendBoth lets both sides append the next appendPart lines at the same time.
func (p *pair) appendBoth(ctx context.Context, lock, name string, from int) error {
	if err := p.other.send("appends", lock, name, "other", strconv.Itoa(from), strconv.Itoa(appendPart)); err != nil {
		return err
	}
	mine := side{fsys: p.fsys, dir: p.side.dir}
	done := make(chan error, 1)
	go func() {
		defer mine.close() // whatever happened, the other side is not to wait for it
		done <- mine.appends(lock, name, "mine", from, appendPart)
	}()
	if err := p.wait(ctx, done); err != nil {
		return err
	}
	_, err := p.other.answer(ctx)
	return err
}

// missingLines counts the lines of both sides that are not in the text where they belong.
func missingLines(text string) int {
	next := map[string]int{"mine": 0, "other": 0}
	for line := range strings.SplitSeq(text, "\n") {
		tag, number, _ := strings.Cut(line, " ")
		if i, ok := next[tag]; ok && number == strconv.Itoa(i) {
			next[tag]++
		}
	}
	return 2*appendRounds - next["mine"] - next["other"]
}
