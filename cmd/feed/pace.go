package feed

import (
	"golang.org/x/time/rate"
)

// pace holds a run back to so many records a second. The bucket is a tenth of a
// second's worth: records come evenly, and a fast rate is not cut into single ones.
type pace struct {
	limit *rate.Limiter
	burst int
}

func newPace(perSecond float64) *pace {
	burst := max(1, int(perSecond/10))
	return &pace{limit: rate.NewLimiter(rate.Limit(perSecond), burst), burst: burst}
}

// handle delivers a chunk in pieces, each when it is due. Once the run is to end the
// rest goes at once: it has been read. err is why nothing comes behind the chunk.
func (p *pace) handle(f *feed, c *chunk, e *encoder, err error) {
	rest := c.data
	for first := true; first || len(rest) > 0; first = false {
		piece := *c
		n := 0
		piece.data, rest, n = p.cut(&f.frame, rest)
		p.wait(&f.src.wait, max(n, 1))
		piece.now = f.src.millis()
		e.encode(&piece)
		if e.failed.err == nil && len(rest) == 0 {
			e.failed.err = err
		}
		f.deliver(&piece, e)
		if f.stopped.Load() {
			return
		}
	}
}

// cut divides data behind its first burst records.
func (p *pace) cut(frame *framing, data []byte) (piece, rest []byte, n int) {
	at := 0
	for n < p.burst && at < len(data) {
		_, next := frame.first(data[at:])
		if next < 0 {
			next = len(data) - at
		}
		at += next
		n++
	}
	return data[:at:at], data[at:], n
}

func (p *pace) wait(w *waiter, n int) {
	w.listen()
	if !w.ended() {
		_ = p.limit.WaitN(w.ctx, n) // it ends early when the run is to end
	}
}
