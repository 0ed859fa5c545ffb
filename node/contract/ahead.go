package contract

import (
	"slices"

	"skep/grid"
	"skep/node/gangs"
)

// ahead is the slots that are asked for before a gang which runs gives its own up: at the nodes of its new schedule
// where it has no rank. The gang moves when all of them keep theirs, so it is not without slots then, and a majority of
// the members has recorded the move where they do.
//
//	none → asked: AskAhead → recording: all keep them (Record) → none: Moved
//	asked, recording → none: one does not keep them, it takes too long, or the attempt is over (Stay)
type ahead struct {
	to   gangs.Choice
	ask  grid.Reserve  // without ranks; its round is not 0 while slots are asked for
	of   []gangs.Place // that are asked
	left []grid.NodeID // of these, that have not said to keep them

	records bool // all keep them, and the move is being recorded
}

// AskAhead begins to ask for slots, as ask says, and reports whether there is any to ask for; else the gang can move.
func (c *Contract) AskAhead(to gangs.Choice, holds map[grid.NodeID]grid.Resources, ask *grid.Reserve,
	fx *grid.Effects) bool {
	c.ahead = ahead{to: to, ask: *ask}
	for _, p := range to.Places {
		if _, has := holds[p.Node]; !has {
			c.ahead.of, c.ahead.left = append(c.ahead.of, p), append(c.ahead.left, p.Node)
			c.ahead.send(p.Node, p.Ranks, fx)
		}
	}
	return len(c.ahead.of) > 0
}

func (a *ahead) send(to grid.NodeID, ranks uint32, fx *grid.Effects) {
	q := a.ask
	q.Ranks = ranks
	fx.Send(to, grid.KindReserve).Reserve = &q
}

// AsksAhead is the round in which slots are asked for; 0 = none are.
func (c *Contract) AsksAhead() uint32 { return c.ahead.ask.Round }

// Answers reports whether an answer is one of a node that was asked.
func (c *Contract) Answers(id grid.NodeID, r *grid.Reserve) bool {
	return c.ahead.ask.Round != 0 && r.Round == c.ahead.ask.Round &&
		slices.ContainsFunc(c.ahead.of, func(p gangs.Place) bool { return p.Node == id })
}

// KeptAhead records that a node keeps the slots that it was asked for, and returns where the gang moves to if all do.
func (c *Contract) KeptAhead(id grid.NodeID, r *grid.Reserve) (to gangs.Choice, all bool) {
	a := &c.ahead
	if !slices.ContainsFunc(a.of, func(p gangs.Place) bool { return p.Node == id && p.Ranks == r.Ranks }) {
		return to, false
	}
	a.left = slices.DeleteFunc(a.left, func(x grid.NodeID) bool { return x == id })
	return a.to, len(a.left) == 0
}

// Stay releases what was asked for, if anything was: the gang does not move, and does not look for a better schedule
// for a while.
func (c *Contract) Stay(now grid.Time, fx *grid.Effects) {
	if c.ahead.ask.Round == 0 {
		return
	}
	for _, p := range c.ahead.of {
		c.ahead.send(p.Node, 0, fx)
	}
	c.ahead = ahead{}
	c.rest(now)
}

// rest begins the pause after a search, and a new window.
func (c *Contract) rest(now grid.Time) {
	c.pause = min(max(2*c.pause, minPause), maxPause)
	c.look = now.Add(c.pause)
	c.window.next()
}
