//go:build !unix

package segments

const openNonblock = 0
