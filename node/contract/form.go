package contract

import (
	"math"

	"skep/grid"
	"skep/node/schedule"
)

// Lacks reports whether the attempt that runs has no contract though the gang may still move, and it is time to form
// one: an earlier run of the owner, or an owner before it, has placed the ranks.
func (c *Contract) Lacks(now grid.Time, moves uint32) bool {
	return c.allowed == 0 && moves < c.terms.Moves && now >= c.look
}

// Form makes the contract of such an attempt. What was promised of it is not known any more: the promise is what the
// best schedule takes by what is known of the nodes now. If they are as they were that is what was promised, or nearly;
// if they are not, it is what the gang could have. The start of the ranks, which a move repeats, is taken for as long
// as the rest of a restart.
func (c *Contract) Form(now grid.Time, at *Situation) {
	if c.look = now.Add(minPause); at.Layout == nil { // until the attempt writes a checkpoint
		return
	}
	c.rest(now)
	search, err := schedule.New(at.Spec.Gang.Search)
	if err != nil {
		return
	}
	here, best := search.Predict(at.Layout, at.Nodes, at.Rooms), search.Choose(at.Size, at.Nodes, at.Rooms)
	if best.Places == nil || math.IsInf(here, 1) {
		return
	}
	c.Promise(min(best.Time, here))
	c.Start(now.Add(-restartTime), c.terms, c.window.slack)
}

// Layout is where ranks are, and their shares of the work, by rank; nil = these are not known.
func Layout(workers []grid.NodeID, shares []uint32) (layout []grid.RankPlace) {
	if len(shares) != len(workers) {
		return nil
	}
	for i, id := range workers {
		if last := len(layout) - 1; last < 0 || layout[last].Node != id {
			layout = append(layout, grid.RankPlace{Node: id})
		}
		p := &layout[len(layout)-1]
		p.Ranks, p.Shares = p.Ranks+1, append(p.Shares, shares[i])
	}
	return layout
}
