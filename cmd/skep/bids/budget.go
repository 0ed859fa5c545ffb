package bids

import (
	"fmt"
	"strconv"

	"skep/document"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// parseBudget parses the budget of a job file or a flag, in node-seconds.
func parseBudget(text string) (*v1.Budget, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > int64(grid.MaxBudget) {
		return nil, fmt.Errorf("%.40q: want a whole number of node-seconds from 1 to %d, as in 5000", text, grid.MaxBudget)
	}
	return &v1.Budget{NodeSeconds: n}, nil
}

// ReadBudget reads the budget of a job file: {node_seconds: 5000}. The result is nil if it is not valid.
func ReadBudget(f *document.Reader, e document.Entry) (b *v1.Budget) {
	before := f.Invalid()
	for _, x := range f.Mapping(e.Value, "budget", "node_seconds") {
		x.Key = "budget " + x.Key
		f.Value(x, func(t string) (err error) { b, err = parseBudget(t); return })
	}
	if b == nil && f.Invalid() == before {
		f.At(e.Value, "budget: has no node_seconds: want them, as in {node_seconds: 5000}")
	}
	return b
}
