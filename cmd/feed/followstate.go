package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/klog-project/klog/cmd/logfile"
	"github.com/klog-project/klog/segments/vfs"
)

// followState is what a follow has to know to go on exactly where it was stopped.
//
// It is stored before each append and says what that append will be: records that lie
// in the file From up to To, and how many of them go to each partition, as which
// sequence numbers of the follow's producer. So, wherever the process is killed:
//
//	what the log has of the producer   is never more than the state tells
//	what lies before From              is in the log
//	of what lies between From and To   the log's last sequence number tells how many
//	                                   records are in, for each partition
//
// After a power failure the log may have lost what was not synced, and the state file
// may be an old one. An old state is as good: records are counted from its From on, as
// many as the log has more of them. Of a log that has lost records Synced is the place
// to count from. Neither works across two files; so what was read of one is synced, and
// the state with it, before anything of the next one is appended.
type followState struct {
	Generation uint64         `json:"generation"` // of the state; the higher one counts
	Topic      string         `json:"topic"`
	TopicID    string         `json:"topic_id"`
	Path       string         `json:"path"`
	Producer   int64          `json:"producer"`
	Partitions int            `json:"partitions"` // that the topic had
	Home       int32          `json:"home"`       // where records go that no key binds
	From       logfile.Place  `json:"from"`
	To         logfile.Place  `json:"to"`
	Size       int64          `json:"size"` // the file's, as last seen
	Sequences  []followedPart `json:"sequences"`
	Synced     syncedPlace    `json:"synced"`
}

// followedPart is where a partition's sequence stands at From.
type followedPart struct {
	Partition int32 `json:"partition"`
	Next      int32 `json:"next"`    // number of the first record behind From
	Records   int64 `json:"records"` // between From and To
}

// syncedPlace is a place before which everything is on disk.
type syncedPlace struct {
	Place     logfile.Place  `json:"place"`
	Sequences []followedPart `json:"sequences"`
}

// followStore is the file of a follow's state. It has three slots, each with a first
// line "klog-follow 1 CRC LENGTH" and a JSON object. A state is written neither over the
// newest one, which a kill then leaves, nor over the last one that was synced, which a
// power failure does.
type followStore struct {
	fsys   vfs.FS
	name   string
	f      vfs.File
	size   int64 // of a slot
	last   uint64
	newest int // slot of the newest state
	synced int // slot of the last one that is on disk
}

const (
	storeMagic  = "klog-follow 1 "
	storeHeader = len(storeMagic) + 8 + 1 + 8 + 1
	storeSlot   = 4096
	slots       = 3
)

// openFollowStore opens the state file name. It need not exist.
func openFollowStore(fsys vfs.FS, name string) (*followStore, error) {
	s := &followStore{fsys: fsys, name: name}
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	s.f, s.size = f, st.Size()/slots
	return s, nil
}

// load returns the newest whole state; ok is false where there is none. It is on disk
// then, whatever became of the run that stored it.
func (s *followStore) load() (state followState, ok bool, err error) {
	if s.f == nil {
		return state, false, nil
	}
	raw := make([]byte, slots*s.size)
	if n, err := s.f.ReadAt(raw, 0); n < len(raw) {
		return state, false, err
	}
	for i := range slots {
		var one followState
		if decodeSlot(raw[int64(i)*s.size:][:s.size], &one) && (!ok || one.Generation > state.Generation) {
			state, ok, s.newest = one, true, i
		}
	}
	s.last, s.synced = state.Generation, s.newest
	return state, ok, s.f.Sync()
}

// save stores the state, whose generation it sets. With sync it is on disk.
func (s *followStore) save(state *followState, sync bool) error {
	state.Generation = s.last + 1
	b, err := encodeSlot(state)
	if err == nil && (s.f == nil || int64(len(b)) > s.size) {
		err = s.renew(b)
	} else if err == nil {
		err = s.write(b, sync)
	}
	if err != nil {
		return fmt.Errorf("state of the follow: %w", err)
	}
	s.last = state.Generation
	return nil
}

// write stores a state in a slot that may be lost.
func (s *followStore) write(b []byte, sync bool) error {
	free := 0
	for free == s.newest || free == s.synced {
		free++
	}
	if _, err := s.f.WriteAt(b, int64(free)*s.size); err != nil {
		return err
	}
	s.newest = free
	if !sync {
		return nil
	}
	if err := s.f.Sync(); err != nil {
		return err
	}
	s.synced = free
	return nil
}

// renew writes the whole file, with slots that are large enough. They hold blocks of the
// disk from then on: storing a state needs no new one.
func (s *followStore) renew(b []byte) error {
	size := int64(storeSlot)
	for size < 2*int64(len(b)) {
		size *= 2
	}
	raw := bytes.Repeat([]byte{' '}, int(slots*size))
	copy(raw, b)
	if s.f != nil {
		s.f.Close()
		s.f = nil
	}
	if err := vfs.WriteFile(s.fsys, s.name, raw); err != nil {
		return err
	}
	f, err := s.fsys.OpenFile(s.name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.f, s.size, s.newest, s.synced = f, size, 0, 0
	return nil
}

func (s *followStore) close() {
	if s.f != nil {
		s.f.Close()
		s.f = nil
	}
}

func encodeSlot(state *followState) ([]byte, error) {
	body, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	head := fmt.Sprintf("%s%08x %08x\n", storeMagic, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body))
	return append([]byte(head), body...), nil
}

// decodeSlot reads a slot and reports whether it is whole.
func decodeSlot(b []byte, state *followState) bool {
	if len(b) < storeHeader || !strings.HasPrefix(string(b[:storeHeader]), storeMagic) {
		return false
	}
	sum, err1 := strconv.ParseUint(string(b[len(storeMagic):len(storeMagic)+8]), 16, 32)
	size, err2 := strconv.ParseUint(string(b[len(storeMagic)+9:len(storeMagic)+17]), 16, 32)
	if err1 != nil || err2 != nil || size > uint64(len(b)-storeHeader) {
		return false
	}
	body := b[storeHeader:][:size]
	return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) == uint32(sum) && json.Unmarshal(body, state) == nil
}
