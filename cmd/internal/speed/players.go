package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// fillTime is the timestamp in ms of the first record that play-fill writes; each next
// one is a millisecond later.
const fillTime = 1_700_000_000_000

// play is this program as somebody's process.
func play(role string, args []string) error {
	switch role {
	case "play-fill":
		return playFill(args)
	case "play-append":
		return playAppend(args)
	case "play-watch":
		return playWatch(args[0])
	case "play-peak":
		return playPeak(args)
	}
	return errors.New("unknown role " + role)
}

func openTopic(root, name string, config map[string]string) (*engine.Writer, error) {
	r, err := engine.Create(root, engine.Options{})
	if err != nil {
		return nil, err
	}
	t, err := r.Topic(name)
	if errors.Is(err, engine.ErrUnknownTopic) {
		t, err = r.CreateTopic(context.Background(), name, engine.TopicSpec{Partitions: 1, Config: config})
		if errors.Is(err, engine.ErrTopicExists) {
			t, err = r.Topic(name)
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := t.Partition(0)
	if err != nil {
		return nil, err
	}
	return p.OpenWriter(engine.WriterOptions{LockTimeout: -1})
}

func encode(dst []byte, ts int64, value string) []byte {
	var b segments.Builder
	b.Start(dst[:0], segments.BatchOptions{})
	b.AppendValue(ts, []byte(value))
	raw, _ := b.Finish() // a value of a few bytes fits
	return raw
}

// playFill makes a topic of n segments, a record each.
func playFill(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	w, err := openTopic(args[0], args[1], map[string]string{"segment.bytes": "14"})
	if err != nil {
		return err
	}
	defer w.Close()
	var raw []byte
	for i := range n {
		raw = encode(raw, fillTime+int64(i), "record "+strconv.Itoa(i))
		if _, err := w.Append(context.Background(), raw); err != nil {
			return err
		}
	}
	return nil
}

// playAppend appends single records for a time and prints how many it could. The
// third argument is the time, the fourth "sync" or "never".
func playAppend(args []string) error {
	for_, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	w, err := openTopic(args[0], args[1], nil)
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Println("ready")
	if _, err := io.ReadAll(os.Stdin); err != nil { // all begin when the parent closes it
		return err
	}
	value := strings.Repeat("x", 100)
	var raw []byte
	n := 0
	for end := time.Now().Add(for_); time.Now().Before(end); n++ {
		raw = encode(raw, time.Now().UnixMilli(), value)
		if _, err := w.Append(context.Background(), raw); err != nil {
			return err
		}
		if args[3] == "sync" {
			if err := w.Sync(context.Background()); err != nil {
				return err
			}
		}
	}
	fmt.Println(n)
	return nil
}

// playWatch prints a file as it grows, woken by inotify alone.
func playWatch(name string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.Add(name); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	fmt.Println("ready")
	for {
		for {
			n, err := f.Read(buf)
			if n > 0 {
				_, _ = os.Stdout.Write(buf[:n])
			}
			if err != nil {
				break
			}
		}
		if _, ok := <-w.Events; !ok {
			return nil
		}
	}
}
