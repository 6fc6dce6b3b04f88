package segments

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/klog-project/klog/segments/vfs"
)

// Repair says what repairing would do about a Finding.
type Repair string

// The kinds of Repair.
const (
	// RepairNone: nothing; a person has to look.
	RepairNone Repair = ""
	// RepairQuarantine: take the bytes out of the log and keep them elsewhere.
	RepairQuarantine Repair = "quarantine"
	// RepairRebuild: derive the file anew from the log.
	RepairRebuild Repair = "rebuild"
	// RepairForget: strike what is gone off the list of what should be there.
	RepairForget Repair = "forget"
	// RepairAdvance: raise the leader epoch and go on at the end that is known from
	// elsewhere, so that no offset is given to a second record.
	RepairAdvance Repair = "advance"
)

// Finding is one thing that is wrong with a partition's files.
type Finding struct {
	File        string // path
	Position    int64  // first byte that is concerned, -1: the file as a whole
	Size        int64  // number of bytes, -1: not known
	FirstOffset int64  // offsets that are concerned, -1: not known, or none
	LastOffset  int64
	What        string // what is wrong: "bad crc"
	Repair      Repair
}

// MissingSegment is what a Finding says of a segment that the kept list names and that
// is not there.
const MissingSegment = "missing segment"

// AboutFile is a finding about a file as a whole.
func AboutFile(path, what string, r Repair) Finding {
	return Finding{File: path, Position: -1, Size: -1, FirstOffset: -1, LastOffset: -1, What: what, Repair: r}
}

// VerifyOptions say how thorough Verify is.
type VerifyOptions struct {
	// FS is where the directory is; nil means the real file system.
	FS vfs.FS
	// Deep decompresses and decodes every record.
	Deep bool
	// MaxBytes bounds one decompressed batch, as Decoder.MaxBytes.
	MaxBytes int
	// IndexInterval is index.interval.bytes; 0 is Kafka's default, 4096. It tells when
	// an index that is missing or empty should not be.
	IndexInterval int
	// Dense says that nothing is ever taken out of a segment, as compaction does: where a
	// sealed one ends before offsets that its indexes know, records are missing.
	Dense bool
	// Read, if not nil, is told how many more bytes of log have been read.
	Read func(bytes int64)
}

// VerifyResult says what Verify looked at.
type VerifyResult struct {
	Segments int
	Bytes    int64 // of log
	Batches  int64
	Start    int64  // base offset of the first segment, -1: there is none
	End      int64  // offset that follows what was there when Verify began
	LastFile string // path of the last segment's log, "" if there is none
	LastSize int64  // and where its last good batch, or damage behind it, ends
	Findings int
}

// Verify checks a partition's directory: every batch's header, checksum and offsets,
// the indexes of each segment against its log, snapshots, leader epochs, the topic id,
// and that no segment is missing that the kept list names. report is called with each
// finding, in order of segments; an error of it ends the run.
//
// Verify takes no lock and changes nothing. It looks at what was there when it began,
// the end of the log being taken before any index is read: what is appended, rolled,
// removed or compacted meanwhile is no finding, nor is a torn tail of the newest
// segment. What looks wrong is looked at again before it is reported. Memory and open
// files are bounded, whatever the files hold.
//
// The error is the first one of reading; it is never a finding.
func Verify(ctx context.Context, dir string, o VerifyOptions, report func(Finding) error) (VerifyResult, error) {
	v := &verifier{ctx: ctx, dir: dir, o: o, fs: o.FS, sink: report, res: VerifyResult{Start: -1}}
	if v.fs == nil {
		v.fs = vfs.OS
	}
	if v.o.IndexInterval == 0 {
		v.o.IndexInterval = defaultIndexInterval
	}
	v.decoder.MaxBytes = o.MaxBytes
	err := v.run()
	return v.res, err
}

const defaultIndexInterval = 4096

// verifier is one run of Verify.
type verifier struct {
	ctx  context.Context
	dir  string
	o    VerifyOptions
	fs   vfs.FS
	sink func(Finding) error
	res  VerifyResult

	set     *segmentSet
	told    int   // of set.missing
	newest  int64 // base of the segment that may still grow, -1: none
	floor   int64 // offset that follows the segments so far
	epochs  epochCheck
	decoder Decoder
	open    map[int64]int64 // first offsets of the open transactions that were seen to begin
}

func (v *verifier) run() (err error) {
	// The end first: segments that come later, and what the newest one gains, are not
	// looked at.
	if v.set, err = loadSegments(v.fs, v.dir, time.Now(), true); err != nil {
		return err
	}
	end, err := v.takeEnd()
	if err != nil {
		return err
	}
	v.open = map[int64]int64{}
	if err := v.loadEpochs(); err != nil {
		return err
	}
	for i, s := range v.set.all {
		if err := context.Cause(v.ctx); err != nil {
			return err
		}
		if err := v.missingBelow(s.Base); err != nil {
			return err
		}
		if i == 0 {
			v.res.Start, v.floor = s.Base, s.Base
		}
		size := int64(-1)
		if s.Base == v.newest {
			size = end
		}
		if err := v.segment(s.Base, size); err != nil {
			return err
		}
	}
	v.res.End = v.floor
	if err := v.epochs.end(v); err != nil {
		return err
	}
	if err := v.missingBelow(math.MaxInt64); err != nil {
		return err
	}
	return v.otherFiles()
}

// takeEnd returns the size of the newest segment, which is the end of the log as Verify
// sees it. If the segment that should be the newest is missing, none may grow.
func (v *verifier) takeEnd() (int64, error) {
	v.newest = -1
	n := len(v.set.all)
	if n == 0 {
		return 0, nil
	}
	last := v.set.all[n-1].Base
	if _, gone := v.set.missingBetween(last+1, math.MaxInt64); gone {
		return 0, nil
	}
	info, err := v.fs.Stat(v.path(last, LogSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // removed since: an expired segment goes although it is the newest
	}
	if err != nil {
		return 0, err
	}
	v.newest = last
	return info.Size(), nil
}

func (v *verifier) path(base int64, suffix string) string {
	return filepath.Join(v.dir, SegmentName(base)+suffix)
}

func (v *verifier) report(f Finding) error {
	v.res.Findings++
	return v.sink(f)
}

// missingBelow reports, once, what the kept list names below base and the directory does
// not have.
func (v *verifier) missingBelow(base int64) error {
	for ; v.told < len(v.set.missing) && v.set.missing[v.told].Base < base; v.told++ {
		if err := v.report(v.missingSegment(v.set.missing[v.told].Base)); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) missingSegment(base int64) Finding {
	f := AboutFile(v.path(base, LogSuffix), MissingSegment, RepairForget)
	f.FirstOffset = base
	if later, ok := v.laterBase(base); ok {
		f.LastOffset = later - 1
	}
	return f
}

// laterBase returns the base offset of the segment behind base, whether it is there or
// missing.
func (v *verifier) laterBase(base int64) (int64, bool) {
	later, ok, _ := v.set.after(base) // listed: it does not fail
	if m, missing := v.set.missingBetween(base+1, math.MaxInt64); missing && (!ok || m < later) {
		return m, true
	}
	return later, ok
}

// stillListed reports whether the kept list, read anew, names a segment whose file is
// gone: then nothing that klog did removed it.
func (v *verifier) stillListed(base int64) (bool, error) {
	set, err := loadSegments(v.fs, v.dir, time.Now(), true)
	if err != nil {
		return false, err
	}
	_, missing := set.missingBetween(base, base+1)
	return missing, nil
}
