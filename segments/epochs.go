package segments

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
)

// EpochEntry says that the offsets from Start on were written under a leader epoch.
type EpochEntry struct {
	Epoch int32
	Start int64
}

// Epochs is a partition's list of leader epochs, as in leader-epoch-checkpoint: both
// columns strictly rise. The zero value is empty.
type Epochs []EpochEntry

// ParseEpochs reads a leader-epoch-checkpoint: version 0, the number of entries, then
// "epoch start" a line. An empty file holds none. As with Kafka a wrong number of
// lines, a malformed line and another version are errors (ErrCorrupt,
// ErrUnknownVersion), while an entry that does not rise pushes out those before it
// (Assign).
func ParseEpochs(data []byte) (Epochs, error) {
	raw, err := parseEpochLines(data)
	if err != nil {
		return nil, err
	}
	var e Epochs
	for _, x := range raw {
		e = e.Assign(x.Epoch, x.Start)
	}
	return e, nil
}

// parseEpochLines returns the entries as they stand in the file.
func parseEpochLines(data []byte) ([]EpochEntry, error) {
	var entries []EpochEntry
	err := parseCheckpoint(data, 2, func(f []string) error {
		epoch, err := strconv.ParseInt(f[0], 10, 32)
		if err != nil {
			return err
		}
		start, err := strconv.ParseInt(f[1], 10, 64)
		if err == nil && (epoch < 0 || start < 0) {
			err = fmt.Errorf("%w: negative", ErrCorrupt)
		}
		entries = append(entries, EpochEntry{int32(epoch), start})
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// EncodeEpochs is the file that ParseEpochs reads.
func EncodeEpochs(e Epochs) []byte {
	b := appendCheckpointHead(nil, len(e))
	for _, x := range e {
		b = append(strconv.AppendInt(b, int64(x.Epoch), 10), ' ')
		b = append(strconv.AppendInt(b, x.Start, 10), '\n')
	}
	return b
}

// Latest is the last epoch and its start; ok is false if there is none.
func (e Epochs) Latest() (last EpochEntry, ok bool) {
	if len(e) == 0 {
		return EpochEntry{Epoch: -1, Start: -1}, false
	}
	return e[len(e)-1], true
}

// Assign adds an epoch that begins at start. Entries with an epoch or a start that is
// not below go: they were never true, or are no longer. An epoch that is the latest
// already keeps its start unless the new one is smaller. The result shares no memory
// with e.
func (e Epochs) Assign(epoch int32, start int64) Epochs {
	if last, ok := e.Latest(); ok && last.Epoch == epoch && last.Start <= start {
		return slices.Clone(e)
	}
	n := len(e)
	for n > 0 && (e[n-1].Epoch >= epoch || e[n-1].Start >= start) {
		n--
	}
	return append(slices.Clone(e[:n]), EpochEntry{epoch, start})
}

// Observe notes the epoch of a batch met in a scan of the log: only one above all
// others is new.
func (e Epochs) Observe(h BatchHeader) Epochs {
	if last, ok := e.Latest(); h.LeaderEpoch < 0 || ok && h.LeaderEpoch <= last.Epoch {
		return e
	}
	return e.Assign(h.LeaderEpoch, h.BaseOffset)
}

// EpochOf is the epoch under which offset was written, -1 if the list does not say.
func (e Epochs) EpochOf(offset int64) int32 {
	i := sort.Search(len(e), func(i int) bool { return e[i].Start > offset })
	if i == 0 {
		return -1
	}
	return e[i-1].Epoch
}

// EndOffset answers a follower that asks where epoch ends: the largest known epoch that
// is not above it, and the offset at which the next one begins, or end, the log's end
// offset, for the latest. An epoch above all known ones gives -1, -1; one below all
// gives itself and the first known start.
func (e Epochs) EndOffset(epoch int32, end int64) (int32, int64) {
	i := sort.Search(len(e), func(i int) bool { return e[i].Epoch > epoch })
	switch {
	case epoch < 0 || len(e) == 0:
		return -1, -1
	case i < len(e) && i == 0:
		return epoch, e[0].Start
	case i < len(e):
		return e[i-1].Epoch, e[i].Start
	case e[i-1].Epoch == epoch:
		return epoch, end
	}
	return -1, -1
}

// TruncateEnd is the list after the log was cut at end: epochs that begin there or
// later are gone.
func (e Epochs) TruncateEnd(end int64) Epochs {
	i := sort.Search(len(e), func(i int) bool { return e[i].Start >= end })
	return slices.Clone(e[:i])
}

// TruncateStart is the list after the log start moved to start: epochs that ended
// before are gone, and the one under which start was written begins there.
func (e Epochs) TruncateStart(start int64) Epochs {
	i := sort.Search(len(e), func(i int) bool { return e[i].Start > start })
	kept := slices.Clone(e[max(0, i-1):])
	if i > 0 {
		kept[0].Start = start
	}
	return kept
}
