package reliability

import (
	"fmt"
	"math"

	"skep/balance"
	"skep/balance/utility"
	"skep/grid"
)

// Placed is a task that a worker has, as far as that tells whether a copy of it runs elsewhere.
type Placed struct {
	Heuristic grid.Reliability
	Task      Task
	Worker    grid.NodeID
	Run       Run // of its present attempt; Seconds 0 = it is not known how long one takes
}

// Risk is the probability that a node loses an attempt within so many seconds.
type Risk func(id grid.NodeID, seconds float64) float64

// Copy decides whether a copy of the task runs at one of the nodes that are idle, and at which. node is nil if none
// does. Where it is not known how long a run takes a copy only runs if one always does, at the node that would be done
// first. No copy is believed to be done sooner than the run that it is beside: that is what a node says of itself
// before it has shown it, and where a task would be done first is for the policy that placed it.
func (p *Placed) Copy(nodes []balance.State, idle func(*balance.State) bool, risk Risk) (x Choice,
	node *balance.State) {
	var copied Run
	best := math.Inf(-1)
	for k := range nodes {
		s := &nodes[k]
		if s.Node == p.Worker || !idle(s) {
			continue
		}
		seconds := max(s.ECT, p.Run.Seconds)
		r := Run{seconds, risk(s.Node, seconds)}
		if u := p.Task.Utility(p.Heuristic, utility.Replicate, p.Run, &r); u > best || node == nil {
			copied, best, node = r, u, s
		}
	}
	switch {
	case p.Run.Seconds > 0 && node != nil:
		x = p.Task.Choose(p.Heuristic, p.Run, &copied)
	case p.Run.Seconds > 0:
		return p.Task.Choose(p.Heuristic, p.Run, nil), nil
	case p.Heuristic == grid.ReliabilityReplicate && node != nil:
		x.Technique = utility.Replicate
	}
	if x.Technique != utility.Replicate {
		node = nil
	}
	return x, node
}

// MayGain reports whether the task would get a copy at a node that is as fast as its own and loses nothing, and what a
// copy would do there at best.
func (p *Placed) MayGain() (Choice, bool) {
	if p.Run.Seconds == 0 {
		return Choice{}, p.Heuristic == grid.ReliabilityReplicate
	}
	x := p.Task.Choose(p.Heuristic, p.Run, &Run{Seconds: p.Run.Seconds})
	return x, x.Technique == utility.Replicate
}

// Says tells what was decided and by which numbers; idle says whether there was a node for a copy.
func (p *Placed) Says(x Choice, idle bool) string {
	if p.Run.Seconds == 0 {
		return p.Heuristic.String()
	}
	what := "repeated if it is lost"
	switch x.Technique {
	case utility.None:
		what = "not repeated if it is lost, there is no time for it"
	case utility.Replicate:
		what = "a copy beside it"
	}
	text := fmt.Sprintf("%s: %s; %s of such runs are lost there, so %s have a result", p.Heuristic, what, percent(x.Risk),
		percent(x.Success))
	if !idle {
		return text + "; nobody is idle for a copy"
	}
	saves := "nothing"
	if x.Saves > p.Task.Value/1000 {
		saves = number(x.Saves)
	}
	return text + fmt.Sprintf("; a copy saves %s of a worth of %s and takes %s node-seconds", saves, number(p.Task.Value),
		number(x.Takes))
}

// number is a quantity with three digits, and never fewer than it has before the point.
func number(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func percent(p float64) string {
	switch {
	case p > 0.9999:
		return "over 99.99 %"
	case p > 0.99:
		return fmt.Sprintf("%.2f %%", 100*p)
	case p < 0.0001:
		return "under 0.01 %"
	}
	return fmt.Sprintf("%.2g %%", 100*p)
}
