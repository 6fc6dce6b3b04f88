package engine

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// PartitionerKind says how the partition of a record is chosen.
type PartitionerKind int8

// The kinds. Where the key decides and a record has none, the record goes where the
// whole batch goes, as with Sticky.
const (
	// Murmur2 hashes the key as Kafka's Java client does: a key goes to the same
	// partition in both.
	Murmur2 PartitionerKind = iota
	// CRC32 hashes the key as librdkafka's consistent partitioner does, and so kcat.
	CRC32
	// RoundRobin gives each record to the next partition, with a key or without.
	RoundRobin
	// Sticky keeps to one partition until a batch is complete, with a key or without.
	Sticky
)

var partitionerNames = [...]string{"murmur2", "crc32", "round-robin", "sticky"}

// String is the name that ParsePartitioner reads.
func (k PartitionerKind) String() string {
	if k < 0 || int(k) >= len(partitionerNames) {
		return fmt.Sprintf("partitioner %d", int8(k))
	}
	return partitionerNames[k]
}

// ParsePartitioner reads the name of a kind.
func ParsePartitioner(s string) (PartitionerKind, error) {
	for i, n := range partitionerNames {
		if s == n {
			return PartitionerKind(i), nil
		}
	}
	return 0, fmt.Errorf("partitioner %q: want murmur2, crc32, round-robin or sticky", s)
}

// Partitioner chooses partitions for the records of one producer. One goroutine at a
// time may use it; each further one takes a Clone.
type Partitioner struct {
	kind PartitionerKind
	n    uint32
	turn uint32 // the partition of keyless records; for RoundRobin the next one
}

// NewPartitioner chooses among n partitions, of which there must be one at least.
// Records without a key begin at a random one, so that many short-lived producers
// together fill all of them.
func NewPartitioner(kind PartitionerKind, n int) *Partitioner {
	if n < 1 {
		panic(fmt.Sprintf("engine: a partitioner over %d partitions", n))
	}
	return &Partitioner{kind: kind, n: uint32(n), turn: rand.Uint32N(uint32(n))}
}

// Clone is a partitioner of the same kind with turns of its own.
func (p *Partitioner) Clone() *Partitioner { return NewPartitioner(p.kind, int(p.n)) }

// Partition is where a record with that key goes; nil is no key, which differs from
// an empty one.
func (p *Partitioner) Partition(key []byte) int32 {
	switch {
	case p.n == 1:
		return 0
	case p.kind == RoundRobin:
		t := p.turn
		p.Batch()
		return int32(t)
	case key == nil || p.kind == Sticky:
		return int32(p.turn)
	case p.kind == CRC32:
		return int32(crc32.ChecksumIEEE(key) % p.n)
	}
	return int32(murmur2(key) & 0x7fffffff % p.n)
}

// ByKey reports whether a record with that key goes to a partition that depends on
// the key alone.
func (p *Partitioner) ByKey(key []byte) bool {
	return key != nil && (p.kind == Murmur2 || p.kind == CRC32)
}

// Batch says that a batch is complete: records that no key binds go on in the next
// partition.
func (p *Partitioner) Batch() {
	if p.turn++; p.turn >= p.n {
		p.turn = 0
	}
}

// murmur2 is the hash of Kafka's Java client, 32 bits of MurmurHash 2 with its seed.
func murmur2(b []byte) uint32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
	)
	h := seed ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	switch len(b) {
	case 3:
		h ^= uint32(b[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(b[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(b[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
