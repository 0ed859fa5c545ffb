package v1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skep/grid"
)

// Needs are what a task requires of a node.
type Needs struct {
	Cores  float64             `json:"cpus,omitempty" doc:"Cores; 1 if left out."`
	Memory int64               `json:"memory_bytes,omitempty" doc:"Memory reserved and enforced; 0 reserves none."`
	Labels map[string][]string `json:"labels,omitempty" doc:"Each label must have one of its values."`

	Resources map[string]int64 `json:"resources,omitempty" doc:"Units of counted resources that a task has for itself, as gpu: 1, by kind."`
	Where     string           `json:"where,omitempty" doc:"Expression that must hold of the node, as in node.memory > 64 && node.labels.os == 'linux'."`
	Pin       bool             `json:"pin,omitempty" doc:"Each task runs on processors of its own, as many as cpus, which must be whole."`
}

// Resource is a counted resource of a node.
type Resource struct {
	Total int64   `json:"total"`
	Free  int64   `json:"free"`
	Wait  float64 `json:"wait_seconds" doc:"Expected time until a task that came now and needs one of them would start."`
}

// ResourcesOf returns what an ad says of counted resources; nil if it has none.
func ResourcesOf(ad *grid.Ad) map[string]Resource {
	var m map[string]Resource
	for kind, n := range ad.Capacity.Counts.All() {
		if m == nil {
			m = map[string]Resource{}
		}
		m[kind] = Resource{Total: n, Free: ad.Free.Counts.Of(kind), Wait: float64(ad.Waits.Of(kind))}
	}
	return m
}

// counts sets the need of counted resources and of processors, and of a node that knows them.
func (n *Needs) counts(g *grid.Needs) error {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(n.Resources)) {
		parts = append(parts, fmt.Sprintf("%s=%d", kind, n.Resources[kind]))
	}
	c, err := grid.ParseCounts(strings.Join(parts, ","))
	if err != nil {
		return fmt.Errorf("needs.resources %w", err)
	}
	if g.Counts = c; c != "" {
		g.AddFeature(grid.ResourceLabel)
	}
	if g.Pin = n.Pin; n.Pin {
		g.AddFeature(grid.PinLabel)
	}
	return nil
}

// setCounts is the inverse of counts, but for the labels.
func (n *Needs) setCounts(g *grid.Needs) {
	for kind, units := range g.Counts.All() {
		if n.Resources == nil {
			n.Resources = map[string]int64{}
		}
		n.Resources[kind] = units
	}
	n.Pin = g.Pin
}

// implied reports whether a label is needed because of something else in the spec.
func (s *Spec) implied(key string, g *grid.JobSpec) bool {
	switch key {
	case grid.ArrayLabel:
		return g.NeedsArrays()
	case grid.StdinLabel:
		return s.Stdin != nil
	case grid.ResourceLabel:
		return g.Needs.Counts != "" || slices.ContainsFunc(g.Needs.Options,
			func(o grid.Option) bool { return o.Counts != "" })
	case grid.OptionLabel:
		return len(g.Needs.Options) > 0
	case grid.OuterLabel:
		return g.Outer.Some()
	case grid.PinLabel:
		return g.Needs.Pin
	case grid.SignedLabel:
		return g.Signed
	case grid.SecretLabel:
		return len(g.Secrets) > 0
	case grid.RequirementLabel:
		return g.Needs.Where != nil
	case grid.JobInputsLabel:
		return len(g.After.Inputs) > 0
	case grid.TerminalLabel:
		return g.Terminal.On
	case grid.GangSizeLabel:
		return g.Gang.Sized()
	case grid.GangNetworkLabel, grid.GangPortsLabel:
		return g.Network == grid.NetworkGang && key == g.Gang.Ports.NetworkLabel()
	case grid.WorkdirNeed, grid.HomeNeed:
		return g.Folders != nil
	}
	return false
}
