package storm

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// history is what producers were told of the records of one partition: which record is
// at which offset. A record's value is its producer, the run of that producer and its
// number in that run: "p7.12.3".
type history struct {
	mu    sync.Mutex
	acked map[run][]int64 // the offset of each record, as far as they were told
}

// run is one process of a producer.
type run struct{ producer, number int }

// value is the value of a run's n-th record.
func (r run) value(n int) string { return fmt.Sprintf("p%d.%d.%d", r.producer, r.number, n) }

// add takes the output of produce --print-offset: line n is about record n. A last line
// without an end is no acknowledgement.
func (h *history) add(r run, printed []byte) error {
	var offsets []int64
	for {
		line, rest, whole := bytes.Cut(printed, []byte("\n"))
		if !whole {
			break
		}
		printed = rest
		words := strings.Split(string(line), "\t")
		if len(words) != 3 {
			return fmt.Errorf("printed %q", line)
		}
		at, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return fmt.Errorf("printed %q: %w", line, err)
		}
		offsets = append(offsets, at)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.acked == nil {
		h.acked = map[run][]int64{}
	}
	if len(offsets) > 0 {
		h.acked[r] = offsets
	}
	return nil
}

// addFile is add with the output in a file.
func (h *history) addFile(r run, name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return h.add(r, b)
}

// told is how many records were acknowledged so far.
func (h *history) told() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, offsets := range h.acked {
		n += len(offsets)
	}
	return n
}

// check reads the partition as lines "OFFSET VALUE" and compares it with a history that
// is not newer than the log: offsets are dense from 0, each acknowledged record is at its
// offset, no record is there twice, and each producer's records are in its order.
func (h *history) check(log io.Reader) (records int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	type place struct{ run, n int }
	last, seen := map[int]place{}, map[run]int{}
	lines := bufio.NewScanner(log)
	for ; lines.Scan(); records++ {
		at, r, n, err := parseLine(lines.Text())
		if err != nil {
			return records, err
		}
		if at != records {
			return records, fmt.Errorf("offset %d follows %d", at, records-1)
		}
		before, known := last[r.producer]
		if known && (r.number < before.run || r.number == before.run && n <= before.n) {
			return records, fmt.Errorf("offset %d: %s stands behind %s", at, r.value(n), run{r.producer, before.run}.value(before.n))
		}
		last[r.producer] = place{r.number, n}
		if offsets := h.acked[r]; n < len(offsets) {
			if offsets[n] != at {
				return records, fmt.Errorf("%s is at offset %d, but was acknowledged at %d", r.value(n), at, offsets[n])
			}
			seen[r]++
		}
	}
	for r, offsets := range h.acked {
		if seen[r] < len(offsets) {
			return records, fmt.Errorf("producer %d was told of %d records of its run %d, from offset %d on: %d are there",
				r.producer, len(offsets), r.number, offsets[0], seen[r])
		}
	}
	return records, lines.Err()
}

// parseLine reads "OFFSET pPRODUCER.RUN.NUMBER".
func parseLine(line string) (at int64, r run, n int, err error) {
	words := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == 'p' || c == '.' })
	if len(words) != 4 {
		return 0, r, 0, fmt.Errorf("line %q", line)
	}
	at, err = strconv.ParseInt(words[0], 10, 64)
	for i, to := range []*int{&r.producer, &r.number, &n} {
		if err == nil {
			*to, err = strconv.Atoi(words[i+1])
		}
	}
	return at, r, n, err
}
