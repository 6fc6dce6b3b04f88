package segments

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipWriter compresses with one writer that it keeps.
type gzipWriter struct {
	w     *gzip.Writer
	level int
	out   sliceWriter
}

// sliceWriter appends what is written to it.
type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// compress appends src as one member.
func (z *gzipWriter) compress(dst []byte, level int, src []byte) ([]byte, error) {
	z.out.b = dst
	defer func() { z.out.b = nil }()
	if z.w != nil && z.level == level {
		z.w.Reset(&z.out)
	} else {
		effort := gzip.DefaultCompression
		if level != 0 {
			effort = min(max(level, gzip.BestSpeed), gzip.BestCompression)
		}
		w, err := gzip.NewWriterLevel(&z.out, effort)
		if err != nil {
			return dst, err
		}
		z.w, z.level = w, level
	}
	if _, err := z.w.Write(src); err != nil {
		return dst, err
	}
	if err := z.w.Close(); err != nil {
		return dst, err
	}
	return z.out.b, nil
}

// gzipReader decompresses with one reader that it keeps.
type gzipReader struct {
	z  *gzip.Reader
	in bytes.Reader
}

// decompress reads one member after the other. What follows the last one and is no
// member is ignored, as in Kafka.
func (r *gzipReader) decompress(dst, src []byte, limit int) ([]byte, error) {
	defer r.in.Reset(nil)
	if err := r.open(src); err != nil {
		return dst, err
	}
	out := output{b: dst, limit: limit}
	first := min(max(4*len(src), 512), keepBytes)
	for {
		if len(out.b) == cap(out.b) {
			err := out.room(first, func() (int, error) { return r.measure(src, len(out.b), limit) })
			if err != nil {
				return out.b, err
			}
			first = 1
		}
		free := out.b[len(out.b):cap(out.b)]
		if len(free) == 0 {
			// Measured and full: one more byte would be one too many.
			free = make([]byte, 1)
		}
		n, err := r.z.Read(free)
		out.b = append(out.b, free[:n]...)
		if len(out.b) > limit {
			return out.b, ErrDecompressedTooLarge
		}
		if err == io.EOF {
			if !r.nextMember() {
				return out.b, nil
			}
			continue
		}
		if err != nil {
			return out.b, cutIsError(err)
		}
	}
}

// open begins with the first member of src.
func (r *gzipReader) open(src []byte) error {
	r.in.Reset(src)
	if r.z == nil {
		// A reader of a bytes.Reader takes no byte too many: the next member begins
		// where the last one ended.
		z, err := gzip.NewReader(&r.in)
		if err != nil {
			return cutIsError(err)
		}
		r.z = z
	} else if err := r.z.Reset(&r.in); err != nil {
		return cutIsError(err)
	}
	r.z.Multistream(false)
	return nil
}

// nextMember reports whether another member begins behind the one that has ended.
func (r *gzipReader) nextMember() bool {
	if r.in.Len() == 0 || r.z.Reset(&r.in) != nil {
		return false
	}
	r.z.Multistream(false)
	return true
}

// measure says how many bytes src has behind the first have, and leaves the reader
// there. It stops counting beyond limit.
func (r *gzipReader) measure(src []byte, have, limit int) (int, error) {
	total, err := r.skip(int64(limit) + 1)
	if err != nil {
		return 0, err
	}
	if err := r.open(src); err != nil {
		return 0, err
	}
	_, err = r.skip(int64(have))
	return int(total), err
}

// skip reads n bytes, or all there are, and says how many they were.
func (r *gzipReader) skip(n int64) (int64, error) {
	done := int64(0)
	for done < n {
		k, err := io.CopyN(io.Discard, r.z, n-done)
		done += k
		if err == io.EOF {
			if !r.nextMember() {
				break
			}
			continue
		}
		if err != nil {
			return done, cutIsError(err)
		}
	}
	return done, nil
}

// cutIsError names the end of the input for what it is: inside a batch no more can
// come.
func cutIsError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errStreamCut
	}
	return err
}
