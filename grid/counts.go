package grid

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Bounds of counted resources.
const (
	MaxKinds = 8    // kinds of a node or of a need
	MaxKind  = 32   // bytes of the name of one
	MaxUnits = 1024 // units of one

	MaxCounts = MaxKinds * (MaxKind + len("=1024,")) // bytes of Counts
)

// KindGPU is the kind of resource that nodes find by themselves.
const KindGPU = "gpu"

// Counts are numbers of units of a few kinds of resource that only whole tasks hold, as "fpga=1,gpu=2": ordered by
// kind, without zeros. It is an immutable value, and "" costs nothing, since most nodes and tasks have none. What a
// subtraction leaves may be negative; what comes from outside must be Valid.
type Counts string

// ParseCounts reads what a person wrote, KIND=N in any order, separated by commas. N is 0 to MaxUnits, and 0 the same
// as nothing.
func ParseCounts(text string) (Counts, error) {
	var b countsBuilder
	if text == "" {
		return "", nil
	}
	parts := strings.Split(text, ",")
	slices.SortFunc(parts, func(x, y string) int {
		x, _, _ = strings.Cut(x, "=")
		y, _, _ = strings.Cut(y, "=")
		return strings.Compare(x, y)
	})
	before := ""
	for _, part := range parts {
		kind, number, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case !ValidKind(kind):
			return "", kindError(kind)
		case err != nil || n < 0 || n > MaxUnits:
			return "", fmt.Errorf("%.80q: want KIND=N with N from 0 to %d, as in gpu=1", part, MaxUnits)
		case kind == before:
			return "", fmt.Errorf("%s: is given twice", kind)
		}
		before = kind
		b.add(kind, n)
	}
	c := b.counts()
	if n := c.Kinds(); n > MaxKinds {
		return "", fmt.Errorf("%d kinds: want at most %d", n, MaxKinds)
	}
	return c, nil
}

// ValidKind reports whether a name may be that of a kind: lower-case letters, digits and underscores, a letter first,
// at most MaxKind bytes, so that a variable of the task's environment can be named by it.
func ValidKind(kind string) bool {
	for i := range len(kind) {
		switch c := kind[i]; {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '_'):
		default:
			return false
		}
	}
	return kind != "" && len(kind) <= MaxKind && kind != "cpu" && kind != "memory"
}

func kindError(kind string) error {
	if kind == "cpu" || kind == "memory" {
		return fmt.Errorf("%s: is no counted resource: want needs.%s, or --%s", kind, kind, kind)
	}
	return fmt.Errorf("%.40q: want a name of at most %d lower-case letters, digits and underscores that begins with a "+
		"letter, as in gpu", kind, MaxKind)
}

// Valid reports whether c is in the form that ParseCounts makes.
func (c Counts) Valid() bool {
	if c == "" {
		return true
	}
	if len(c) > MaxCounts {
		return false
	}
	canonical, err := ParseCounts(string(c))
	return err == nil && canonical == c
}

// All yields the kinds and their numbers, ordered by kind.
func (c Counts) All() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for c != "" {
			var kind string
			var n int64
			if kind, n, c = c.cut(); !yield(kind, n) {
				return
			}
		}
	}
}

// cut returns the first kind, its number and the rest.
func (c Counts) cut() (kind string, n int64, rest Counts) {
	first, more, _ := strings.Cut(string(c), ",")
	kind, number, _ := strings.Cut(first, "=")
	n, _ = strconv.ParseInt(number, 10, 64)
	return kind, n, Counts(more)
}

// Kinds returns the number of kinds.
func (c Counts) Kinds() int {
	if c == "" {
		return 0
	}
	return 1 + strings.Count(string(c), ",")
}

// Of returns the number of a kind.
func (c Counts) Of(kind string) int64 {
	for k, n := range c.All() {
		if k == kind {
			return n
		}
	}
	return 0
}

// Lacks returns the first kind of which need wants more than there is, and both numbers; "" = need can be taken out of
// c.
func (c Counts) Lacks(need Counts) (kind string, want, have int64) {
	if c == need {
		return "", 0, 0
	}
	for k, n := range need.All() {
		if have := c.Of(k); n > have {
			return k, n, have
		}
	}
	return "", 0, 0
}

// Negative reports whether there is less than none of a kind.
func (c Counts) Negative() bool { return strings.Contains(string(c), "-") }

// Fits reports whether need can be taken out of c.
func (c Counts) Fits(need Counts) bool {
	kind, _, _ := c.Lacks(need)
	return kind == ""
}

// plus returns c + sign·d.
func (c Counts) plus(sign int64, d Counts) Counts {
	switch {
	case d == "":
		return c
	case c == "" && sign > 0:
		return d
	case c == d && sign < 0:
		return ""
	}
	var b countsBuilder
	for c != "" || d != "" {
		x, m, c2 := c.cut()
		y, n, d2 := d.cut()
		switch {
		case d == "" || c != "" && x < y:
			b.add(x, m)
			c = c2
		case c == "" || y < x:
			b.add(y, sign*n)
			d = d2
		default:
			b.add(x, m+sign*n)
			c, d = c2, d2
		}
	}
	return b.counts()
}

// CountsOf returns n units of a kind alone.
func CountsOf(kind string, n int64) Counts {
	var b countsBuilder
	b.add(kind, n)
	return b.counts()
}

// countsBuilder joins kinds that come in order.
type countsBuilder []byte

func (b *countsBuilder) add(kind string, n int64) {
	if n == 0 {
		return
	}
	if len(*b) > 0 {
		*b = append(*b, ',')
	}
	*b = strconv.AppendInt(append(append(*b, kind...), '='), n, 10)
}

func (b *countsBuilder) counts() Counts { return Counts(*b) }
