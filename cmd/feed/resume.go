package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/klog-project/klog/cmd/logfile"
)

// standing is how far the log is, compared with what a state says was about to be
// appended.
type standing struct {
	in   map[int32]int64 // records behind the place that are in the log, by partition
	sum  int64
	all  bool // all of the records that the state tells of
	lost bool // the log has less than lies before the place
}

// compare holds what the log has against sequence numbers at a place. next is the
// number of the record that the log wants next, by partition. A partition that has none
// at the place had no records then.
func compare(parts []followedPart, next map[int32]int32) standing {
	s := standing{in: map[int32]int64{}, all: true}
	told := map[int32]followedPart{}
	for _, p := range parts {
		told[p.Partition] = p
	}
	for p, want := range next {
		// Numbers go round, so the shorter way tells which is ahead.
		n := int64((want - told[p].Next) & (1<<31 - 1))
		if n >= 1<<30 {
			s.lost = true
			continue
		}
		s.in[p] = n
		s.sum += n
		s.all = s.all && n == told[p].Records
	}
	return s
}

// resume finds out where the last run stopped and gets ready to go on there.
func (f *follower) resume(ctx context.Context) error {
	state, ok, err := f.store.load()
	if err != nil {
		return err
	}
	if ok && state.TopicID != f.fo.TopicID {
		f.fo.Notice(fmt.Sprintf("%s: the topic is another one than before: the file is read from its beginning", f.fo.Path))
		ok = false
	}
	if !ok {
		return f.first(ctx)
	}
	f.state = state
	next, err := f.lastSequences(ctx)
	if err != nil {
		return err
	}
	f.seq = &sequences{id: state.Producer, home: state.Home, next: next, skip: map[int32]int64{}}
	if int(state.Home) >= f.o.Target.Partitions {
		f.seq.home = f.fo.Home
	}
	if err := f.choosePlace(ctx, next); err != nil {
		return err
	}
	if f.passes() {
		// Records of which some are in went by the number of partitions then.
		f.o.Target.Partitions = min(f.o.Target.Partitions, state.Partitions)
	}
	f.state.Partitions, f.state.Home = f.o.Target.Partitions, f.seq.home
	return nil
}

// passes reports whether records are to come that are in the log already.
func (f *follower) passes() bool {
	for _, n := range f.seq.skip {
		if n > 0 {
			return true
		}
	}
	return false
}

// first is the first run of a follow.
func (f *follower) first(ctx context.Context) error {
	id, err := f.fo.NewProducer(ctx)
	if err != nil {
		return err
	}
	f.state = followState{
		Topic: f.o.Target.Topic, TopicID: f.fo.TopicID, Path: f.fo.Path,
		Producer: id, Partitions: f.o.Target.Partitions, Home: f.fo.Home,
	}
	f.seq = &sequences{id: id, home: f.fo.Home, next: map[int32]int32{}, skip: map[int32]int64{}}
	f.at = map[int32]int32{}
	f.r, err = logfile.Open(f.fo.Path)
	if err != nil {
		return err
	}
	if f.r.Place().IsZero() {
		f.fo.Notice(f.fo.Path + " does not exist yet: waiting for it")
	}
	return f.saveClean(f.r.Place())
}

// lastSequences asks the log for the number that it wants next in each partition that
// the follow may have appended to. After a power failure that may be more than those
// that an old state speaks of.
func (f *follower) lastSequences(ctx context.Context) (map[int32]int32, error) {
	next := map[int32]int32{}
	f.ends = map[int32]int64{}
	for p := range f.mayGoTo() {
		last, offset, ok, err := f.fo.LastSequence(ctx, p, f.state.Producer)
		if err != nil {
			return nil, err
		}
		if next[p] = 0; ok {
			next[p] = plus(last, 1)
			f.ends[p] = offset + 1
		}
	}
	return next, nil
}

// mayGoTo lists the partitions that the follow may append to, or has.
func (f *follower) mayGoTo() iter.Seq[int32] {
	all := map[int32]bool{f.state.Home: true}
	for _, list := range [][]followedPart{f.state.Sequences, f.state.Synced.Sequences} {
		for _, p := range list {
			all[p.Partition] = true
		}
	}
	if keyed := f.o.Parser != nil || f.o.KeyDelimiter != nil || f.o.Fixed.Key != nil; keyed && f.o.Partition < 0 {
		for p := range f.o.Target.Partitions {
			all[int32(p)] = true
		}
	}
	if f.o.Partition >= 0 {
		all[f.o.Partition] = true
	}
	return maps.Keys(all)
}

// choosePlace decides where to go on, and opens the file there.
func (f *follower) choosePlace(ctx context.Context, next map[int32]int32) error {
	st := &f.state
	s := compare(st.Sequences, next)
	switch {
	case s.lost:
		return f.fromSynced(ctx, next)
	case s.all && s.sum > 0:
		return f.goOn(ctx, st.To, next, nil)
	case s.sum == 0:
		return f.goOn(ctx, st.From, sequencesAt(st.Sequences), nil)
	}
	// Some are in. They are passed over, unless the file is not what it was.
	there, err := logfile.Find(f.fo.Path, st.To)
	if _, gone := errors.AsType[*logfile.LostError](err); gone {
		return f.goOn(ctx, st.From, next, nil)
	}
	if err != nil {
		return err
	}
	there.Close()
	return f.goOn(ctx, st.From, sequencesAt(st.Sequences), s.in)
}

// fromSynced goes on after a power failure that has taken records out of the log.
func (f *follower) fromSynced(ctx context.Context, next map[int32]int32) error {
	st := &f.state
	if s := compare(st.Synced.Sequences, next); !s.lost && !st.Synced.Place.IsZero() {
		return f.goOn(ctx, st.Synced.Place, sequencesAt(st.Synced.Sequences), s.in)
	}
	f.fo.Notice(fmt.Sprintf("%s: the log does not hold all that was appended from this file; going on at byte %d", f.fo.Path, st.From.Position))
	id, err := f.fo.NewProducer(ctx)
	if err != nil {
		return err
	}
	st.Producer, f.seq.id, f.seq.next = id, id, map[int32]int32{}
	return f.goOn(ctx, st.From, map[int32]int32{}, nil)
}

func sequencesAt(parts []followedPart) map[int32]int32 {
	at := map[int32]int32{}
	for _, p := range parts {
		at[p.Partition] = p.Next
	}
	return at
}

// goOn opens the file at a place, where the sequence numbers are at. skip is how many
// records behind it are in the log. A file that is gone is told, and the one at the path
// read from its beginning.
func (f *follower) goOn(ctx context.Context, p logfile.Place, at map[int32]int32, skip map[int32]int64) error {
	f.at = maps.Clone(at)
	if p.IsZero() {
		var err error
		f.r, err = logfile.Open(f.fo.Path)
		return err
	}
	r, err := logfile.Find(f.fo.Path, p)
	if err == nil {
		f.r = r
		if skip != nil {
			f.seq.skip = skip
		}
		return nil
	}
	lost, gone := errors.AsType[*logfile.LostError](err)
	if !gone {
		return err
	}
	lost.Bytes = max(0, f.state.Size-p.Position)
	f.fo.Notice(lost.Error())
	f.at = maps.Clone(f.seq.next)
	if f.r, err = logfile.Open(f.fo.Path); err != nil {
		return err
	}
	return f.newFile(ctx)
}

// newFile stores that another file was begun, as newPage does while a run goes on.
func (f *follower) newFile(ctx context.Context) error {
	if f.fo.Durable {
		for p, end := range f.ends {
			if err := f.o.Target.SyncTo(ctx, p, end); err != nil {
				return err
			}
		}
	}
	return f.saveClean(f.r.Place())
}
