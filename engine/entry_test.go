package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestPlainEntryIsWhatIsWritten(t *testing.T) {
	for _, configs := range []map[string]string{nil, {"retention.ms": "1"}, {"retention.ms": "1", "cleanup.policy": "compact,delete"}} {
		e := &entry{id: newID(), partitions: 12, configs: configs}
		b, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		plain := plainEntry(b)
		if plain == nil {
			t.Fatalf("not plain: %s", b)
		}
		if plain.id != e.id || plain.partitions != 12 || len(plain.configs) != len(configs) {
			t.Errorf("%s is read as %+v", b, plain)
		}
		if !json.Valid(b) {
			t.Errorf("not JSON: %s", b)
		}
	}
}

func TestEntryThatIsNotPlain(t *testing.T) {
	e := &entry{id: newID(), partitions: 1, configs: map[string]string{"retention.groups": `a"b,ä`}, others: map[string]json.RawMessage{"new": json.RawMessage(`[1]`), "version": json.RawMessage("2")}}
	b, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeEntry(b)
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%s is read as %+v, %v", b, got, err)
	}
	for _, text := range []string{
		"", "{}", "null", "[]", `{"version":1,"topic_id":"x","partitions":1,"configs":{}}`,
		strings.Replace(string(b), `"partitions":1`, `"partitions":0`, 1), strings.Replace(string(b), `"partitions":1`, `"partitions":10001`, 1), string(b[:len(b)-3]),
	} {
		if _, err := decodeEntry([]byte(text)); err == nil {
			t.Errorf("%q is taken for an entry", text)
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add([]byte(`{"version":1,"topic_id":"kfj9rNkhTOCOp3sQBa40zA","partitions":3,"configs":{"a":"b","c":"d"}}` + "\n"))
	f.Add([]byte(`{"version":1,"topic_id":"kfj9rNkhTOCOp3sQBa40zA","partitions":3,"configs":{},"x":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEntry(b)
		if err != nil {
			return
		}
		if plainEntry(b) != nil {
			if _, err := anyEntry(b); err != nil {
				t.Errorf("plain, but no JSON entry: %v", err)
			}
		}
		again, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeEntry(again); err != nil || back.id != e.id || back.partitions != e.partitions || len(back.configs) != len(e.configs) {
			t.Errorf("%q becomes %q, %v", b, again, err)
		}
	})
}
