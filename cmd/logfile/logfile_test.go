package logfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klog-project/klog/cmd/logfile"
)

// write appends text to a file, which is made when it is missing.
func write(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *logfile.Reader {
	t.Helper()
	r, err := logfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// take reads all there is.
func take(t *testing.T, r *logfile.Reader) string {
	t.Helper()
	var all bytes.Buffer
	buf := make([]byte, logfile.Spare+100)
	for {
		b, err := r.Peek(buf)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			return all.String()
		}
		all.Write(b)
		r.Take(b)
	}
}

func want(t *testing.T, r *logfile.Reader, text string) {
	t.Helper()
	if got := take(t, r); got != text {
		t.Errorf("read %q, want %q", got, text)
	}
}

func TestReadsWhatIsAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, path)
	want(t, r, "") // it is not there yet
	write(t, path, "one\n")
	want(t, r, "one\n")
	want(t, r, "")
	write(t, path, strings.Repeat("x", 5000))
	want(t, r, strings.Repeat("x", 5000))
}

func TestPlaceFindsTheFileAgain(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1023, 1024, 1025, 5000} {
		dir := t.TempDir()
		path := filepath.Join(dir, "log")
		text := strings.Repeat("0123456789", 600)[:n]
		write(t, path, text)
		r := open(t, path)
		before, err := r.Peek(make([]byte, logfile.Spare+10000))
		if err != nil {
			t.Fatal(err)
		}
		if after := r.PlaceAfter(before); after.Position != int64(n) {
			t.Errorf("%d bytes: will stand at %v", n, after)
		}
		r.Take(before)
		place := r.Place()
		write(t, path, "more")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		write(t, path, "another file")
		again, err := logfile.Find(path, place)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		defer again.Close()
		want(t, again, "more")
		if again.Place() == place || again.Place().Inode != place.Inode {
			t.Errorf("stands at %v", again.Place())
		}
	}
}

func TestOtherFilesAreNotTakenForIt(t *testing.T) {
	text := strings.Repeat("a line of the log\n", 200)
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
	}{
		{"removed", func(t *testing.T, path string) { os.Remove(path) }},
		{"shorter", func(t *testing.T, path string) { os.Truncate(path, 100) }},
		{"another beginning", func(t *testing.T, path string) { overwrite(t, path, 5) }},
		{"other bytes before the position", func(t *testing.T, path string) { overwrite(t, path, int64(len(text)-3)) }},
		{"written anew", func(t *testing.T, path string) {
			os.Truncate(path, 0)
			write(t, path, strings.Repeat("another line is it\n", 300))
		}},
	} {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, text)
		r := open(t, path)
		take(t, r)
		place := r.Place()
		c.change(t, path)
		var lost *logfile.LostError
		if again, err := logfile.Find(path, place); !errors.As(err, &lost) {
			t.Errorf("%s: found %v, error %v", c.name, again, err)
		}
	}
}

func overwrite(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("#"), at); err != nil {
		t.Fatal(err)
	}
}

func TestTruncationIsNoticed(t *testing.T) {
	text := strings.Repeat("a line of the log\n", 200)
	for _, anew := range []string{"", "short", text[:len(text)-20], strings.Repeat("another line is it\n", 300), "#" + text[1:] + "more"} {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, text)
		r := open(t, path)
		take(t, r)
		os.Truncate(path, 0)
		write(t, path, anew)
		if b, err := r.Peek(make([]byte, 1000)); !errors.Is(err, logfile.ErrTruncated) {
			t.Fatalf("written anew with %.20q: read %q, %v", anew, b, err)
		}
		if err := r.Restart(); err != nil {
			t.Fatal(err)
		}
		want(t, r, anew)
	}
}

func TestRotatedFileIsFinishedFirst(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	write(t, path, "one\n")
	r := open(t, path)
	want(t, r, "one\n")
	finished := func() bool {
		t.Helper()
		ok, err := r.Finished()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if finished() {
		t.Error("finished although nothing happened")
	}
	os.Rename(path, path+".1")
	write(t, path+".1", "two\n")
	if finished() {
		t.Error("finished although nothing is at the path")
	}
	want(t, r, "two\n")
	write(t, path, "")
	if finished() {
		t.Error("finished although the new file is empty: the writer still has the old one")
	}
	write(t, path+".1", "three\nhalf")
	write(t, path, "four\n")
	for end := time.Now().Add(10 * time.Second); !finished(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never finished")
		}
		if got := take(t, r); got != "" && got != "three\nhalf" {
			t.Fatalf("read %q", got)
		}
	}
	want(t, r, "")
	if err := r.Next(); err != nil {
		t.Fatal(err)
	}
	want(t, r, "four\n")
}

func TestWaitIsToldOfChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, path)
	var w logfile.Waiter
	defer w.Close()
	for i := range 5 {
		write(t, path, fmt.Sprint(i))
		for end := time.Now().Add(10 * time.Second); ; w.Wait(t.Context(), r) {
			if got := take(t, r); got == fmt.Sprint(i) {
				break
			}
			if time.Now().After(end) {
				t.Fatal("not told")
			}
		}
	}
}

// backdate lets a file look as if nothing had been written to it for an hour.
func backdate(t *testing.T, name string, ago time.Duration) {
	t.Helper()
	then := time.Now().Add(-ago)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatWereRotatedInBetween(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path+".9", "from before\n")
	backdate(t, path+".9", 5*time.Hour)
	write(t, path, "one\n")
	r := open(t, path)
	want(t, r, "one\n")
	for i, text := range []string{"two\n", "three\n"} {
		name := fmt.Sprint(path, ".", i+1)
		os.Rename(path, name)
		backdate(t, name, time.Duration(4-i)*time.Hour)
		write(t, path, text)
	}
	copyOf, _ := os.ReadFile(path + ".1")
	write(t, path+".bak", string(copyOf))
	write(t, path+".2.gz", "compressed")
	write(t, filepath.Join(filepath.Dir(path), "other"), "another log\n")
	for _, text := range []string{"two\n", "three\n"} {
		if ok, err := r.Finished(); !ok || err != nil {
			t.Fatalf("finished %v, %v", ok, err)
		}
		if err := r.Next(); err != nil {
			t.Fatal(err)
		}
		want(t, r, text)
	}
	if ok, err := r.Finished(); ok || err != nil {
		t.Errorf("the last one: finished %v, %v", ok, err)
	}
}
