package engine_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/klog-project/klog/engine"
	"github.com/klog-project/klog/segments"
)

// exampleDir is a directory for one example.
func exampleDir() (dir string, remove func()) {
	tmp, err := os.MkdirTemp("", "klog")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(tmp, "root"), func() { os.RemoveAll(tmp) }
}

// exampleTopic makes a topic of one partition that holds these values.
func exampleTopic(dir string, values ...string) *engine.Topic {
	ctx := context.Background()
	root, err := engine.Create(dir, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	topic, err := root.CreateTopic(ctx, "orders", engine.TopicSpec{Partitions: 1})
	if err != nil {
		log.Fatal(err)
	}
	appendValues(ctx, topic, values...)
	return topic
}

func appendValues(ctx context.Context, topic *engine.Topic, values ...string) {
	p, err := topic.Partition(0)
	if err != nil {
		log.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	for _, v := range values {
		b.AppendValue(1764547200000, []byte(v))
	}
	batch, err := b.Finish()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := w.Append(ctx, batch); err != nil {
		log.Fatal(err)
	}
}

// Opening a root and reading a partition from an offset on, up to its end.
func ExampleOpen() {
	dir, remove := exampleDir()
	defer remove()
	exampleTopic(dir, "one", "two", "three")

	root, err := engine.Open(dir, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	topic, err := root.Topic("orders")
	if err != nil {
		log.Fatal(err)
	}
	p, err := topic.Partition(0)
	if err != nil {
		log.Fatal(err)
	}
	view, err := p.View(engine.ViewOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := view.Reader(engine.ReaderOptions{From: 1, Until: view.End()})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Offset, string(rec.Value))
	}
	// Output:
	// 1 two
	// 2 three
}

// Appending records: a batch is encoded first, and has its offsets once it is in.
func ExampleWriter() {
	dir, remove := exampleDir()
	defer remove()
	ctx := context.Background()
	root, err := engine.Create(dir, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	topic, err := root.CreateTopic(ctx, "orders", engine.TopicSpec{Partitions: 1})
	if err != nil {
		log.Fatal(err)
	}
	p, err := topic.Partition(0)
	if err != nil {
		log.Fatal(err)
	}
	w, err := p.OpenWriter(engine.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()

	var b segments.Builder
	b.Start(nil, segments.BatchOptions{Codec: segments.Zstd})
	b.Append(1764547200000, []byte("key"), []byte("value"), nil)
	b.Append(1764547200001, nil, []byte("another"), []segments.Header{{Key: []byte("h"), Value: []byte("1")}})
	batch, err := b.Finish()
	if err != nil {
		log.Fatal(err)
	}
	got, err := w.Append(ctx, batch)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Sync(ctx); err != nil { // on disk
		log.Fatal(err)
	}
	fmt.Printf("offsets %d to %d\n", got.First, got.Next-1)
	// Output:
	// offsets 0 to 1
}

// Following a topic: what is there, then what arrives, in that order.
func ExampleFollower() {
	dir, remove := exampleDir()
	defer remove()
	topic := exampleTopic(dir, "one")

	p, err := topic.Partition(0)
	if err != nil {
		log.Fatal(err)
	}
	r, err := p.Reader(engine.ReaderOptions{From: 0, Until: -1})
	if err != nil {
		log.Fatal(err)
	}
	f := engine.NewFollower([]*engine.Reader{r}, engine.FollowOptions{Topic: topic})
	defer f.Close()
	ctx := context.Background()
	for seen := 0; seen < 2; {
		_, rec, err := f.Next()
		if err == io.EOF { // all is read for now
			if err := f.Wait(ctx); err != nil {
				log.Fatal(err)
			}
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Offset, string(rec.Value))
		if seen++; seen == 1 {
			appendValues(ctx, topic, "two")
		}
	}
	// Output:
	// 0 one
	// 1 two
}
