package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// filesBelow are the files of a log in dir and in the directories that belong to it.
// What klog and Kafka do not write is passed over.
func filesBelow(dir string) ([]string, error) {
	entries, err := vfs.OS.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.Type().IsRegular() && kindOf(path, false) != unknownFile:
			files = append(files, path)
		case entry.IsDir() && belongs(path):
			below, err := filesBelow(path)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		}
	}
	return files, nil
}

// belongs reports whether a directory below another is part of a log.
func belongs(path string) bool {
	name := filepath.Base(path)
	_, _, partition := segments.ParsePartitionDir(name)
	_, _, _, deleted := segments.ParseDeletedDirName(name)
	switch {
	case partition, deleted, name == ".klog":
		return true
	case filepath.Base(filepath.Dir(path)) == ".klog":
		return name != "quarantine" // raw bytes of logs
	}
	return false
}

// fileKind is how a file is decoded.
type fileKind int

const (
	unknownFile fileKind = iota
	logFile
	indexFile
	timeIndexFile
	txnIndexFile
	snapshotFile
	epochsFile
	checkpointFile
	partitionMetaFile
	propertiesFile
	jsonFile
	hintFile
	listFile
	producersFile
	lockFile
	stateFile
)

// kindOf tells a file's kind by its name. A file that the user named may have any stem
// before a segment's suffix; one found in a directory has a segment's whole name.
func kindOf(path string, named bool) fileKind {
	name := filepath.Base(path)
	if slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), ".klog") {
		return stateKind(name)
	}
	switch name {
	case segments.EpochsName:
		return epochsFile
	case segments.PartitionMetaName:
		return partitionMetaFile
	case segments.MetaPropertiesName:
		return propertiesFile
	case ".kafka_cleanshutdown", "quorum-state":
		return jsonFile
	case segments.RecoveryPointName, segments.HighWatermarkName, segments.LogStartName, segments.CleanerOffsetName:
		return checkpointFile
	case "bootstrap.checkpoint":
		return logFile
	}
	if named {
		return namedKind(name)
	}
	_, suffix, ok := segments.ParseSegmentName(name)
	if !ok {
		return unknownFile
	}
	return suffixKind(suffix)
}

// namedKind is the kind of a file that the user named, which may be a copy.
func namedKind(name string) fileKind {
	switch {
	case strings.HasSuffix(name, ".properties"):
		return propertiesFile
	case strings.HasSuffix(name, "-offset-checkpoint"):
		return checkpointFile
	case strings.HasSuffix(name, ".checkpoint"):
		return logFile // a snapshot of Kafka's metadata log
	}
	return suffixKind(filepath.Ext(segmentStem(name)))
}

// segmentStem is name without what marks a file that waits for its removal or is not
// yet in use.
func segmentStem(name string) string {
	for _, mark := range []string{".deleted", ".cleaned", ".swap"} {
		if stem, ok := strings.CutSuffix(name, mark); ok {
			return stem
		}
	}
	return name
}

func suffixKind(suffix string) fileKind {
	switch segmentStem(suffix) {
	case segments.LogSuffix:
		return logFile
	case segments.IndexSuffix:
		return indexFile
	case segments.TimeIndexSuffix:
		return timeIndexFile
	case segments.TxnIndexSuffix:
		return txnIndexFile
	case segments.SnapshotSuffix:
		return snapshotFile
	}
	return unknownFile
}

// stateKind is the kind of a file of klog's own.
func stateKind(name string) fileKind {
	switch {
	case name == "hint":
		return hintFile
	case name == filepath.Base(segments.ListName):
		return listFile
	case name == "producers":
		return producersFile
	case name == "lock":
		return lockFile
	case strings.HasSuffix(name, ".properties"):
		return propertiesFile
	case strings.HasSuffix(name, ".tmp"):
		return unknownFile
	}
	return stateFile
}
