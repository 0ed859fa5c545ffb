package discovery

import (
	"testing"

	"skep/grid"
)

// A node fits a job if it fits one of its options; else it is said what it lacks for each.
func TestNodesFitOneOfTheOptions(t *testing.T) {
	n := grid.Needs{}
	n.SetOptions([]grid.Option{{Resources: grid.Resources{CPU: 8 * grid.CPU}, Speedup: 4, Value: 1},
		{Resources: grid.Resources{CPU: grid.CPU, Counts: "gpu=1"}, Speedup: 1, Value: 1},
		{Resources: grid.Resources{CPU: 2 * grid.CPU}, Speedup: 1, Value: 1,
			Labels: []grid.LabelNeed{{Key: "arch", Values: []string{"arm64"}}}}})
	ad := func(cores grid.MilliCPU, counts grid.Counts, arch string) *grid.Ad {
		return &grid.Ad{Capacity: grid.Resources{CPU: cores * grid.CPU, Counts: counts}, Engines: []string{"process"},
			Labels: append(grid.FeatureLabels(), grid.Label{Key: "arch", Value: arch})}
	}
	for _, c := range []struct {
		ad     *grid.Ad
		why    grid.Why
		detail string
	}{
		{ad(8, "", "amd64"), grid.WhyNone, ""},
		{ad(1, "gpu=1", "amd64"), grid.WhyNone, ""},
		{ad(2, "", "arm64"), grid.WhyNone, ""},
		{ad(4, "", "amd64"), grid.WhyCPU, "option 0 needs 8 cpu, it has 4; option 1 needs 1 gpu, it has none; " +
			"option 2 needs arch=arm64, it has arch=amd64"},
		{&grid.Ad{Capacity: grid.Resources{CPU: 8 * grid.CPU}, Engines: []string{"process"}}, grid.WhyLabel,
			"needs skep.options=1, it has no label skep.options"},
	} {
		if c.detail != "" && c.why == grid.WhyLabel {
			n.Labels = []grid.LabelNeed{grid.FeatureNeed(grid.OptionLabel)}
		}
		if r := Match(&n, "process", c.ad); r.Why != c.why || r.Detail != c.detail || Fit(&n, "process", c.ad) != r.Why {
			t.Errorf("%+v\nwant %v, %s", r, c.why, c.detail)
		}
	}
	other := n
	other.Options = other.Options[:2]
	if canonical(&n, "process") == canonical(&other, "process") {
		t.Error("searches for other options count as the same")
	}
	ok := ad(4, "", "amd64")
	chosen := grid.Needs{Resources: n.Options[2].Resources, Optional: grid.Optional{Options: n.Options, Chosen: 3}}
	if Fit(&chosen, "process", ok) != grid.WhyNone {
		t.Error("of an attempt other options count than its own")
	}
}
