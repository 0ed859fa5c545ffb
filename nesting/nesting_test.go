package nesting

import (
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	many := strings.Repeat
	deep := ""
	for k := range 101 {
		deep += many(" ", k) + "a:\n"
	}
	for text, want := range map[string]int{
		"":                 0,
		many("[", 100):     0,
		many("[", 101):     1,
		many("{", 101):     1,
		many("\n[", 101):   102,
		many("{a: ", 51):   1,
		many("[]: ", 1000): 1,
		deep:               101,
		"mu:\n" + many("- [1, 2, {a: b}]\n", 1000):         0,
		"alpha: [" + many("a: 1, ", 1000) + "]":            0,
		"alpha: {" + many("a: [1, {b: 2}],\n", 1000) + "}": 0,
		many(" a:\n", 1000):                                0,
		many("- a: 1\n  bb: - 2\n", 1000):                  0,
		many("a:\n- b: 1\nccc:\n  - - d\n", 1000):          0,
		many("---\na:\n  b: 1\n", 1000):                    0,
		"name: x\n" + many("- ", 101):                      2,
		"name: x\n" + many("? ", 101):                      2,
		"name: " + many("a: ", 101):                        1,
		// What is no bracket counts for nothing, and lets nothing through.
		"# " + many("a: - [ ", 1000):                   0,
		"a: [1] # " + many("[", 101):                   0,
		"# [\n" + many("- ", 50_000):                   2,
		"x: \"[\"\n" + many("- ", 50_000):              2,
		"x: '['\n" + many("- ", 50_000):                2,
		"x: [\n" + many("- ", 50_000):                  2,
		"x: a[b\n" + many("- ", 50_000):                2,
		"x: |\n  [\ny: " + many("- ", 50_000):          3,
		"x: \"" + many("[", 1000) + "\"":               0,
		"x: |\n" + many("  printf '\\033[1m'\n", 1000): 0,
		"x: >-\n" + many("  - a: - [ {\n", 1000):       0,
		"x:\n" + many("- \"\\e[1m- ? a: \"\n", 1000):   0,
		"name: " + many("http://a-b-c:80/?x=- ", 50):   0,
	} {
		if got := Line([]byte(text)); got != want {
			t.Errorf("%.40q: line %d, want %d", text, got, want)
		}
	}
}
