package feed

import (
	"errors"
	"io"
	"time"

	"github.com/klog-project/klog/cmd/format"
)

// rowReader feeds records that only their own fields divide: they have to be read one
// by one, so one goroutine does it all.
type rowReader struct {
	f     *feed
	e     *encoder
	d     *descriptor // that is being read
	row   format.Row
	c     chunk
	begun bool // the encoder holds rows
	since time.Time
	bytes int
	rows  int
}

// errEnded tells the reader of a stream that the run is to end.
var errEnded = errors.New("the run is to end")

// stream reads all inputs.
func (f *feed) stream(seq *sequences) {
	r := &rowReader{f: f, e: newEncoder(&f.o, &f.frame, seq)}
	defer r.e.release()
	for len(f.src.inputs) > 0 && !f.stopped.Load() && !f.src.wait.ended() {
		d, err := f.src.inputs[0].open()
		if err != nil {
			r.fail(err)
			break
		}
		r.d, f.src.open, f.src.inputs = d, d, f.src.inputs[1:]
		if r.input() {
			f.src.open = nil
			d.close()
		}
	}
	r.flush()
}

// input reads one input, and reports whether it came to its end.
func (r *rowReader) input() bool {
	s := r.f.o.Stream.NewStream(r)
	defer s.Close()
	for !r.f.stopped.Load() {
		err := s.Next(&r.row)
		var wrong *format.InputError
		switch {
		case err == io.EOF:
			return true
		case errors.Is(err, errEnded):
			return false
		case errors.As(err, &wrong):
			r.begin()
			r.e.number++
			r.e.fail(wrong.Err)
			r.flush()
			return false
		case err != nil:
			r.fail(err)
			return false
		}
		r.add()
	}
	return false
}

// begin makes the encoder ready for rows.
func (r *rowReader) begin() {
	if !r.begun {
		r.c = chunk{now: r.f.src.millis()}
		r.e.reset(&r.c)
		r.begun, r.since, r.bytes, r.rows = true, time.Now(), 0, 0
	}
}

// add encodes the row in hand.
func (r *rowReader) add() {
	r.begin()
	e := r.e
	e.number++
	e.size = int64(len(r.row.Key) + len(r.row.Value))
	if to, ts, err := e.complete(&r.row); err != nil {
		e.fail(err)
	} else {
		e.put(to, &r.row, ts)
	}
	r.bytes += int(e.size)
	r.rows++
	if p := r.f.pace; e.failed.err != nil || r.bytes >= chunkSize || p != nil && r.rows >= p.burst {
		r.flush()
	}
}

// fail ends the run behind the rows that were read. No row is to blame.
func (r *rowReader) fail(err error) {
	r.begin()
	r.e.failed.err = err
	r.flush()
}

// flush appends what was read.
func (r *rowReader) flush() {
	if !r.begun {
		return
	}
	r.begun = false
	if p := r.f.pace; p != nil && r.rows > 0 {
		p.wait(&r.f.src.wait, r.rows)
	}
	r.e.endChunk()
	r.f.deliver(&r.c, r.e)
	if r.bytes > longChunk {
		r.e.reset(&chunk{}) // gives the memory of a huge record back
	}
}

// Read reads the input for the stream. Before it waits, what has been read so far goes
// into the log.
func (r *rowReader) Read(p []byte) (int, error) {
	w := &r.f.src.wait
	for {
		if w.ended() {
			return 0, errEnded
		}
		if !r.d.regular {
			ready, err := w.readable(r.d, r.patience())
			if err != nil {
				return 0, err
			}
			if !ready {
				r.flush()
				if ready, err = w.readable(r.d, forever); err != nil || !ready {
					continue
				}
			}
		}
		n, err := r.d.read(p)
		switch {
		case err == errNothing:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			r.d.enlarge(n)
			return n, nil
		}
	}
}

// patience is how long to wait for more before what was read is appended.
func (r *rowReader) patience() time.Duration {
	if !r.begun || r.f.src.linger == 0 {
		return 0
	}
	return max(0, r.f.src.linger-time.Since(r.since))
}
