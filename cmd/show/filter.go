package show

import (
	"math"
	"regexp"

	"github.com/klog-project/klog/segments"
)

// Filter says which records are printed. The zero value keeps all. It does not change
// once it is in use and may be used by several goroutines at once.
type Filter struct {
	// Since and Until bound the timestamps, in ms; Until is exclusive. nil: no bound. A
	// record without a timestamp lies in no window.
	Since, Until *int64
	// Value and Key match the value and the key; null matches nothing. nil: no matter.
	Value, Key *regexp.Regexp
	// Headers must each match the value of a header with the name.
	Headers []HeaderMatch
}

// HeaderMatch wants a header of the name whose value matches; null matches nothing.
type HeaderMatch struct {
	Name  string
	Value *regexp.Regexp
}

// Any reports whether the filter leaves anything out.
func (f *Filter) Any() bool {
	return f.Since != nil || f.Until != nil || f.Value != nil || f.Key != nil || len(f.Headers) > 0
}

// Oldest is the timestamp below which no record is kept, 0 where there is no such
// bound: what engine.ReaderOptions.Since takes.
func (f *Filter) Oldest() int64 {
	if f.Since == nil {
		return 0
	}
	return max(*f.Since, 0)
}

// Keep reports whether a record is printed.
func (f *Filter) Keep(r *segments.Record) bool {
	if (f.Since != nil || f.Until != nil) && !f.inWindow(r) {
		return false
	}
	switch {
	case f.Value != nil && (r.Value == nil || !f.Value.Match(r.Value)):
		return false
	case f.Key != nil && (r.Key == nil || !f.Key.Match(r.Key)):
		return false
	}
	for i := range f.Headers {
		if !f.Headers[i].in(r.Headers) {
			return false
		}
	}
	return true
}

func (f *Filter) inWindow(r *segments.Record) bool {
	if r.TimestampType == segments.NoTimestamp || r.Timestamp == -1 {
		return false
	}
	since, until := int64(math.MinInt64), int64(math.MaxInt64)
	if f.Since != nil {
		since = *f.Since
	}
	if f.Until != nil {
		until = *f.Until
	}
	return r.Timestamp >= since && r.Timestamp < until
}

func (m *HeaderMatch) in(headers []segments.Header) bool {
	for i := range headers {
		h := &headers[i]
		if string(h.Key) == m.Name && h.Value != nil && m.Value.Match(h.Value) {
			return true
		}
	}
	return false
}
