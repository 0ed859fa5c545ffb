package net

import (
	"fmt"
	"strings"

	"skep/document"
	"skep/grid"
)

// counts parses numbers of counted resources by kind.
func (f *scenarioFile) counts(e document.Entry, dst *grid.Counts) {
	var parts []string
	for _, k := range f.Mapping(e.Value, e.Key) {
		f.Number(k, 0, grid.MaxUnits, func(n int64) { parts = append(parts, fmt.Sprintf("%s=%d", k.Key, n)) })
	}
	c, err := grid.ParseCounts(strings.Join(parts, ","))
	if err != nil {
		f.At(e.Value, "%s: %v", e.Key, err)
	}
	*dst = c
}
