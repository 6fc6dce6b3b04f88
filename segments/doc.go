// Package segments reads and writes the files of one partition, which are Apache
// Kafka's byte for byte: segments of record batches, their indexes, the checkpoints
// beside them, and the message sets of magic 0 and 1 for reading. It knows no topics,
// takes no locks and never writes to a terminal.
//
// To read a partition directory begin with OpenLog, to read one segment file with
// Scanner, for the records of a batch with Decoder. To write, Builder encodes batches
// that whoever holds the partition's lock appends after SetBaseOffset and
// SetLeaderEpoch; IndexState says which index entries are due.
//
// # Files
//
// A partition's directory holds one set of files for each segment, named by the
// segment's base offset in 20 decimal digits. All integers are big endian and signed,
// but for checksums.
//
//	N.log        record batches, one behind the other, nothing in front or between
//	N.index      offset to position (OffsetEntry)
//	N.timeindex  timestamp to offset (TimeEntry)
//	N.txnindex   transactions aborted in the segment; only if there are any
//	N.snapshot   state of the producers before offset N
//	leader-epoch-checkpoint, partition.metadata   text
//	.klog/       klog's own, which may be lost without losing records
//
// A segment's batches have offsets from its base offset on and below the next
// segment's. Everything but the .log files can be made again from them; a reader
// treats it as a hint.
//
// # Record batch
//
//	 0  int64   base offset
//	 8  int32   length: bytes behind this field; the batch's size less 12
//	12  int32   leader epoch, -1: unknown
//	16  int8    magic, 2
//	17  uint32  CRC-32C of byte 21 to the end
//	21  int16   attributes
//	23  int32   last offset delta
//	27  int64   base timestamp, ms since the epoch, -1: none
//	35  int64   max timestamp
//	43  int64   producer id, -1: none
//	51  int16   producer epoch
//	53  int32   base sequence
//	57  int32   number of records
//	61  ...     the records, or one compressed stream of them all
//
//	attributes  bits 0-2  codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
//	            bit 3     timestamps are the time of append: the max timestamp counts
//	                      for every record, whatever its own delta
//	            bit 4     part of a transaction
//	            bit 5     control batch
//	            bit 6     the base timestamp is a delete horizon, from which compaction
//	                      may drop tombstones; deltas count from it all the same
//
// The CRC leaves out base offset, length, leader epoch and magic. So an appender can
// stamp offset and epoch into a batch that was encoded and checksummed before the
// lock was taken; and so a damaged base offset or magic is found by a strict check of
// the order of offsets alone, never by the CRC.
//
// The last offset of a batch is base offset + last offset delta and the next batch
// begins above it. The number of records says nothing about offsets: compaction takes
// records away and leaves both ends of a batch where they were. An empty batch, left
// behind so, is legal.
//
// # Record
//
//	varint   length: bytes behind this field
//	int8     attributes, 0
//	varlong  timestamp delta
//	varint   offset delta
//	varint   key length, -1: null; key
//	varint   value length, -1: null; value
//	varint   number of headers, each:
//	         varint key length; key
//	         varint value length, -1: null; value
//
// Varints are zigzag numbers in groups of 7 bits, the least significant first, the
// high bit set on all but the last: at most 5 bytes, a varlong at most 10. A writer
// uses the shortest form; overlong ones are read. Null and empty are different, and a
// null value is a tombstone to compaction. Any negative length is read as null, except
// that of a header's key, which cannot be null.
//
// Timestamp and offset are base + delta; a timestamp delta may be negative. Offset
// deltas rise strictly and stay within the last offset delta. The fields fill the
// record's length, the records are as many as the header counts, and no byte is left
// behind them.
//
// # Strictness
//
// The check of the headers (ParseBatch, Scanner) wants: 17 bytes at least; a length
// of at least 14 for magic 0, 22 for magic 1, 49 for magic 2; a magic of 0, 1 or 2;
// the whole batch in the file; a right checksum; a record count and last offset delta
// of at least 0; a base offset in the segment's range and above the last offset
// before. It decodes no record, and neither does recovery: what is wrong inside a
// batch with a right checksum was written so, and cutting it off would not help.
//
// The check of the content is the Decoder's and is made when records are read. It is
// as strict as the paragraph on records, where Kafka's reader lets offset deltas be
// anything. Two exceptions are Kafka's too: a batch that counts 0 records is empty
// whatever its payload, and record attributes are ignored.
//
// # Bounds
//
// No length, count or size in a file is believed before it is compared with what
// remains. Decompressing takes memory for what is there, not for what is announced,
// up to a bound (Decoder.MaxBytes).
package segments
