package gauge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/klog-project/klog/segments"
)

// MinSize is the least size of a value: it has to tell which one it is.
const MinSize = 4 + numberDigits

// numberDigits are the hexadecimal digits of a record's number.
const numberDigits = 12

// payload makes values and knows them again.
type payload struct {
	size int
	text []byte // the part of a value behind its number begins anywhere in it
}

// textSize is how much text there is before it repeats: more than a codec's window
// remembers of a batch.
const textSize = 1 << 20

// newPayload makes values of size bytes, the same ones every time.
func newPayload(size int) *payload {
	words := bytes.Fields([]byte("GET POST /index.html /api/v1/orders 200 404 500 error warning info user session timeout connection from to the request took ms bytes id= host= 10.0.0."))
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 0, textSize+size)
	for len(text) < textSize {
		if r.IntN(3) == 0 {
			text = strconv.AppendInt(text, r.Int64N(1_000_000), 10)
		} else {
			text = append(text, words[r.IntN(len(words))]...)
		}
		text = append(text, ' ')
	}
	for len(text) < textSize+size {
		text = append(text, text[:min(textSize, textSize+size-len(text))]...)
	}
	return &payload{size: size, text: text}
}

// append appends the value of record n of a writer to b.
func (p *payload) append(b []byte, writer int, n int64) []byte {
	const hex = "0123456789abcdef"
	id := uint64(writer)<<(4*numberDigits) | uint64(n)
	for shift := 4 * (MinSize - 1); shift >= 0; shift -= 4 {
		b = append(b, hex[id>>shift&15])
	}
	from := int(uint64(n) * 61 % textSize)
	return append(b, p.text[from:from+p.size-MinSize]...)
}

// audit finds out whether the records of one load are all there, once each, unaltered,
// and those of a writer in its order within each partition. It belongs to one goroutine.
type audit struct {
	p     *payload
	load  Load
	last  map[[2]int]int64 // the number last seen, by partition and writer
	count []int64          // records seen, by writer
	value []byte
}

func newAudit(p *payload, l Load) *audit {
	return &audit{p: p, load: l, last: make(map[[2]int]int64), count: make([]int64, l.Writers)}
}

// record takes the next record of a partition.
func (a *audit) record(partition int32, r *segments.Record) error {
	wrong := func(what string) error {
		return fmt.Errorf("partition %d, offset %d: %s", partition, r.Offset, what)
	}
	if len(r.Value) < MinSize {
		return wrong("this record was not written")
	}
	id, err := strconv.ParseUint(string(r.Value[:MinSize]), 16, 64)
	writer, n := int(id>>(4*numberDigits)), int64(id&(1<<(4*numberDigits)-1))
	if err != nil || writer >= a.load.Writers || n >= a.load.share(writer) {
		return wrong("this record was not written")
	}
	if a.value = a.p.append(a.value[:0], writer, n); !bytes.Equal(a.value, r.Value) || r.Key != nil || len(r.Headers) > 0 {
		return wrong("the record was altered")
	}
	at := [2]int{int(partition), writer}
	if last, ok := a.last[at]; ok && n <= last {
		return wrong("the record is doubled or out of order")
	}
	a.last[at] = n
	a.count[writer]++
	return nil
}

// end says what is missing. Numbers rise within a partition, so a number that was seen
// twice lies in two of them, where as many others are missing.
func (a *audit) end() error {
	for w, n := range a.count {
		if want := a.load.share(w); n != want {
			return fmt.Errorf("of %d records of writer %d there are %d", want, w, n)
		}
	}
	return nil
}
