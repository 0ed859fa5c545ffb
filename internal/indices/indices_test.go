package indices

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (s Set) numbers() (out []uint32) {
	for i := range s.Len() {
		out = append(out, s.At(i))
	}
	return out
}

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		numbers []uint32
		as      string
	}{
		"7":                       {[]uint32{7}, "7"},
		"0-3":                     {[]uint32{0, 1, 2, 3}, "0-3"},
		"20-25:2":                 {[]uint32{20, 22, 24}, "20-24:2"},
		"8,0-4:2,1":               {[]uint32{8, 0, 2, 4, 1}, "8,0-4:2,1"},
		"5-5:9":                   {[]uint32{5}, "5"},
		"0-4:2,1-5:2":             {[]uint32{0, 2, 4, 1, 3, 5}, "0-4:2,1-5:2"},
		"4294967295":              {[]uint32{4294967295}, "4294967295"},
		"007":                     {[]uint32{7}, "7"},
		"4294967290-4294967295:5": {[]uint32{4294967290, 4294967295}, "4294967290-4294967295:5"},
	} {
		s, err := Parse(text, 100)
		if err != nil || !slices.Equal(s.numbers(), want.numbers) || s.String() != want.as || s.Check(100) != nil {
			t.Errorf("%s: %v (%v), %q, %v: want %v", text, s.numbers(), s, s, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "is empty", "a": `"a": want a number`, "-3": "want a number", "3-": "want a number", "+3": "want a number",
		"1 ": "want a number", "1,,2": `"": want a number`, "4294967296": "of 0 to 4294967295",
		"3-1": "the smaller number first", "1-3:0": "has step 0", "5:2": "a step without a range",
		"0-99": `"0-99": 100 numbers: want at most 50`, "1-9:2,3": "3 is in it twice", "0-9,9-20:3": "9 is in it twice",
		"0-4294967295":                  "4294967296 numbers: want at most 50",
		strings.Repeat("1,", 256) + "1": "257 numbers and ranges: want at most 256",
	} {
		if s, err := Parse(text, 50); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, %v: want %q", text, s, err, want)
		}
	}
}

// What a peer sends is checked before it is used.
func TestCheck(t *testing.T) {
	for _, s := range []Set{{{0, 9, 0}}, {{9, 0, 1}}, {{0, 9, 2}}, {{0, 50, 1}}, {{0, 40, 1}, {0, 40, 1}},
		make(Set, MaxRanges+1)} {
		if err := s.Check(50); err == nil {
			t.Errorf("%v passed", s)
		}
	}
}

// A set has the numbers that its ranges name, one by one, and reads what it prints.
func TestSetsAgainstLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		list := map[uint32]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			r := Range{First: rapid.Uint32Range(0, 30).Draw(t, "first"), Step: rapid.Uint32Range(1, 5).Draw(t, "step")}
			r.Last = r.First + r.Step*rapid.Uint32Range(0, 6).Draw(t, "steps")
			s = append(s, r)
		}
		twice := false
		for _, r := range s {
			for n := r.First; n <= r.Last; n += r.Step {
				twice = twice || list[n]
				list[n] = true
			}
		}
		again, err := Parse(s.String(), 1000)
		if twice != (err != nil) {
			t.Fatalf("%v: %v: twice is %v", s, err, twice)
		}
		for n := range uint32(70) {
			if s.Contains(n) != list[n] {
				t.Errorf("%v: contains %d is %v", s, n, s.Contains(n))
			}
		}
		if err == nil && (!slices.Equal(again.numbers(), s.numbers()) || s.Len() != len(list)) {
			t.Errorf("%v was read as %v", s, again)
		}
	})
}

// Numbers next to each other become one range.
func TestOf(t *testing.T) {
	for want, numbers := range map[string][]uint32{"": nil, "7": {7}, "0-2": {0, 1, 2}, "0,2,4-5": {0, 2, 4, 5},
		"4294967294-4294967295": {4294967294, 4294967295}} {
		if s := Of(numbers); s.String() != want || !slices.Equal(s.numbers(), numbers) {
			t.Errorf("%v: %q, want %q", numbers, s, want)
		}
	}
}
