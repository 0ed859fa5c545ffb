package queueing

import (
	"strings"
	"testing"
)

func TestNested(t *testing.T) {
	for text, want := range map[string]int{
		"":                         0,
		wholeFile:                  0,
		strings.Repeat("[", 100):   0,
		strings.Repeat("[", 101):   1,
		strings.Repeat("\n{", 101): 102,
		"mu:\n" + strings.Repeat("- [1, 2, {a: b}]\n", 1000):   0,
		"alpha: [" + strings.Repeat("a: 1, ", 1000) + "]":      0,
		"# " + strings.Repeat("a: - ", 1000):                   0,
		"a: [1] # " + strings.Repeat("[", 101):                 1, // brackets in comments count, which nobody minds
		"name: x\n" + strings.Repeat("- ", 101):                2,
		strings.Repeat(" a:\n", 1000):                          0,
		"name: " + strings.Repeat("http://a-b-c:80/?x=- ", 50): 0,
	} {
		if got := Nested([]byte(text)); got != want {
			t.Errorf("%.40q: line %d, want %d", text, got, want)
		}
	}
}
