package v1

import (
	"fmt"

	"skep/grid"
)

// Budget is what the attempts of all tasks of a job may use together.
type Budget struct {
	NodeSeconds int64 `json:"node_seconds" doc:"Sum of the times that attempts run, of a gang of all ranks, also of attempts that are lost and of backup attempts; 1 or more. What has not ended when it is used up ends as unaffordable."`
}

// apply writes the budget into a spec; nil is none.
func (b *Budget) apply(g *grid.JobSpec) error {
	if b == nil {
		return nil
	}
	if b.NodeSeconds < 1 || b.NodeSeconds > int64(grid.MaxBudget) {
		return fmt.Errorf("budget.node_seconds %d: want 1 to %d, or no budget", b.NodeSeconds, grid.MaxBudget)
	}
	g.Rules.Budget = grid.Budget(b.NodeSeconds)
	return nil
}

func budgetOf(b grid.Budget) *Budget {
	if !b.Some() {
		return nil
	}
	return &Budget{NodeSeconds: int64(b)}
}
