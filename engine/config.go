package engine

import (
	"maps"
	"slices"
	"strings"
)

// Config holds the effective value of every config: what was set for the topic, else
// what stands in the root's server.properties, else the default. Times are milliseconds
// and sizes bytes; the greatest int64 means "no limit" for times, -1 does for sizes and
// for retention. A Config is not changed once it has been handed out.
type Config struct {
	CleanupPolicy          []string // any of "compact", "delete"; never empty
	CompressionType        string   // "producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"
	CompressionGzipLevel   int64    // -1 (the codec's own) to 9
	CompressionLz4Level    int64    // 1 to 17
	CompressionZstdLevel   int64    // to 22
	DeleteRetentionMs      int64
	FileDeleteDelayMs      int64
	FlushMessages          int64
	FlushMs                int64
	IndexIntervalBytes     int64
	MaxCompactionLagMs     int64
	MaxMessageBytes        int64 // whole batch, compressed
	MinCleanableDirtyRatio float64
	MinCompactionLagMs     int64
	MinInsyncReplicas      int64
	Preallocate            bool
	ReplicaSync            string // "always", "never"
	RetentionBytes         int64  // -1: no limit
	RetentionGroups        []string
	RetentionGroupsMaxMs   int64 // -1: no limit
	RetentionMs            int64 // -1: no limit
	RetentionOnRoll        bool
	SegmentBytes           int64
	SegmentIndexBytes      int64
	SegmentJitterMs        int64
	SegmentMs              int64
	TimestampAfterMaxMs    int64
	TimestampBeforeMaxMs   int64
	TimestampType          string // "CreateTime", "LogAppendTime"
	TopicTrashMs           int64
	UncleanLeaderElection  bool

	NumPartitions int64 // of a topic that is created without a number; root-wide
	RootMaxBytes  int64 // -1: off; root-wide

	set      map[string]string // normalised values that were set for the topic
	defaults map[string]string // and those of the root
}

// Set returns what was set for the topic itself, normalised. The map is the caller's.
func (c *Config) Set() map[string]string {
	if c.set == nil {
		return map[string]string{}
	}
	return maps.Clone(c.set)
}

// Compacted reports whether cleanup.policy names compact.
func (c *Config) Compacted() bool { return slices.Contains(c.CleanupPolicy, "compact") }

// Deletes reports whether cleanup.policy names delete.
func (c *Config) Deletes() bool { return slices.Contains(c.CleanupPolicy, "delete") }

// LogAppendTime reports whether records get the time of their append.
func (c *Config) LogAppendTime() bool { return c.TimestampType == "LogAppendTime" }

// Value returns the effective value of the named config as text, "" and false if there
// is no such config.
func (c *Config) Value(name string) (string, bool) {
	d := findConfig(name)
	if d == nil {
		return "", false
	}
	return d.format(c), true
}

// ConfigNames returns the names of all configs that a topic may have, sorted.
func ConfigNames() []string { return configNames(scopeTopic) }

// RootConfigNames returns the names of the configs that only a root has, sorted.
func RootConfigNames() []string { return configNames(scopeRoot) }

func configNames(s configScope) []string {
	var names []string
	for i := range configDefs {
		if configDefs[i].scope == s {
			names = append(names, configDefs[i].name)
		}
	}
	return names
}

// ParseConfig checks one config of a topic and returns its value as klog keeps it:
// without units ("7d" is "604800000"), lists in order. The error is a *ConfigError.
func ParseConfig(name, value string) (string, error) {
	d := findConfig(name)
	switch {
	case d == nil:
		return "", unknownConfig(name)
	case d.scope == scopeRoot:
		return "", &ConfigError{Name: name, Value: value, Want: "only in " + propsFileName + ": it is of the whole root"}
	}
	var c Config
	if err := d.parse(&c, value); err != nil {
		return "", err
	}
	return d.format(&c), nil
}

// parseConfigs checks configs one by one and returns them normalised.
func parseConfigs(in map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v, err := ParseConfig(name, in[name])
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// newConfig is the effective config of a topic that has set configs, over the defaults
// of its root. Names in set that this program does not know are kept in it and have no
// effect: a newer klog put them there.
func newConfig(defaults, set map[string]string) (*Config, error) {
	c := &Config{set: set, defaults: defaults}
	for i := range configDefs {
		d := &configDefs[i]
		v, ok := set[d.name]
		if !ok || d.scope == scopeRoot {
			if v, ok = defaults[d.name]; !ok {
				v = d.def
			}
		}
		if err := d.parse(c, v); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// check looks at what must fit together.
func (c *Config) check() error {
	switch {
	case c.MaxCompactionLagMs < c.MinCompactionLagMs:
		v, _ := c.Value("max.compaction.lag.ms")
		m, _ := c.Value("min.compaction.lag.ms")
		return &ConfigError{Name: "max.compaction.lag.ms", Value: v, Want: "not less than min.compaction.lag.ms, which is " + m}
	case len(c.RetentionGroups) > 0 && c.RetentionBytes < 0 && c.RetentionGroupsMaxMs < 0:
		return &ConfigError{
			Name: "retention.groups", Value: strings.Join(c.RetentionGroups, ","),
			Want: "together with retention.bytes or retention.groups.max.ms, so that a group that stopped cannot fill the disk",
		}
	}
	return nil
}

// ConfigError is about a config that does not exist or a value that it cannot have. It
// is ErrInvalid.
type ConfigError struct {
	Name  string
	Value string
	Want  string // what the value should be; "" where there is no config of this name
	Near  string // most similar name, "" if none is
	File  string // where it stands, "" if it was given by the caller
}

func (e *ConfigError) Error() string {
	s := ""
	if e.File != "" {
		s = e.File + ": "
	}
	if e.Want == "" {
		s += "no config is called " + e.Name
		if e.Near != "" {
			s += " (the nearest is " + e.Near + ")"
		}
		return s
	}
	return s + e.Name + "=" + e.Value + ": want " + e.Want
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *ConfigError) Unwrap() error { return ErrInvalid }

func unknownConfig(name string) error {
	return &ConfigError{Name: name, Near: Nearest(name, ConfigNames())}
}

// Source says where the effective value of a config comes from: "topic", "root" (its
// server.properties) or "default".
func (c *Config) Source(name string) string {
	if _, ok := c.set[name]; ok {
		return "topic"
	}
	if _, ok := c.defaults[name]; ok {
		return "root"
	}
	return "default"
}
