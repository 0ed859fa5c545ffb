package contract

import (
	"fmt"
	"math"
	"slices"
	"time"

	"skep/grid"
	"skep/node/gangs"
	"skep/node/schedule"
)

// Situation is what is known of a gang that breaks its contract, and of the nodes. Slots that it holds count as free.
type Situation struct {
	Spec   *grid.JobSpec
	Size   gangs.Size
	Nodes  []grid.GangNode
	Rooms  []int            // ranks for which each has slots
	Layout []grid.RankPlace // of the attempt that runs; nil = it is not known
	Step   uint64           // of the checkpoint that a restart begins from, whoever owns the job; 0 = there is none
	Moves  uint32           // made so far

	// Pays reports whether the job's budget pays for so many ranks that each run for so many seconds more, in the place of
	// those that run; nil = it has none. It is asked only about a move that takes more node-seconds than to stay.
	Pays func(ranks uint32, seconds float64) bool
}

// Verdict is whether a gang moves.
type Verdict struct {
	Choice gangs.Choice // to which it moves; without places it stays
	Text   string       // why
	News   bool         // the reason is another than the last time
}

// reason is why a gang stays.
type reason uint8

const (
	none reason = iota
	once
	unknown
	used
	endless
	unsaved
	unplaced
	noGain
	notWorth
	unpaid
)

// restartTime is what a restart takes beside the ranks' own start: their grace after they are told to end, and the
// questions for slots.
const restartTime = 5 * time.Second

// leastGain is the part by which iterations have to become shorter. Speeds are measured and move by some percent by
// themselves: lower ones make moves of that, higher ones leave a gang where it is a little slow.
const leastGain = 0.1

// unsavedPause is how long no schedule is looked for after no checkpoint was kept. A gang that writes one soon after
// the other has some that fewer than a majority of the members keep for much of the time. With the pauses of a gang
// that has nothing to gain, which are doubled, it would hardly ever be seen with one that is kept.
const unsavedPause = time.Second

// Weigh decides whether a gang that breaks its contract moves.
func (c *Contract) Weigh(now grid.Time, at *Situation) Verdict {
	slow := c.window.iteration()
	v := Verdict{Text: fmt.Sprintf("broke its contract: %.3g s an iteration, where %.3g are expected and %.3g allowed; ",
		slow, c.promised, c.allowed)}
	stays, why := c.mayNot(at)
	var there, saves, costs float64
	if stays == none {
		v.Choice, there, why = c.better(slow, at)
		saves, costs = c.balance(slow, there, at.Step)
		switch {
		case v.Choice.Places == nil:
			stays, why = unplaced, "no schedule was found: "+why
		case !(there <= (1-leastGain)*slow):
			v.Choice, stays = gangs.Choice{}, noGain
			why = fmt.Sprintf("in the best schedule now an iteration is expected to take %.3g s, and a move has to save %.2g s "+
				"of it", there, leastGain*slow)
		case !(saves > costs):
			v.Choice, stays = gangs.Choice{}, notWorth
			why = fmt.Sprintf("the best schedule now saves %.3g s and costs %.3g", max(saves, 0), costs)
		case at.Pays != nil && c.dearer(v.Choice.Ranks(), there, costs, slow, at.Layout) &&
			!at.Pays(v.Choice.Ranks(), c.toDo()*there+costs):
			why = fmt.Sprintf("its budget does not pay for %d ranks of another %.3g s", v.Choice.Ranks(), c.toDo()*there+costs)
			v.Choice, stays = gangs.Choice{}, unpaid
		}
	}
	if stays == none {
		v.Text += fmt.Sprintf("moves to a better schedule and goes on from checkpoint %d: saves %.3g s and costs %.3g",
			at.Step, saves, costs)
		v.News = true
		return v
	}
	v.Text += "stays: " + why
	v.News = stays != c.stays
	c.stays = stays
	if stays == unsaved { // as a rule the newest one is on its way to the members
		c.look = now.Add(unsavedPause)
	} else {
		c.rest(now)
	}
	return v
}

// mayNot says why the gang cannot move at all.
func (c *Contract) mayNot(at *Situation) (reason, string) {
	switch {
	case at.Spec.Retries == 0:
		return once, "with retries 0 nothing runs again"
	case at.Moves >= c.terms.Moves && at.Spec.CountsMoves():
		return used, fmt.Sprintf("it has moved %d times, as often as it may", at.Moves)
	case at.Moves >= c.terms.Moves:
		return used, fmt.Sprintf("as far as is known here it has moved %d times, as often as it may", c.terms.Moves)
	case at.Layout == nil:
		return unknown, "which shares its ranks have is not known here"
	case c.window.said.Total <= 0:
		return endless, "its progress does not say how many iterations there are"
	case at.Step == 0:
		return unsaved, "no checkpoint is kept by most members of the job"
	}
	return none, ""
}

// better searches for the best schedule now, and returns what an iteration of it is expected to take, seconds.
func (c *Contract) better(slow float64, at *Situation) (best gangs.Choice, there float64, why string) {
	search, err := schedule.New(at.Spec.Gang.Search)
	if err != nil {
		return best, 0, err.Error()
	}
	nodes := withoutOwnTraffic(at.Nodes, at.Layout)
	best = search.Choose(at.Size, nodes, at.Rooms)
	if best.Places == nil {
		return best, 0, best.Why
	}
	here := search.Predict(at.Layout, nodes, at.Rooms)
	if math.IsInf(here, 1) {
		return gangs.Choice{}, 0, "a node of it is not known now"
	}
	return best, slow * best.Time / here, ""
}

// withoutOwnTraffic returns the nodes with what is assumed of a link in place of a lower measured bandwidth where the
// gang has ranks: what they send lowers it, and a move would only take that to other nodes.
func withoutOwnTraffic(nodes []grid.GangNode, layout []grid.RankPlace) []grid.GangNode {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		own := slices.ContainsFunc(layout, func(p grid.RankPlace) bool { return p.Node == n.Node })
		if own && n.Link.Rate < schedule.Assumed(n.RTT.Seconds()/2) {
			n.Link = grid.Bandwidth{}
		}
	}
	return nodes
}

// toDo is how many iterations are left.
func (c *Contract) toDo() float64 { return c.window.said.Total - c.window.said.Done }

// balance returns what a move to a schedule with such iterations saves and costs, seconds.
func (c *Contract) balance(slow, there float64, step uint64) (saves, costs float64) {
	saves = c.toDo() * (slow - there)
	costs = (c.startup + restartTime).Seconds() + max(c.window.said.Done-float64(step), 0)*there
	return saves, costs
}

// dearer reports whether so many ranks take more node-seconds after a move than those of a layout do if the gang stays.
func (c *Contract) dearer(ranks uint32, there, costs, slow float64, layout []grid.RankPlace) bool {
	now := uint32(0)
	for _, p := range layout {
		now += p.Ranks
	}
	return float64(ranks)*(c.toDo()*there+costs) > float64(now)*c.toDo()*slow
}
