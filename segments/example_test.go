package segments_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/klog-project/klog/segments"
)

// Reading the records of one partition's directory, whoever wrote it.
func ExampleOpenLog() {
	tmp, err := os.MkdirTemp("", "klog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{})
	b.AppendValue(1764547200000, []byte("one"))
	b.AppendValue(1764547200000, []byte("two"))
	batch, err := b.Finish()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tmp, segments.SegmentName(0)+segments.LogSuffix), batch, 0o600); err != nil {
		log.Fatal(err)
	}

	l, err := segments.OpenLog(tmp, segments.LogOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r := l.Reader(l.Start())
	defer r.Close()
	var d segments.Decoder
	var rec segments.Record
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for d.Open(b); d.Next(&rec); {
			fmt.Println(rec.Offset, string(rec.Value))
		}
		if err := d.Err(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 0 one
	// 1 two
}
