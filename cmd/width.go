package cmd

import "unicode"

// wide are the characters that take two columns of a terminal: those that Unicode calls
// wide or fullwidth in East Asian text, emoji among them, in ranges that leave out what
// is rare. It is a table and not a library, because a library's tables are made at
// start-up, for listings and for everything else.
var wide = [...][2]rune{
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2329, 0x232a},
	{0x23e9, 0x23ec},
	{0x25fd, 0x25fe},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x26aa, 0x26ab},
	{0x26bd, 0x26be},
	{0x2753, 0x2757},
	{0x2795, 0x2797},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

// screenWidth is how many columns of a terminal s takes.
func screenWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 { // as good as all there is
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if w[0] <= r && r <= w[1] {
			return 2
		}
	}
	return 1
}
