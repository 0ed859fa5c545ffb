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

// load parses {left: 0.5, busy: 30s, free: 2m}.
func (f *scenarioFile) load(e document.Entry, dst *Load) {
	before := f.Invalid()
	for _, k := range f.Mapping(e.Value, "load", "left", "busy", "free") {
		switch k.Key {
		case "left":
			f.real(k, 0.001, 1, &dst.Left)
		case "busy":
			f.span(k, &dst.Busy)
		case "free":
			f.span(k, &dst.Free)
		}
	}
	if f.Invalid() == before && (dst.Left == 0 || dst.Busy <= 0 || dst.Free <= 0) {
		f.At(e.Value, "load: want left, busy and free, as in {left: 0.5, busy: 30s, free: 2m}")
	}
}
