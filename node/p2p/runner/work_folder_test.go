package runner

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestExpand(t *testing.T) {
	vars := []grid.Var{{Name: "SKEP_INDEX", Value: "7"}, {Name: "SKEP_CLASS", Value: "${SKEP_INDEX}"}}
	for in, want := range map[string]string{
		"plain": "plain", "${SKEP_INDEX}": "7", "a${SKEP_INDEX}b${SKEP_INDEX}": "a7b7", "$SKEP_INDEX": "$SKEP_INDEX",
		"${SKEP_NONE}": "${SKEP_NONE}", "${SKEP_INDEX": "${SKEP_INDEX", "${SKEP_CLASS}": "${SKEP_INDEX}",
		"${HOME}":               "${HOME}",
		"${SKEP_${SKEP_INDEX}}": "${SKEP_7}",
	} {
		if got, err := grid.Expand(in, vars, 100); got != want || err != nil {
			t.Errorf("Expand(%q) = %q, %v: want %q", in, got, err, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*.csv", "x.csv", true}, {"*.csv", "d/x.csv", false}, {"d/*", "d/x", true},
		{"**/*.csv", "x.csv", true}, {"**/*.csv", "a/b/x.csv", true}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true},
		{"a/**/c", "a/b/d", false}, {"a/**", "a/b/c", true}, {"out", "out/deep/x", true}, {"out", "other/x", false},
		{"a/**/b/**/c", "a/b/x/b/c", true}, {"a/b", "a", false}, {"**", "x/y", true},
	} {
		if got := match(strings.Split(tt.pattern, "/"), strings.Split(tt.name, "/")); got != tt.want {
			t.Errorf("match(%q, %q) = %v: want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
	long := strings.Split(strings.Repeat("**/a/", 200)+"b", "/")
	start := time.Now()
	match(long, strings.Split(strings.Repeat("a/", 500)+"c", "/"))
	if d := time.Since(start); d > time.Second {
		t.Errorf("a nasty pattern took %v", d)
	}
}
