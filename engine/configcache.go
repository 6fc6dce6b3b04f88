package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/vfs"
)

// propsInterval is how long server.properties and the version file may go without being
// looked at. klog itself replaces the entries of all topics when it raises the version,
// so that processes notice at once; this bound is for files edited by hand.
const propsInterval = time.Second

// configCache keeps a topic's effective config, and what it was made from.
type configCache struct {
	topic *Topic

	mu       sync.Mutex // guards what follows
	entryIs  stamp
	entry    *entry // nil: the topic has none
	loaded   bool   // entry and entryIs are valid
	config   *Config
	defaults *defaults // those that config was made from
	at       time.Time // when config was last known to be so
}

// configInterval is how long a config is taken for what it was without a look at the
// topic's entry. A process that appends many times a millisecond need not ask each time;
// one that changes a config does not wait for it.
const configInterval = 5 * time.Millisecond

// get returns the effective config.
func (c *configCache) get() (*Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.config != nil && now.Sub(c.at) < configInterval {
		return c.config, nil
	}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	c.at = now
	d, err := c.topic.root.defaults()
	if err != nil {
		return nil, err
	}
	if c.config != nil && c.defaults == d {
		return c.config, nil
	}
	var set map[string]string
	if c.entry != nil {
		set = c.entry.configs
	}
	config, err := newConfig(d.values, set)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", c.topic.name, err)
	}
	c.config, c.defaults = config, d
	return config, nil
}

// load is refresh for a topic that is being opened.
func (c *configCache) load() (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.refresh()
	return c.entry, err
}

// refresh reads the entry again if it is not the file that it was.
func (c *configCache) refresh() error {
	r := c.topic.root
	path := r.entryPath(c.topic.name)
	if c.loaded {
		is, err := stampOf(r.fs, path)
		if err != nil || is.equal(c.entryIs) {
			return err
		}
	}
	e, is, err := r.readEntryStamp(c.topic.name)
	if err = r.tolerate(c.topic.name, err); err != nil {
		return err
	}
	if c.loaded && e != nil && !c.topic.id.IsZero() && e.id != c.topic.id {
		return fmt.Errorf("topic %s: %w", c.topic.name, ErrTopicGone)
	}
	if c.loaded && r.writes {
		if _, err := r.checkVersion(); err != nil {
			return err
		}
	}
	c.entry, c.entryIs, c.loaded, c.config = e, is, true, nil
	return nil
}

// readEntryStamp reads the entry and says which state of the file it read. A nil entry
// and the zero stamp mean that there is none. With a *damagedEntryError comes the stamp of
// the file.
func (r *Root) readEntryStamp(topic string) (*entry, stamp, error) {
	path := r.entryPath(topic)
	f, err := r.fs.OpenFile(path, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stamp{}, nil
	}
	if err != nil {
		return nil, stamp{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	if fi.Size() > maxEntry {
		return nil, stampOfInfo(fi), &damagedEntryError{path, fmt.Errorf("%d bytes", fi.Size())}
	}
	b := make([]byte, fi.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, stamp{}, err
	}
	e, err := decodeEntry(b)
	if err != nil {
		return nil, stampOfInfo(fi), &damagedEntryError{path, err}
	}
	return e, stampOfInfo(fi), nil
}

// defaults are what the root's server.properties says. They are replaced, never changed.
type defaults struct {
	values map[string]string // by the topic's names of the configs, checked
	is     stamp
	at     time.Time // when the file was last looked at
}

// defaults returns the root-wide values, looking at the file at most once a second.
func (r *Root) defaults() (*defaults, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.defs != nil && now.Sub(r.defs.at) < propsInterval {
		return r.defs, nil
	}
	is, err := stampOf(r.fs, r.statePath(propsFileName))
	if err != nil {
		return nil, err
	}
	if r.defs != nil {
		if r.writes {
			if _, err := r.checkVersion(); err != nil {
				return nil, err
			}
		}
		if r.defs.is.equal(is) {
			r.defs.at = now
			return r.defs, nil
		}
	}
	d := &defaults{is: is, at: now}
	if is != (stamp{}) {
		if d.values, err = r.readDefaults(); err != nil {
			return nil, err
		}
	}
	r.defs = d
	return d, nil
}

// readDefaults reads server.properties. Names that this program does not know have no
// effect: they are a broker's own or a newer klog's.
func (r *Root) readDefaults() (map[string]string, error) {
	path := r.statePath(propsFileName)
	b, err := vfs.ReadFile(r.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	values, err := rootDefaults(segments.ParseProperties(b).Get)
	var ce *ConfigError
	if errors.As(err, &ce) {
		ce.File = path
	}
	return values, err
}
