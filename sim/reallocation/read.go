package reallocation

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// Default is what a file leaves out: a random workload on the small grid of [1, section 4.5.1].
func Default() *System {
	return &System{Clusters: []int{4, 8, 16, 32}, Unit: 1e7, Solver: Solver{Beta: 1}, Backfill: "any",
		Data: Data{Gigabyte: 1024, Bandwidth: [2]float64{10, 100}, Size: [2]float64{100, 1000}, Remaining: "computation",
			Counted: "lasted", Head: "first"},
		Workload: Workload{Kind: "random", Tasks: 2000, Widest: 5, Options: 3, Worth: 1.1,
			Trace: Trace{Median: 2000, Sigma: 1.8, Bounds: [2]float64{10, 64_800}, Interval: 1114}}}
}

// Read reads a system from a YAML file; name is the file's, for errors.
func Read(name string, b []byte) (*System, error) {
	s := Default()
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}
