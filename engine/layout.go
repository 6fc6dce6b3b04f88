package engine

import (
	"path/filepath"

	"github.com/klog-project/klog/segments"
)

// Names below a root. klog's own are hidden, so that whoever knows Kafka's files finds
// nothing between them that looks like one.
const (
	stateDir        = ".klog"             // of a root, and of a partition
	lockFileName    = "lock"              // in a stateDir
	versionFileName = "version"           // in a root's stateDir
	topicsDirName   = "topics"            // one file a topic: its entry
	intentsDirName  = "intents"           // what is being done to several directories
	trashDirName    = "trash"             // one file a deletion
	sharedFileName  = "shared"            // writing over a network file system is enabled
	propsFileName   = "server.properties" // root-wide configs
	metaFileName    = "meta.properties"   // Kafka's
	tempSuffix      = ".tmp"              // of what vfs.WriteFile has not finished
	kafkaLockName   = ".lock"             // Kafka's: held while a broker runs
	followDirName   = "follow"            // one directory or file a followed file
	stagePrefix     = ".klog-new."        // directory in the root where partitions are built
)

func (r *Root) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

func (r *Root) statePath(elem ...string) string {
	return filepath.Join(append([]string{r.dir, stateDir}, elem...)...)
}

// entrySuffix keeps the entry of topic "a.tmp" apart from what vfs.WriteFile calls the
// unfinished entry of topic "a". It must be short: with the longest topic name and ".tmp"
// it makes 255 characters.
const entrySuffix = ".t"

// entryPath is where the entry of a topic is. Topic names are safe as file names: they
// are checked before they get here.
func (r *Root) entryPath(topic string) string {
	return r.dir + "/" + stateDir + "/" + topicsDirName + "/" + topic + entrySuffix
}

func (r *Root) partitionPath(topic string, partition int32) string {
	return r.dir + "/" + segments.PartitionDir(topic, partition)
}

// stagePath is the directory where partitions are made whole before they get their
// names. It lies in the root itself, not in .klog, which may be a link to another file
// system: a rename must be able to move them out.
func (r *Root) stagePath(intent string) string { return r.path(stagePrefix + intent) }
