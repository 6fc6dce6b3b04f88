package segments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
	"github.com/klog-project/klog/segments/segmentstest"
)

func TestProperties(t *testing.T) {
	const text = "# a comment \\\nnode.id = 1\n  spaced : v w \n!other\ncolon:x=y\nbare\n" +
		"long=one\\\n   two\\\n three\nesc\\=aped\\ key=\\u00e9\\t\\\\z\nnode.id=2\r\n\n"
	p := segments.ParseProperties([]byte(text))
	for key, want := range map[string]string{
		"node.id": "2", "spaced": "v w ", "colon": "x=y", "bare": "", "long": "onetwothree", "esc=aped key": "é\t\\z",
	} {
		if got, ok := p.Get(key); !ok || got != want {
			t.Errorf("%s: got %q %v, want %q", key, got, ok, want)
		}
	}
	if _, ok := p.Get("other"); ok {
		t.Error("a comment was read as a key")
	}
	if got := string(p.Encode()); got != text {
		t.Errorf("unchanged it is\n%q, was\n%q", got, text)
	}
	if d := cmp.Diff([]string{"node.id", "spaced", "colon", "bare", "long", "esc=aped key"}, p.Keys()); d != "" {
		t.Error(d)
	}
}

func TestPropertiesSet(t *testing.T) {
	p := segments.ParseProperties([]byte("#\nversion=1\nunknown.thing=keep\nnode.id=1\nnode.id=2"))
	p.Set("node.id", "7")
	p.Set("directory.id", "abc")
	p.Delete("version")
	want := "#\nunknown.thing=keep\nnode.id=7\ndirectory.id=abc\n"
	if got := string(p.Encode()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range []string{"", " lead", "trail ", "a=b:c#d!e", "tab\tnl\ncr\r", `back\slash`, "é😀", "\x00\x7f"} {
		var q segments.Properties
		q.Set(s+"k", s)
		back := segments.ParseProperties(q.Encode())
		if got, ok := back.Get(s + "k"); !ok || got != s {
			t.Errorf("%q: got %q %v back from %q", s, got, ok, q.Encode())
		}
	}
}

func TestMetaPropertiesOfABroker(t *testing.T) {
	data := segmentstest.File(t, "broker-4.3.1/clean/meta.properties")
	p := segments.ParseProperties(data)
	if string(p.Encode()) != string(data) {
		t.Errorf("unchanged it is %q, was %q", p.Encode(), data)
	}
	if id, ok := p.Get("node.id"); !ok || id != "1" {
		t.Errorf("node.id: got %q %v", id, ok)
	}
}
