package runner

import (
	"testing"

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
