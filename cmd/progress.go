package cmd

import (
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/klog-project/klog/cmd/value"
)

const (
	progressDelay = time.Second            // work that is done sooner shows nothing
	progressPace  = 200 * time.Millisecond // between two looks of the line
)

// progress tells how far long work has come: on a terminal in a line that is drawn
// again and again, elsewhere not at all. SIGUSR1 prints one line in both.
type progress struct {
	e     *Env
	total int64 // bytes, -1 when not known
	drawn bool  // on a terminal
	done  atomic.Int64
	began time.Time
	end   chan struct{}
	ended sync.WaitGroup
}

// startProgress begins to show progress over total bytes, -1 when not known. The caller
// calls stop.
func (e *Env) startProgress(total int64) *progress { return e.startCounting(total, true) }

// startCounting is startProgress; without drawn it speaks only when SIGUSR1 asks.
func (e *Env) startCounting(total int64, drawn bool) *progress {
	p := &progress{e: e, total: total, drawn: drawn, began: e.Now(), end: make(chan struct{})}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	p.ended.Go(func() { p.show(asked) })
	return p
}

// add tells that n more bytes are done. It may be called from several goroutines.
func (p *progress) add(n int64) { p.done.Add(n) }

// stop ends the showing and wipes the line.
func (p *progress) stop() {
	close(p.end)
	p.ended.Wait()
}

func (p *progress) show(asked chan os.Signal) {
	defer signal.Stop(asked)
	var tick <-chan time.Time
	if p.drawn && p.e.IsTerminal(p.e.Stderr) && !p.e.global.quiet {
		t := time.NewTicker(progressPace)
		defer t.Stop()
		defer p.e.setStatusLine("")
		tick = t.C
	}
	for {
		select {
		case <-p.end:
			return
		case <-asked:
			p.e.say(p.text(p.e.Now()))
		case <-tick:
			if now := p.e.Now(); now.Sub(p.began) >= progressDelay {
				p.e.setStatusLine(p.text(now))
			}
		}
	}
}

// text is "1.2GiB of 4GiB (30%), 350MiB/s, 8s left".
func (p *progress) text(now time.Time) string {
	done, seconds := p.done.Load(), now.Sub(p.began).Seconds()
	s := value.FormatSize(done)
	if p.total > 0 {
		percent := int64(float64(done) / float64(p.total) * 100)
		s += " of " + value.FormatSize(p.total) + " (" + strconv.FormatInt(min(percent, 100), 10) + "%)"
	}
	if seconds <= 0 || done == 0 {
		return s
	}
	rate := float64(done) / seconds
	s += ", " + value.FormatSize(int64(rate)) + "/s"
	if p.total > done {
		left := time.Duration(float64(p.total-done) / rate * float64(time.Second))
		s += ", " + value.FormatDuration(left.Round(time.Second)) + " left"
	}
	return s
}
