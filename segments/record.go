package segments

// Record is one record as a reader sees it.
//
// Whoever fills a Record says how long its bytes live; Decoder.Next lets them live
// until the next Decoder.Open.
type Record struct {
	Offset        int64
	Timestamp     int64 // ms since the epoch; -1: none
	TimestampType TimestampType
	LeaderEpoch   int32    // epoch of the record's batch; -1: unknown
	Key           []byte   // nil: null, which is not the same as empty
	Value         []byte   // nil: null
	Headers       []Header // in the order they were written; a name may repeat
}

// Header is one header of a record. Names are UTF-8 by convention; bytes that are
// not are kept as they are.
type Header struct {
	Key   []byte
	Value []byte // nil: null
}
