package contract

import (
	"slices"
	"time"

	"skep/grid"
	"skep/node/gangs"
)

// Contract is that of a gang at its owner. The zero value promises nothing, and is never broken.
//
//	Promise: chosen → Start: ranks may start → Note: broken → Weigh: it stays, or Moved → Planned, Promise: chosen → …
type Contract struct {
	promised float64 // seconds of an iteration of the schedule chosen last; 0 = nothing is known
	allowed  float64 // of the attempt that runs; 0 = it has no contract
	terms    grid.Contract
	started  grid.Time
	startup  time.Duration // from the start to the first report; 0 = none has come
	window   window
	look     grid.Time // no search before
	pause    time.Duration
	stays    reason // of the last search; its text was told

	ahead   ahead
	planned gangs.Choice // that the gang moves to
	rounds  int          // that may still try to
}

// Pauses between two searches for a gang that stays, doubled each time. Shorter ones cost the owner tens of
// milliseconds more often; longer ones leave a gang longer where it is slow.
const (
	minPause = 10 * time.Second
	maxPause = 10 * time.Minute
)

// Promise records what is predicted of the schedule that is chosen, seconds an iteration; 0 = nothing.
func (c *Contract) Promise(seconds float64) { c.promised = seconds }

// Start begins the contract of an attempt whose ranks may start now. The slack is the age of a report when it comes,
// at most.
func (c *Contract) Start(now grid.Time, terms grid.Contract, slack time.Duration) {
	*c = Contract{promised: c.promised, allowed: c.promised * (1 + terms.Tolerance), terms: terms, started: now,
		window: window{slack: slack}}
}

// Note takes what a rank has said last of its progress, nil = nothing, and reports whether the contract is broken and
// it is time to weigh a move.
func (c *Contract) Note(now grid.Time, rank uint32, said *grid.Progress) bool {
	if c.allowed == 0 || c.terms.Moves == 0 {
		return false
	}
	first := !c.window.heard
	broken := c.window.note(now, rank, said, c.allowed, c.terms.Window)
	if first && c.window.heard {
		c.startup = now.Sub(c.started)
	}
	if !broken || now < c.look {
		return false
	}
	if now.Sub(c.look) > c.pause { // it was kept meanwhile
		c.pause = 0
		if c.stays != unsaved { // that is looked at often, and told once
			c.stays = none
		}
	}
	return true
}

// Moved records that the gang moves to a schedule. If not all of its workers keep the slots, the next rounds try it
// first.
func (c *Contract) Moved(to gangs.Choice) {
	*c = Contract{promised: to.Time, planned: to, rounds: plannedRounds}
	c.planned.Places = slices.Clone(to.Places)
}

// plannedRounds is how many further rounds try the schedule that a gang moves to: a message may have been lost, or what
// it held is released late.
const plannedRounds = 2

// Planned returns the schedule that the gang moves to; without places it is to be searched for. The plan ends when a
// node of it cannot be asked, or has said to have too few slots.
func (c *Contract) Planned(now grid.Time, g *gangs.Gang, nodes []grid.GangNode) (x gangs.Choice) {
	if c.rounds == 0 {
		return x
	}
	c.rounds--
	x = c.planned
	x.Places = slices.Clone(x.Places) // the round notes in them which answer
	for _, p := range x.Places {
		at := slices.IndexFunc(nodes, func(n grid.GangNode) bool { return n.Node == p.Node })
		if at < 0 || nodes[at].Refuses.Why != grid.WhyNone || !g.Suits(now, p) {
			c.rounds = 0
			return gangs.Choice{}
		}
	}
	return x
}
