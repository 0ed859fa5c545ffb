package indices

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxRanges bounds the ranges of a set.
const MaxRanges = 256

// Grammar is an example of a set, for messages and help.
const Grammar = "0-9,12,20-30:2"

// Range is First, First+Step, … up to Last, which is one of them. Step is at least 1.
type Range struct{ First, Last, Step uint32 }

func (r Range) size() uint64 { return uint64((r.Last-r.First)/max(r.Step, 1)) + 1 }

// Contains reports whether n is in the range.
func (r Range) Contains(n uint32) bool { return n >= r.First && n <= r.Last && (n-r.First)%r.Step == 0 }

// Set is ranges that have no number in common.
type Set []Range

// Parse parses a set of at most most numbers. Errors name the range and the remedy.
func Parse(text string, most int) (Set, error) {
	if text == "" {
		return nil, errors.New("is empty: want numbers and ranges, as in " + Grammar)
	}
	parts := strings.Split(text, ",")
	if len(parts) > MaxRanges {
		return nil, fmt.Errorf("%d numbers and ranges: want at most %d", len(parts), MaxRanges)
	}
	s := make(Set, len(parts))
	for i, p := range parts {
		r, err := parseRange(p)
		if err != nil {
			return nil, err
		}
		s[i] = r
	}
	if n := s.size(); n > uint64(most) {
		return nil, fmt.Errorf("%.40q: %d numbers: want at most %d", text, n, most)
	}
	for i, r := range s {
		if n, twice := s[:i].overlap(r); twice {
			return nil, fmt.Errorf("%.40q: %d is in it twice: want each number once", text, n)
		}
	}
	return s, nil
}

func parseRange(text string) (r Range, err error) {
	ends, step, stepped := strings.Cut(text, ":")
	first, last, ranged := strings.Cut(ends, "-")
	if !ranged {
		last = first
	}
	if !stepped {
		step = "1"
	}
	if stepped && !ranged {
		return r, fmt.Errorf("%.40q: a step without a range: want FIRST-LAST:STEP, as in 20-30:2", text)
	}
	for i, digits := range [...]string{first, last, step} {
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || digits[0] == '+' {
			return r, fmt.Errorf("%.40q: want a number or FIRST-LAST or FIRST-LAST:STEP, of 0 to %d, as in %s", text,
				uint32(math.MaxUint32), Grammar)
		}
		*[...]*uint32{&r.First, &r.Last, &r.Step}[i] = uint32(n)
	}
	switch {
	case r.Last < r.First:
		return r, fmt.Errorf("%.40q: ends before it begins: want the smaller number first", text)
	case r.Step == 0:
		return r, fmt.Errorf("%.40q: has step 0: want a step of at least 1", text)
	}
	r.Last -= (r.Last - r.First) % r.Step
	return r, nil
}

// overlap returns a number of r that is in the set.
func (s Set) overlap(r Range) (uint32, bool) {
	for _, o := range s {
		if o.Last < r.First || r.Last < o.First {
			continue
		}
		shorter, other := r, o
		if o.size() < r.size() {
			shorter, other = o, r
		}
		for k := range shorter.size() {
			if n := shorter.First + uint32(k)*shorter.Step; other.Contains(n) {
				return n, true
			}
		}
	}
	return 0, false
}

// Check reports what is wrong with a set that came from outside. It takes time linear in the number of ranges, so that
// a number may be in two of them.
func (s Set) Check(most int) error {
	if len(s) > MaxRanges {
		return fmt.Errorf("%d ranges: want at most %d", len(s), MaxRanges)
	}
	for _, r := range s {
		if r.Step == 0 || r.Last < r.First || (r.Last-r.First)%r.Step != 0 {
			return fmt.Errorf("range %d-%d:%d: want FIRST-LAST:STEP whose last number is LAST", r.First, r.Last, r.Step)
		}
	}
	if n := s.size(); n > uint64(most) {
		return fmt.Errorf("%d numbers: want at most %d", n, most)
	}
	return nil
}

func (s Set) size() (n uint64) {
	for _, r := range s {
		n += r.size()
	}
	return n
}

// Len returns how many numbers a checked set has.
func (s Set) Len() int { return int(s.size()) }

// At returns the i-th number in the order as written; it panics beyond the end.
func (s Set) At(i int) uint32 {
	for _, r := range s {
		if uint64(i) < r.size() {
			return r.First + uint32(i)*r.Step
		}
		i -= int(r.size())
	}
	panic("indices: At beyond the end of the set")
}

// Contains reports whether n is in the set.
func (s Set) Contains(n uint32) bool {
	for _, r := range s {
		if r.Contains(n) {
			return true
		}
	}
	return false
}

// Of returns the set of numbers that are sorted and differ. It may have more than MaxRanges ranges.
func Of(numbers []uint32) (s Set) {
	for _, n := range numbers {
		if last := len(s) - 1; last >= 0 && s[last].Last+1 == n {
			s[last].Last = n
			continue
		}
		s = append(s, Range{n, n, 1})
	}
	return s
}

// String returns the set as Parse reads it.
func (s Set) String() string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(r.First), 10))
		if r.Last > r.First {
			fmt.Fprintf(&b, "-%d", r.Last)
			if r.Step > 1 {
				fmt.Fprintf(&b, ":%d", r.Step)
			}
		}
	}
	return b.String()
}
