package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

func (d *dumper) epochs(data []byte) error {
	if err := d.begin(spread("epoch", "offset")); err != nil {
		return err
	}
	epochs, err := segments.ParseEpochs(data)
	if err != nil {
		return err
	}
	for _, x := range epochs {
		if err := d.row(x.Epoch, x.Start); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint dumps a file of a log root that has an offset for each partition.
func (d *dumper) checkpoint(data []byte) error {
	if err := d.begin(spread("topic", "partition", "offset")); err != nil {
		return err
	}
	entries, err := segments.ParseOffsetCheckpoint(data)
	if err != nil {
		return err
	}
	for _, x := range entries {
		if err := d.row(x.Topic, x.Partition, x.Offset); err != nil {
			return err
		}
	}
	return nil
}

// named are the columns of files that hold values with names.
func named() []dumpColumn { return spread("name", "value") }

func (d *dumper) partitionMeta(data []byte) error {
	if err := d.begin(named()); err != nil {
		return err
	}
	if _, err := segments.ParsePartitionMeta(data); err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if err := d.row(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumper) properties(data []byte) error {
	if err := d.begin(named()); err != nil {
		return err
	}
	p := segments.ParseProperties(data)
	for _, key := range p.Keys() {
		value, _ := p.Get(key)
		if err := d.row(key, value); err != nil {
			return err
		}
	}
	return nil
}

// json dumps the fields of a JSON object, in their order. A file without a byte is an
// object without fields: older brokers wrote .kafka_cleanshutdown so.
func (d *dumper) json(data []byte) error {
	if err := d.begin(named()); err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want a JSON object: %w", segments.ErrCorrupt)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", segments.ErrCorrupt, err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("%w: %w", segments.ErrCorrupt, err)
		}
		if err := d.row(key, jsonCell(value)); err != nil {
			return err
		}
	}
	return nil
}

// jsonCell is a value out of a JSON file, shown as it stands there.
type jsonCell json.RawMessage

func (c jsonCell) text() string {
	var s string
	if json.Unmarshal(c, &s) == nil {
		return escapeCell(s)
	}
	return escapeCell(c.compact())
}

func (c jsonCell) appendJSON(b []byte) []byte { return append(b, c.compact()...) }

func (c jsonCell) compact() string {
	var b bytes.Buffer
	if json.Compact(&b, c) != nil {
		return "null"
	}
	return b.String()
}

// state dumps a file of klog's own that is a JSON object or a few lines of text.
func (d *dumper) state(data []byte) error {
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		return d.json(data)
	}
	if err := d.begin(named()); err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if err := d.row("line "+strconv.Itoa(n), strings.TrimRight(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumper) hint(data []byte) error {
	if err := d.begin(named()); err != nil {
		return err
	}
	fields, err := engine.InspectHint(data)
	if err != nil {
		return err
	}
	return d.fields(fields)
}

// lock dumps what a lock file says of its last holder. An empty one says nothing, nor
// does Kafka's.
func (d *dumper) lock(data []byte) error {
	if err := d.begin(named()); err != nil {
		return err
	}
	fields, ok := engine.InspectLock(data)
	if !ok && len(bytes.TrimSpace(data)) > 0 {
		return d.state(data)
	}
	return d.fields(fields)
}

func (d *dumper) fields(fields []engine.StateField) error {
	for _, f := range fields {
		if err := d.row(f.Name, f.Value); err != nil {
			return err
		}
	}
	return nil
}
