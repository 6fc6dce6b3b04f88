package segmentstest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klog-project/klog/segments/segmentstest"
)

func TestVectorsNameFiles(t *testing.T) {
	index := segmentstest.Vectors(t)
	for _, g := range index.Good {
		if len(segmentstest.File(t, g.File)) == 0 {
			t.Errorf("%s is empty", g.File)
		}
	}
	for _, c := range index.Corrupt {
		segmentstest.File(t, c.File)
	}
	for _, c := range index.CodecEdge {
		segmentstest.File(t, c.File)
	}
}

func TestDirUnpacksFiles(t *testing.T) {
	for dir, file := range map[string]string{
		"dirs/orders-0":      "00000000000000000031.index",
		"broker-4.3.1/clean": "txn-0/00000000000000000000.txnindex",
		"good":               "single.franz.log",
	} {
		p := segmentstest.Dir(t, dir)
		if filepath.Base(p) != filepath.Base(dir) {
			t.Errorf("%s unpacked as %s", dir, p)
		}
		if _, err := os.Stat(filepath.Join(p, file)); err != nil {
			t.Error(err)
		}
	}
	if got := segmentstest.Files(t, "dirs/txns-0"); len(got) != 6 {
		t.Errorf("files of txns-0: %q", got)
	}
}
