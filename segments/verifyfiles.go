package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/klog-project/klog/segments/vfs"
)

// epochCheck holds leader-epoch-checkpoint against the batches.
type epochCheck struct {
	list  Epochs
	known bool    // there is a file, and it can be read
	found bool    // run is something
	run   Finding // batches in a row that disagree
	want  int32   // what the list says of them
	ahead bool    // they are of an epoch above all that are listed
}

// loadEpochs reads and checks the list of leader epochs.
func (v *verifier) loadEpochs() error {
	path := filepath.Join(v.dir, EpochsName)
	data, err := readRegular(v.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, errNotRegular) {
		return v.report(AboutFile(path, "not a regular file", RepairNone))
	}
	if err != nil {
		return err
	}
	raw, err := parseEpochLines(data)
	if err != nil {
		return v.report(AboutFile(path, ParseReason(err), repairOf(err)))
	}
	for i, e := range raw {
		if i > 0 && (e.Epoch <= raw[i-1].Epoch || e.Start <= raw[i-1].Start) {
			return v.report(AboutFile(path, fmt.Sprintf("epoch %d from offset %d does not follow epoch %d from offset %d",
				e.Epoch, e.Start, raw[i-1].Epoch, raw[i-1].Start), RepairRebuild))
		}
	}
	v.epochs.list, v.epochs.known = raw, true
	return nil
}

// ParseReason is what a parser of this package says is wrong, without the kind of error:
// the What of a Finding.
func ParseReason(err error) string { return strings.TrimPrefix(err.Error(), ErrCorrupt.Error()+": ") }

// repairOf leaves files of another version alone.
func repairOf(err error) Repair {
	if errors.Is(err, ErrUnknownVersion) {
		return RepairNone
	}
	return RepairRebuild
}

// readRegular reads a small file whole.
func readRegular(fsys vfs.FS, path string) ([]byte, error) {
	f, err := openRegular(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > 16<<20 {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, ErrCorrupt, info.Size())
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	return data[:n], ignoreShort(err)
}

// batch checks that the list of epochs says of the batch what the batch says itself.
// Batches in a row that it does not are one finding.
//
// An epoch above all that are listed is one only if a lower one follows it: brokers
// write the list behind the log, and may have been killed in between.
func (c *epochCheck) batch(v *verifier, file string, b Batch) error {
	if !c.known || b.LeaderEpoch < 0 || b.Magic < 2 {
		return nil
	}
	want := c.list.EpochOf(b.BaseOffset)
	if want == b.LeaderEpoch || want < 0 {
		return c.flush(v)
	}
	last, _ := c.list.Latest()
	ahead := b.LeaderEpoch > last.Epoch
	if c.found && (c.want != want || c.ahead != ahead || c.run.File != file && !ahead) {
		if err := c.flush(v); err != nil {
			return err
		}
	}
	if !c.found {
		c.found = true
		c.want, c.ahead = want, ahead
		c.run = Finding{
			File: file, Position: b.Position, FirstOffset: b.BaseOffset,
			What: fmt.Sprintf("leader epoch %d where %s says %d", b.LeaderEpoch, EpochsName, want),
		}
	}
	if c.run.File == file {
		c.run.Size = b.Position + b.Size() - c.run.Position
	}
	c.run.LastOffset = b.LastOffset()
	return nil
}

// end forgets batches of an epoch that is not listed yet, up to the end of the log.
func (c *epochCheck) end(v *verifier) error {
	if c.ahead {
		c.found = false
	}
	return c.flush(v)
}

// flush reports the batches in a row so far, if the list still says the same of them:
// a writer may have raised the epoch after the list was read.
func (c *epochCheck) flush(v *verifier) error {
	if !c.found {
		return nil
	}
	f := c.run
	c.found = false
	data, err := readRegular(v.fs, filepath.Join(v.dir, EpochsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if now, err := ParseEpochs(data); err == nil && now.EpochOf(f.FirstOffset) != c.want {
		c.list = now
		return nil
	}
	return v.report(f)
}

// otherFiles checks what belongs to no single segment's log: snapshots, the topic id.
func (v *verifier) otherFiles() error {
	entries, err := v.fs.ReadDir(v.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, suffix, ok := ParseSegmentName(e.Name()); !ok || suffix != SnapshotSuffix || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(v.dir, e.Name())
		what, err := v.snapshotFault(path)
		if err != nil {
			return err
		}
		if what != "" {
			if err := v.report(AboutFile(path, what, RepairRebuild)); err != nil {
				return err
			}
		}
	}
	return v.partitionMeta()
}

func (v *verifier) partitionMeta() error {
	path := filepath.Join(v.dir, PartitionMetaName)
	data, err := readRegular(v.fs, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNotRegular):
		return v.report(AboutFile(path, "not a regular file", RepairNone))
	case err != nil:
		return err
	}
	if _, err := ParsePartitionMeta(data); err != nil {
		return v.report(AboutFile(path, ParseReason(err), repairOf(err)))
	}
	return nil
}

// snapshotFault says what is wrong with a .snapshot file, "" if nothing, in bounded
// memory. One that is gone is none.
func (v *verifier) snapshotFault(path string) (string, error) {
	f, err := openRegular(v.fs, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	var head [snapshotHeaderSize]byte
	if err := readFullAt(f, head[:], 0); err != nil {
		return "snapshot of " + fmt.Sprint(info.Size()) + " bytes", ignoreShort(err)
	}
	if version := binary.BigEndian.Uint16(head[:]); version != snapshotVersion {
		return fmt.Sprintf("%v %d", ErrUnknownVersion, version), nil
	}
	crc := uint32(0)
	buf := make([]byte, min(64<<10, info.Size()))
	for at := int64(snapshotCRCFrom); at < info.Size(); {
		n, err := readAtMost(f, buf, at, info.Size())
		if err != nil || n == 0 {
			return "", err
		}
		crc = crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), buf[:n])
		at += int64(n)
	}
	count := int64(int32(binary.BigEndian.Uint32(head[6:])))
	switch {
	case crc != binary.BigEndian.Uint32(head[2:]):
		return "bad crc", nil
	case info.Size() != snapshotHeaderSize+count*snapshotEntrySize:
		return fmt.Sprintf("%d bytes for %d entries", info.Size(), count), nil
	}
	return "", nil
}
