package format

import (
	"errors"
	"strconv"
	"time"

	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/segments"
)

// Row is one record as it was read from text, with what the text said about it. It is
// reused: its bytes are those of the record that was parsed, or of the row's own
// memory, and live until the next one is parsed into it.
type Row struct {
	Topic        []byte // nil when the text has none
	Partition    int32  // -1 when the text has none
	Offset       int64  // -1 when the text has none
	Timestamp    int64  // ms since 1970, -1 for a record that has none
	HasTimestamp bool   // the text says so, also that there is none
	HasKey       bool   // the text says what the key is, also that it is null
	Key, Value   []byte // nil: null
	Headers      []segments.Header

	scratch []byte         // what had to be decoded
	fields  []headerFields // headers as they were found
}

// reset empties the row for the next record.
func (r *Row) reset() {
	*r = Row{Partition: -1, Offset: -1, Timestamp: -1, Headers: r.Headers[:0], scratch: r.scratch[:0], fields: r.fields[:0]}
}

// spare is how much memory for decoding a row keeps from one record to the next.
const spare = 1 << 20

// room returns empty memory for n bytes, never nil, which lives as long as the row's
// other bytes.
func (r *Row) room(n int) []byte {
	if r.scratch == nil || cap(r.scratch)-len(r.scratch) < n {
		if n > spare {
			return make([]byte, 0, n) // not kept
		}
		r.scratch = make([]byte, 0, max(n, min(2*cap(r.scratch), spare), 1024))
	}
	at := len(r.scratch)
	r.scratch = r.scratch[:at+n]
	return r.scratch[at : at : at+n]
}

// emptyToNull makes empty keys and values null.
func (r *Row) emptyToNull() {
	if len(r.Key) == 0 {
		r.Key = nil
	}
	if len(r.Value) == 0 {
		r.Value = nil
	}
}

// Parser reads the text of one record. It does not change and may be used by several
// goroutines at once, each with its own Row.
type Parser interface {
	// ParseRow reads record, which has no delimiter any more, into row. It returns
	// ErrBlank for what is to be passed over.
	ParseRow(record []byte, row *Row) error
}

// ErrBlank says that a line holds no record, as an empty line between JSON rows.
var ErrBlank = errors.New("no record on this line")

// Options say how text is understood.
type Options struct {
	EmptyNull bool             // an empty key or value is null
	Location  *time.Location   // of times without a zone
	Now       func() time.Time // what times like 10m count from
}

// time reads a time in words into the row.
func (o *Options) time(s []byte, row *Row) error {
	t, err := value.ParseTime(string(s), o.Now(), o.Location)
	if err != nil {
		return err
	}
	row.Timestamp, row.HasTimestamp = t.UnixMilli(), true
	return nil
}

// InputError says which record of an input could not be read.
type InputError struct {
	Unit   string // "line" or "record"
	Number int64  // from 1
	Err    error
}

// Error is "line 3: …".
func (e *InputError) Error() string {
	return e.Unit + " " + strconv.FormatInt(e.Number, 10) + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *InputError) Unwrap() error { return e.Err }
