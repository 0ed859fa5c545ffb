package grid

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unprintable are the runes that change how a terminal, a log or a page shows what stands around them, or that nobody
// sees: controls C0 [1] and C1, bidirectional controls [2], line and paragraph separators, all format characters
// (category Cf), and what is shown as nothing or as a space and is none: joiners, fillers, variation selectors [3]. The
// table is written out and does not follow the Unicode version of a Go release, so that nodes of different builds agree
// about it.
//
//	[1] ECMA-48, 5.3; C1 in UTF-8 is U+0080 to U+009F, and a terminal takes U+009B as the beginning of a sequence.
//	[2] Unicode Standard Annex 9, table 4: Bidi_Control.
//	[3] Unicode Character Database, DerivedCoreProperties: Default_Ignorable_Code_Point.
var unprintable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0000, Hi: 0x001f, Stride: 1},
		{Lo: 0x007f, Hi: 0x009f, Stride: 1},
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1},
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x0600, Hi: 0x0605, Stride: 1},
		{Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x06dd, Hi: 0x06dd, Stride: 1},
		{Lo: 0x070f, Hi: 0x070f, Stride: 1},
		{Lo: 0x0890, Hi: 0x0891, Stride: 1},
		{Lo: 0x08e2, Hi: 0x08e2, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
		{Lo: 0xfffe, Hi: 0xffff, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x110bd, Hi: 0x110bd, Stride: 1},
		{Lo: 0x110cd, Hi: 0x110cd, Stride: 1},
		{Lo: 0x13430, Hi: 0x1343f, Stride: 1},
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe01ef, Stride: 1},
	},
	LatinOffset: 3,
}

// Printable reports whether a text can be shown to people as it is: UTF-8 without runes that nobody sees or that change
// how others are shown. Names, classes, labels, paths, reasons and errors are.
func Printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == 0x7f {
			return false
		} else if c >= utf8.RuneSelf {
			return utf8.ValidString(s[i:]) && strings.IndexFunc(s[i:], hidden) < 0
		}
	}
	return true
}

func hidden(r rune) bool { return unicode.Is(unprintable, r) }

// Clean makes a text printable and cuts it to most bytes, between two runes. White space becomes a space, all else that
// is not printable a question mark. The result is never longer than the text, and a printable text within the bound
// stays as it is.
func Clean(s string, most int) string {
	if len(s) <= most && Printable(s) {
		return s
	}
	s = strings.ToValidUTF8(s[:min(len(s), 4*most)], "?") // a rune has at most 4 bytes and leaves at least one
	s = strings.Map(func(r rune) rune {
		switch {
		case !hidden(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '?'
	}, s)
	cut := min(len(s), most)
	for cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
