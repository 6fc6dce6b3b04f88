package value

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Span is a run of partitions, both ends included.
type Span struct{ First, Last int32 }

// Partitions is a set of partitions: runs in rising order that neither overlap nor
// touch. It is empty where no choice was made.
type Partitions []Span

const partitionsForm = "want numbers and ranges, as 0 or 0,3 or 2-5"

// ParsePartitions reads a list of partitions: 0, 0,3, 2-5 or 0,4-6. The order does
// not matter and a partition named twice counts once.
func ParsePartitions(s string) (Partitions, error) {
	var list Partitions
	for part := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(part, "-")
		if !isRange {
			b = a
		}
		first, ok1 := parseNatural(a)
		last, ok2 := parseNatural(b)
		if !ok1 || !ok2 || last > math.MaxInt32 {
			return nil, &Error{"partitions", s, partitionsForm}
		}
		if last < first {
			return nil, &Error{"partitions", s, "the range " + part + " ends before it begins"}
		}
		list = append(list, Span{int32(first), int32(last)})
	}
	return list.merged(), nil
}

// merged sorts the runs and joins those that overlap or touch.
func (p Partitions) merged() Partitions {
	slices.SortFunc(p, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	out := p[:1]
	for _, s := range p[1:] {
		last := &out[len(out)-1]
		if int64(s.First) > int64(last.Last)+1 {
			out = append(out, s)
			continue
		}
		last.Last = max(last.Last, s.Last)
	}
	return out
}

// Has reports whether the set holds partition n.
func (p Partitions) Has(n int32) bool {
	for _, s := range p {
		if s.First <= n && n <= s.Last {
			return true
		}
	}
	return false
}

// Max is the highest partition of the set, -1 of an empty one.
func (p Partitions) Max() int32 {
	if len(p) == 0 {
		return -1
	}
	return p[len(p)-1].Last
}

// All goes through the partitions in rising order. A set may name two thousand
// million of them: whoever walks through it stops at the first that does not exist.
func (p Partitions) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, s := range p {
			for n := int64(s.First); n <= int64(s.Last); n++ {
				if !yield(int32(n)) {
					return
				}
			}
		}
	}
}

// String writes the set as ParsePartitions reads it.
func (p Partitions) String() string {
	var b strings.Builder
	for i, s := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(int64(s.First), 10))
		if s.Last != s.First {
			b.WriteByte('-')
			b.WriteString(strconv.FormatInt(int64(s.Last), 10))
		}
	}
	return b.String()
}
