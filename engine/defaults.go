package engine

import (
	"fmt"
	"strconv"
)

// coarse are the names of Kafka's server.properties for what has a finer one, and the
// milliseconds of their unit. The finer one wins.
var coarse = [...]struct {
	name, of string
	ms       int64
}{
	{"log.retention.minutes", "retention.ms", 60_000},
	{"log.retention.hours", "retention.ms", 3_600_000},
	{"log.roll.hours", "segment.ms", 3_600_000},
	{"log.roll.jitter.hours", "segment.jitter.ms", 3_600_000},
}

// rootDefaults picks from a server.properties what this program knows, by the names that
// configs have on a topic, and checks it. A config may stand under its own name, which
// wins, or as Kafka's brokers call it.
func rootDefaults(get func(key string) (value string, ok bool)) (map[string]string, error) {
	values := map[string]string{}
	for i := range configDefs {
		d := &configDefs[i]
		v, ok := get(d.name)
		if !ok && d.brokers != "" {
			v, ok = get(d.brokers)
		}
		if !ok {
			continue
		}
		var c Config
		if err := d.parse(&c, v); err != nil {
			return nil, err
		}
		values[d.name] = d.format(&c)
	}
	for _, k := range coarse {
		v, ok := get(k.name)
		if _, finer := values[k.of]; !ok || finer {
			continue
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < -1 || n > maxInt64/k.ms {
			return nil, &ConfigError{Name: k.name, Value: v, Want: fmt.Sprintf("a number from -1 to %d", maxInt64/k.ms)}
		}
		if n > 0 {
			n *= k.ms
		}
		values[k.of] = strconv.FormatInt(n, 10)
	}
	return values, nil
}

// DefaultPartitions is how many partitions a new topic of the root has unless its
// creator says otherwise: num.partitions.
func (r *Root) DefaultPartitions() (int, error) {
	d, err := r.defaults()
	if err != nil {
		return 0, err
	}
	c, err := newConfig(d.values, nil)
	if err != nil {
		return 0, err
	}
	return int(c.NumPartitions), nil
}
