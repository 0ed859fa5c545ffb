package wire

import (
	"bytes"
	"testing"

	"skep/grid"
)

// What is wrong about which tasks may have been offered is refused.
func TestOfferedTasksAreChecked(t *testing.T) {
	span := func(numbers ...byte) (b []byte) {
		for _, n := range numbers {
			b = append(b, 0, 0, 0, n)
		}
		return b
	}
	for name, c := range map[string]struct {
		below uint32
		free  []byte
		ok    bool
	}{
		"none":           {0, nil, true},
		"without free":   {64, nil, true},
		"two spans":      {64, span(0, 3, 4, 64), true},
		"half a span":    {64, span(0), false},
		"free of none":   {0, span(0, 1), false},
		"empty":          {64, span(3, 3), false},
		"beyond":         {64, span(3, 65), false},
		"not apart":      {64, span(0, 3, 3, 5), false},
		"not ascending":  {64, span(5, 6, 0, 3), false},
		"too many tasks": {grid.MaxCount + 1, nil, false},
	} {
		o, err := getOffered(c.below, c.free)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v, %v", name, o, err)
		}
		if below, free := putOffered(o); c.ok && (below != c.below || !bytes.Equal(free, c.free)) {
			t.Errorf("%s: %d and %v come back", name, below, free)
		}
	}
}
