package cmd

import (
	"regexp"

	"github.com/klog-project/klog/cmd/feed"
	"github.com/klog-project/klog/cmd/value"
	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
	"github.com/urfave/cli/v2"
)

// defaultBatchSize is the size of a batch of many records, before compression.
const defaultBatchSize = 128 << 10

// produceFlags binds the flags of produce.
func produceFlags(e *Env, o *produceOptions) []cli.Flag {
	return append(append(recordFlags(e, o), inputFlags(o)...), appendFlags(o)...)
}

// recordFlags say what is in a record and where it goes.
func recordFlags(e *Env, o *produceOptions) []cli.Flag {
	return []cli.Flag{
		flagOf(&o.partition, "partition", "p", "append to partition `N`", parsePartition),
		choiceOf(&o.partitioner, "partitioner", "", "what chooses the partition, `NAME`: murmur2 (default), crc32, round-robin or sticky",
			engine.ParsePartitioner, "murmur2", "crc32", "round-robin", "sticky"),
		switchFlag(&o.keepPartition, "keep-partition", "", "append a row to the partition that it names (with -J or -F)"),
		optionalFlag(&o.key, "key", "k", "the `KEY` of every record", anyText),
		flagOf(&o.keyDelimiter, "key-delimiter", "K", "the key stands before the first `DELIM` of a record", parseDelimiter),
		stringFlag(&o.keyJSON, "key-json", "", "the key is found at `PATH` (gjson) in a value that is JSON"),
		flagOf(&o.keyRegexp, "key-regex", "", "the key is what the first group of `RE`, or all of it, matches in the value", filled(regexp.Compile)),
		optionalFlag(&o.timestamp, "timestamp", "", "the `TIME` of every record (default: when it is read)", e.parseTime),
		stringFlag(&o.timestampJSON, "timestamp-json", "", "the time is found at `PATH` (gjson) in a value that is JSON"),
		listFlagOf(&o.headers, "header", "H", "add the header `NAME=VALUE` to every record", parseHeader),
	}
}

// inputFlags say how records lie in the input.
func inputFlags(o *produceOptions) []cli.Flag {
	return []cli.Flag{
		switchFlag(&o.json, "json", "J", "a record is a line of JSON, as cat -J, kcat -J and kaf write them"),
		optionalFlag(&o.format, "format", "F", "records are written in `FORMAT`, the language of cat -F", anyText),
		flagOf(&o.delimiter, "delimiter", "D", "records end with `DELIM` (default: a newline); \\n \\t \\0 \\xNN are understood", parseDelimiter),
		switchFlag(&o.null, "null", "0", "records end with a NUL"),
		switchFlag(&o.emptyNull, "empty-null", "Z", "an empty key or value is null"),
		switchFlag(&o.whole, "whole", "", "each input is one record"),
		stringFlag(&o.follow, "follow", "", "read `FILE` as it grows and is rotated, and go on there after an interruption"),
	}
}

// appendFlags say how records are stored.
func appendFlags(o *produceOptions) []cli.Flag {
	return []cli.Flag{
		choiceOf(&o.codec, "compress", "z", "compress with `CODEC`: none, gzip, snappy, lz4 or zstd (default: the topic's)",
			pointerTo(segments.ParseCodec), "none", "gzip", "snappy", "lz4", "zstd"),
		durationFlag(&o.linger, "linger", "", "wait up to `DURATION` for more to append at once (default 0)"),
		flagOf(&o.batchSize, "batch-size", "", "put up to `SIZE` of records into a batch, before compression (default 128KiB)", parseBatchSize),
		flagOf(&o.rate, "rate", "", "append at most at `RATE`, as 500/s", value.ParseRate),
		choiceOf(&o.oversize, "oversize", "", "what to do with a record over max.message.bytes, `WAY`: fail (default), skip, truncate or split",
			parseOversize, "fail", "skip", "truncate", "split"),
		choiceOf(&o.acks, "acks", "", "what an acknowledgement means, `WHO`: none or leader, here both \"in the log\"",
			parseAcks, "none", "leader", "all"),
		optionalFlag(&o.sync, "sync", "", "when records must be on disk, `WHEN`: never, exit (default), batch, or a duration", parseSync),
		optionalFlag(&o.timeout, "timeout", "", "give up on a record that is not appended within `DURATION`, with all waiting", value.ParseDuration),
		switchFlag(&o.printOffset, "print-offset", "", "print topic, partition and offset of each record"),
		switchFlag(&o.tee, "tee", "T", "copy the input to standard output once it is in the log"),
		switchFlag(&o.noCreate, "no-create", "", "do not create a missing topic"),
	}
}

// choiceOf is a flag whose value is one of a few words, which parse knows.
func choiceOf[T any](dest *T, name, alias, usage string, parse func(string) (T, error), words ...string) *valueFlag {
	f := flagOf(dest, name, alias, usage, parse)
	f.choices = words
	return f
}

// optionalFlag is a flag whose destination stays nil when it is not given.
func optionalFlag[T any](dest **T, name, alias, usage string, parse func(string) (T, error)) *valueFlag {
	return flagOf(dest, name, alias, usage, pointerTo(parse))
}

func pointerTo[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(s string) (*T, error) {
		v, err := parse(s)
		return &v, err
	}
}

func anyText(s string) (string, error) { return s, nil }

func parsePartition(s string) (int64, error) {
	n, err := value.ParseCount(s)
	if err == nil && n > engine.MaxPartitions {
		n = engine.MaxPartitions // which no topic has
	}
	return n, err
}

func parseDelimiter(s string) ([]byte, error) {
	d, err := value.ParseDelimiter(s)
	if err == nil && len(d) == 0 {
		return nil, usagef("an empty delimiter divides nothing; --whole makes each input one record")
	}
	return d, err
}

func parseBatchSize(s string) (int64, error) {
	n, err := value.ParseSize(s)
	if err == nil && n == 0 {
		return 0, usagef("want 1B at least")
	}
	return n, err
}

func parseHeader(s string) (segments.Header, error) {
	name, val, err := value.ParsePair("header", s)
	return segments.Header{Key: []byte(name), Value: []byte(val)}, err
}

func parseOversize(s string) (feed.Oversize, error) {
	for how, name := range []string{"fail", "skip", "truncate", "split"} {
		if s == name {
			return feed.Oversize(how), nil
		}
	}
	return 0, usagef("%s: want fail, skip, truncate or split", quote(s))
}

// acks is the value of --acks. In a log without replicas there is nobody but the leader
// to wait for.
type acks string

func parseAcks(s string) (acks, error) {
	switch s {
	case "none", "leader":
		return acks(s), nil
	case "all":
		return "", usagef("all: a topic here has one replica, on this disk; want none or leader")
	}
	return "", usagef("%s: want none, leader or all", quote(s))
}
