package grid

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// U+009B and U+202E reached the terminal as part of a name.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "anthill": true, "Zürich 東京　北 ①": true, "naïve e\u0301": true, "a\u00a0b": true, "replaced \ufffd": true,
		"🐝":    true,
		"\x00": false, "a\nb": false, "a\tb": false, "\x1b[2J": false, "\x7f": false, "\u0085": false, "\u009b2J": false,
		"a\u202egpj": false, "\u2066a\u2069": false, "\u200e": false, "\u200f": false, "\u061c": false, "a\u2028b": false,
		"a\u2029b":       false,
		"pass\u00adword": false, "a\u200bb": false, "a\u034fb": false, "\u3164": false, "\u115f": false, "\uffa0": false,
		"a\ufe0f": false, "a\U000e0100": false, "\u0600": false, "\ufeff": false, "\U000e0041": false, "\xff": false,
		"a\xc3": false, "\xed\xa0\x80": false,
	} {
		if Printable(text) != want {
			t.Errorf("%q is printable: %v", text, !want)
		}
	}
}

// Whatever Unicode calls a control, a separator of lines or a format character is refused, and what is seen is not.
func TestNothingHiddenIsPrintable(t *testing.T) {
	nothing := func(r rune) bool { // is shown as nothing, or as a space that is none
		return r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 ||
			unicode.Is(unicode.Variation_Selector, r) && r>>8 != 0x18
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		hides := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || nothing(r)
		if hides && Printable(string(r)) {
			t.Errorf("%U is printable", r)
		}
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs) && !Printable(string(r)) &&
			r != 0xfffc && !nothing(r) {
			t.Errorf("%U is not printable", r)
		}
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"anthill", 7, "anthill"}, {"anthill", 3, "ant"}, {"Zürich", 2, "Z"}, {"Zürich", 3, "Zü"},
		{"a\x00b\n\xff\xfec", 99, "a?b ?c"}, {"\x1b[2J", 99, "?[2J"}, {"\u009b2Jx\u202ey\u2028z", 99, "?2Jx?y z"},
		{"\xff\xff", 1, "?"}, {"", 0, ""},
	} {
		if got := Clean(c.text, c.most); got != c.want {
			t.Errorf("%q, %d bytes: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// A cleaned text is printable, within its bound, no longer than it was, and cleaned once for all.
func TestCleanIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})).Draw(t, "text")
		most := rapid.IntRange(0, 40).Draw(t, "most")
		got := Clean(text, most)
		if !Printable(got) || len(got) > min(most, len(text)) || Clean(got, most) != got {
			t.Fatalf("%q, %d bytes: %q", text, most, got)
		}
		if len(text) <= most && Printable(text) && got != text {
			t.Fatalf("%q has become %q", text, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
	})
}

// What names a job, a class, a label, a node or a file is printable where it comes in.
func TestNamesArePrintable(t *testing.T) {
	const bad = "a\u202eb"
	for field, change := range map[string]func(*JobSpec){
		"name":         func(s *JobSpec) { s.Name = bad },
		"class":        func(s *JobSpec) { s.Class = bad },
		"policy":       func(s *JobSpec) { s.Policy = bad },
		"needs.labels": func(s *JobSpec) { s.Needs.Labels = []LabelNeed{{Key: "zone", Values: []string{bad}}} },
		"inputs":       func(s *JobSpec) { s.Inputs = []File{{Path: bad, Blob: BlobID{1}}} },
		"outputs":      func(s *JobSpec) { s.Outputs = []string{bad} },
	} {
		s := good()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), field) ||
			!strings.Contains(err.Error(), `\u202e`) || !Printable(err.Error()) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for field, change := range map[string]func(*Ad){
		"name":    func(a *Ad) { a.Name = "\u009b2J" },
		"labels":  func(a *Ad) { a.Labels = []Label{{Key: bad}} },
		"engines": func(a *Ad) { a.Engines = []string{bad} },
		"addrs":   func(a *Ad) { a.Addrs = []string{bad} },
		"class":   func(a *Ad) { a.Rates = []Rate{{Class: bad}} },
	} {
		a := Ad{Speed: 1, Capacity: Resources{CPU: CPU}, Free: Resources{CPU: CPU}}
		change(&a)
		if err := a.Check(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s of an ad: %v", field, err)
		}
	}
	s := good()
	s.Command = []string{"/bin/evil\u202e\n"}
	if got := ClassOf(&s); got != "process:evil? " {
		t.Errorf("class %q", got)
	}
}
