package v1

import "skep/grid"

// Outer is where the task of a job comes from that another grid has handed over.
type Outer struct {
	Outer []string `json:"outer,omitempty" doc:"Of a job that a node of another grid hands over for one task there: the names of the networks that it has come through, the first first, at most 8. Its command, environment and patterns of outputs are taken as they are, and its environment may name variables of Skep, which then go before those of this grid."`
}

// apply sets it in a job.
func (o *Outer) apply(g *grid.JobSpec) {
	if g.Outer = o.Outer; g.Outer.Some() {
		g.Needs.AddFeature(grid.OuterLabel)
	}
}
