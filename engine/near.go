package engine

// Nearest returns the candidate most like name, "" where none is like it: more than a
// third of the letters would have to change. It is for the hint of an error.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if len(c)-len(name) >= bestDistance || len(name)-len(c) >= bestDistance {
			continue
		}
		if d := distance(name, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their neighbour that
// turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
