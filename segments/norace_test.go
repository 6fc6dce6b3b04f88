//go:build !race

package segments_test

// raceDetector: this binary counts more allocations than the program makes.
const raceDetector = false
