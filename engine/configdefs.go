package engine

import "math"

// configKind says how the text of a config is read and written.
type configKind uint8

const (
	kindInt    configKind = iota
	kindBytes             // int, may carry a unit of size
	kindMillis            // int, may carry a unit of time
	kindRatio
	kindBool
	kindChoice // one of choices
	kindList   // any of choices, or any words where there are none
)

// configScope says where a config may be set.
type configScope uint8

const (
	scopeTopic configScope = iota // for a topic, and as a default for all
	scopeRoot                     // for the root only
)

// configDef describes one config. A table of them is the whole of what this package
// knows about configs.
type configDef struct {
	name    string
	brokers string // what Kafka's server.properties calls it, if not name
	kind    configKind
	scope   configScope
	def     string // the default, as it is written
	min     int64
	max     int64
	choices []string
	// exactly one of these, by kind
	num   func(*Config) *int64
	ratio func(*Config) *float64
	flag  func(*Config) *bool
	text  func(*Config) *string
	list  func(*Config) *[]string
}

const (
	maxInt32 = math.MaxInt32
	maxInt64 = math.MaxInt64
)

// configDefs is sorted by name. Defaults are Kafka's of before 4.0 where they changed.
var configDefs = [...]configDef{
	{
		name: "cleanup.policy", brokers: "log.cleanup.policy", kind: kindList, def: "delete", choices: []string{"compact", "delete"},
		list: func(c *Config) *[]string { return &c.CleanupPolicy },
	},
	{
		name: "compression.gzip.level", kind: kindInt, def: "-1", min: -1, max: 9,
		num: func(c *Config) *int64 { return &c.CompressionGzipLevel },
	},
	{
		name: "compression.lz4.level", kind: kindInt, def: "9", min: 1, max: 17,
		num: func(c *Config) *int64 { return &c.CompressionLz4Level },
	},
	{
		name: "compression.type", kind: kindChoice, def: "producer", choices: []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"},
		text: func(c *Config) *string { return &c.CompressionType },
	},
	{
		name: "compression.zstd.level", kind: kindInt, def: "3", min: -131072, max: 22,
		num: func(c *Config) *int64 { return &c.CompressionZstdLevel },
	},
	{
		name: "delete.retention.ms", brokers: "log.cleaner.delete.retention.ms", kind: kindMillis, def: "86400000", max: maxInt64,
		num: func(c *Config) *int64 { return &c.DeleteRetentionMs },
	},
	{
		name: "file.delete.delay.ms", brokers: "log.segment.delete.delay.ms", kind: kindMillis, def: "0", max: maxInt64,
		num: func(c *Config) *int64 { return &c.FileDeleteDelayMs },
	},
	{
		name: "flush.messages", brokers: "log.flush.interval.messages", kind: kindInt, def: "9223372036854775807", min: 1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.FlushMessages },
	},
	{
		name: "flush.ms", brokers: "log.flush.interval.ms", kind: kindMillis, def: "9223372036854775807", max: maxInt64,
		num: func(c *Config) *int64 { return &c.FlushMs },
	},
	{
		name: "index.interval.bytes", brokers: "log.index.interval.bytes", kind: kindBytes, def: "4096", max: maxInt32,
		num: func(c *Config) *int64 { return &c.IndexIntervalBytes },
	},
	{
		name: "klog.retention.on.roll", kind: kindBool, def: "true",
		flag: func(c *Config) *bool { return &c.RetentionOnRoll },
	},
	{
		name: "klog.root.max.bytes", kind: kindBytes, scope: scopeRoot, def: "-1", min: -1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.RootMaxBytes },
	},
	{
		name: "max.compaction.lag.ms", brokers: "log.cleaner.max.compaction.lag.ms", kind: kindMillis, def: "9223372036854775807", min: 1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.MaxCompactionLagMs },
	},
	{
		name: "max.message.bytes", brokers: "message.max.bytes", kind: kindBytes, def: "1048588", max: maxInt32,
		num: func(c *Config) *int64 { return &c.MaxMessageBytes },
	},
	{
		name: "message.timestamp.after.max.ms", brokers: "log.message.timestamp.after.max.ms", kind: kindMillis, def: "9223372036854775807", max: maxInt64,
		num: func(c *Config) *int64 { return &c.TimestampAfterMaxMs },
	},
	{
		name: "message.timestamp.before.max.ms", brokers: "log.message.timestamp.before.max.ms", kind: kindMillis, def: "9223372036854775807", max: maxInt64,
		num: func(c *Config) *int64 { return &c.TimestampBeforeMaxMs },
	},
	{
		name: "message.timestamp.type", brokers: "log.message.timestamp.type", kind: kindChoice, def: "CreateTime", choices: []string{"CreateTime", "LogAppendTime"},
		text: func(c *Config) *string { return &c.TimestampType },
	},
	{
		name: "min.cleanable.dirty.ratio", brokers: "log.cleaner.min.cleanable.ratio", kind: kindRatio, def: "0.5",
		ratio: func(c *Config) *float64 { return &c.MinCleanableDirtyRatio },
	},
	{
		name: "min.compaction.lag.ms", brokers: "log.cleaner.min.compaction.lag.ms", kind: kindMillis, def: "0", max: maxInt64,
		num: func(c *Config) *int64 { return &c.MinCompactionLagMs },
	},
	{
		name: "min.insync.replicas", kind: kindInt, def: "1", min: 1, max: maxInt32,
		num: func(c *Config) *int64 { return &c.MinInsyncReplicas },
	},
	{
		name: "num.partitions", kind: kindInt, scope: scopeRoot, def: "1", min: 1, max: MaxPartitions,
		num: func(c *Config) *int64 { return &c.NumPartitions },
	},
	{
		name: "preallocate", brokers: "log.preallocate", kind: kindBool, def: "false",
		flag: func(c *Config) *bool { return &c.Preallocate },
	},
	{
		name: "replica.sync", kind: kindChoice, def: "always", choices: []string{"always", "never"},
		text: func(c *Config) *string { return &c.ReplicaSync },
	},
	{
		name: "retention.bytes", brokers: "log.retention.bytes", kind: kindBytes, def: "-1", min: -1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.RetentionBytes },
	},
	{
		name: "retention.groups", kind: kindList, def: "",
		list: func(c *Config) *[]string { return &c.RetentionGroups },
	},
	{
		name: "retention.groups.max.ms", kind: kindMillis, def: "-1", min: -1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.RetentionGroupsMaxMs },
	},
	{
		name: "retention.ms", brokers: "log.retention.ms", kind: kindMillis, def: "604800000", min: -1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.RetentionMs },
	},
	{
		name: "segment.bytes", brokers: "log.segment.bytes", kind: kindBytes, def: "1073741824", min: 14, max: maxInt32,
		num: func(c *Config) *int64 { return &c.SegmentBytes },
	},
	{
		name: "segment.index.bytes", brokers: "log.index.size.max.bytes", kind: kindBytes, def: "10485760", min: 12, max: maxInt32,
		num: func(c *Config) *int64 { return &c.SegmentIndexBytes },
	},
	{
		name: "segment.jitter.ms", brokers: "log.roll.jitter.ms", kind: kindMillis, def: "0", max: maxInt64,
		num: func(c *Config) *int64 { return &c.SegmentJitterMs },
	},
	{
		name: "segment.ms", brokers: "log.roll.ms", kind: kindMillis, def: "604800000", min: 1, max: maxInt64,
		num: func(c *Config) *int64 { return &c.SegmentMs },
	},
	{
		name: "topic.trash.ms", kind: kindMillis, def: "86400000", max: maxInt64,
		num: func(c *Config) *int64 { return &c.TopicTrashMs },
	},
	{
		name: "unclean.leader.election.enable", kind: kindBool, def: "false",
		flag: func(c *Config) *bool { return &c.UncleanLeaderElection },
	},
}

func findConfig(name string) *configDef {
	for i := range configDefs {
		if configDefs[i].name == name {
			return &configDefs[i]
		}
	}
	return nil
}
