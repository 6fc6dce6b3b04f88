package segments_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klog-project/klog/segments"
)

// everyField is a batch with no field of value zero, by the byte table of the format.
// What follows a # is a remark.
const everyField = `
0102030405060708 # base offset
0000007b         # length: 123 bytes follow
11121314         # leader epoch
02               # magic
5366a09f         # CRC-32C of what follows
0078             # attributes: LogAppendTime, transactional, control, delete horizon
00000063         # last offset delta 99
0000018bcfe56800 # base timestamp: the delete horizon 1700000000000
0000018bcfe5dd30 # max timestamp: append time 1700000030000
2122232425262728 # producer id
3132             # producer epoch
41424344         # base sequence
00000002         # records

4a               # record of 37 bytes
00               #   attributes, unused
cf0f             #   timestamp delta -1000
02               #   offset delta 1
06 6b6579        #   key
0a 76616c7565    #   value
08               #   four headers
02 61 02 31      #     a=1
02 61 00         #     a= (empty)
08 6e756c6c 01   #     null is null
0c c3a9c3a9c3a9 02 7e # ééé=~
46               # record of 35 bytes
00               #   attributes
01               #   timestamp delta -1
c401             #   offset delta 98
01               #   null key
32 414141414141414141414141414141414141414141414141 41 # value of 25 bytes
02               #   one header
00 02 7a         #     (empty)=z
`

// fromHex reads hex with spaces, line ends and remarks.
func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		b.WriteString(strings.Join(strings.Fields(line), ""))
	}
	out, err := hex.DecodeString(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryFieldOnDisk(t *testing.T) {
	const horizon = 1700000000000
	var b segments.Builder
	b.Start(nil, segments.BatchOptions{
		ProducerID: 0x2122232425262728, ProducerEpoch: 0x3132, BaseSequence: 0x41424344,
		Transactional: true, Control: true, DeleteHorizon: horizon, LastOffsetDelta: 99,
	})
	b.AppendAt(1, horizon-1000, []byte("key"), []byte("value"), []segments.Header{
		{Key: []byte("a"), Value: []byte("1")},
		{Key: []byte("a"), Value: []byte{}},
		{Key: []byte("null")},
		{Key: []byte("ééé"), Value: []byte("~")},
	})
	b.AppendAt(98, horizon-1, nil, []byte(strings.Repeat("A", 25)), []segments.Header{{Key: []byte{}, Value: []byte("z")}})
	got, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	segments.SetBaseOffset(got, 0x0102030405060708)
	segments.SetLeaderEpoch(got, 0x11121314)
	segments.SetLogAppendTime(got, horizon+30000)

	want := fromHex(t, everyField)
	if diff := cmp.Diff(hex.Dump(want), hex.Dump(got)); diff != "" {
		t.Errorf("bytes (-want +got):\n%s", diff)
	}
	batch, err := segments.ParseBatch(got, 7)
	if err != nil || !batch.CheckCRC() {
		t.Fatalf("ParseBatch: %v, crc %v", err, batch.CheckCRC())
	}
	header := segments.BatchHeader{
		BaseOffset: 0x0102030405060708, Length: 123, LeaderEpoch: 0x11121314, Magic: 2, CRC: batch.CRC,
		Attributes: 0x78, LastOffsetDelta: 99, BaseTimestamp: horizon, MaxTimestamp: horizon + 30000,
		ProducerID: 0x2122232425262728, ProducerEpoch: 0x3132, BaseSequence: 0x41424344, Count: 2,
	}
	if diff := cmp.Diff(header, batch.BatchHeader); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if batch.Position != 7 || batch.LastOffset() != 0x0102030405060708+99 {
		t.Errorf("position %d, last offset %#x", batch.Position, batch.LastOffset())
	}
}
